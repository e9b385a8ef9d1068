/**
 * Lists the counters that one request must fit: its key's limits, its account's limits and balance, its route's
 * limits, and for each attempt those of a channel.
 *
 * The list is made once for each object and kept while the object lives, so that the hot path builds no strings: an
 * unchanged object keeps its identity from one snapshot to the next. Counters are named after kind/namespace/name/limit
 * name, so they outlive the objects (docs/design/limits-and-money.md 6). Pure but for these caches.
 */
import { appliesTo, exactNames, limitsOfKey } from "#proxy/authorize/limit-scope";
import { GatewayError } from "#proxy/errors";
import type { Account, Channel, Key, Limit, Route } from "#proxy/snapshot/types.gen";
import type { BalanceClaim, ConcurrencyClaim, LimitClaim } from "./ledger.ts";

/** Spread into a `ReserveRequest`. */
export interface Claims {
  readonly limits: readonly LimitClaim[];
  readonly balances: readonly BalanceClaim[];
  readonly concurrency: readonly ConcurrencyClaim[];
}

interface CachedClaims {
  readonly account: Account | undefined;
  readonly claims: Claims;
}

const callerClaims = new WeakMap<Key, WeakMap<Route, CachedClaims>>();
const limitClaims = new WeakMap<readonly Limit[], Map<string, readonly LimitClaim[]>>();
const balanceClaims = new WeakMap<Account, readonly BalanceClaim[]>();
const concurrencyClaims = new WeakMap<Key | Channel, readonly ConcurrencyClaim[]>();
const none: readonly never[] = [];
/** Owners of one list of limits whose claims are kept. */
const ownersMax = 20_000;

/**
 * Claims of one call on its key, its account and its route.
 *
 * @param account the key's account; undefined when the key names none
 * @param model public name as the client wrote it
 * @throws GatewayError `account_required` when the key names an account that is not there: nobody would bound its spend
 */
export function claimsOf(key: Key, account: Account | undefined, route: Route, model: string): Claims {
  let routes = callerClaims.get(key);
  if (routes === undefined) {
    routes = new WeakMap();
    callerClaims.set(key, routes);
  }
  const cached = routes.get(route);
  if (cached !== undefined && cached.account === account) return cached.claims;
  if (key.account !== undefined && account === undefined) {
    throw new GatewayError("account_required", "The account of this API key does not exist.");
  }
  const all = [...keyLimits(key, account), ...accountLimits(account), ...routeLimits(route)];
  const limits = claimsFor(all, route, model);
  const balances = account === undefined ? none : balanceOf(account);
  const claims: Claims = { limits, balances, concurrency: inFlightOf(key) };
  // Under a pattern each name called may meet other limits; an exact route is the same for all its names.
  const isSameForAllNames = !route.model.includes("*") || all.every(({ limit }) => limit.models === undefined);
  if (isSameForAllNames) routes.set(route, { account, claims });
  return claims;
}

/**
 * Claims of one attempt on a channel; undefined when it has neither limits nor a bound on requests in flight.
 *
 * @param model public name as the client wrote it
 */
export function channelClaims(channel: Channel, route: Route, model: string): Claims | undefined {
  const all = claimsOn(channel.limits, `channel/${channel.namespace}/${channel.name}`);
  const limits = claimsFor(all, route, model);
  const concurrency = inFlightOf(channel);
  return limits.length === 0 && concurrency.length === 0 ? undefined : { limits, balances: none, concurrency };
}

/** Also those of the account's template, with counters of that key's own. */
function keyLimits(key: Key, account: Account | undefined): readonly LimitClaim[] {
  return claimsOn(limitsOfKey(key, account), `key/${key.namespace}/${key.name}`);
}

function accountLimits(account: Account | undefined): readonly LimitClaim[] {
  return account === undefined ? none : claimsOn(account.limits, `account/${account.namespace}/${account.name}`);
}

function routeLimits(route: Route): readonly LimitClaim[] {
  return claimsOn(route.limits, `route/${route.namespace}/${route.name}`);
}

/** A template's limits are claimed by many owners, hence the second key. */
function claimsOn(limits: readonly Limit[] | undefined, owner: string): readonly LimitClaim[] {
  if (limits === undefined || limits.length === 0) return none;
  let owners = limitClaims.get(limits);
  if (owners === undefined) {
    owners = new Map();
    limitClaims.set(limits, owners);
  }
  let claims = owners.get(owner);
  if (claims === undefined) {
    claims = limits.map((limit) => ({ counter: `${owner}/${limit.name}`, limit }));
    // Equal limits are one shared object for all keys that have them: the cache must not keep every key ever seen.
    if (owners.size >= ownersMax) owners.clear();
    owners.set(owner, claims);
  }
  return claims;
}

function balanceOf(account: Account): readonly BalanceClaim[] {
  let claims = balanceClaims.get(account);
  if (claims === undefined) {
    const { creditNanos, overdraftNanos } = account;
    const grantedNanos = creditNanos === undefined ? undefined : BigInt(creditNanos) + BigInt(overdraftNanos ?? "0");
    claims = [{ counter: `account/${account.namespace}/${account.name}`, grantedNanos }];
    balanceClaims.set(account, claims);
  }
  return claims;
}

function inFlightOf(owner: Key | Channel): readonly ConcurrencyClaim[] {
  const { kind, namespace, name, maxInFlight } = owner;
  if (maxInFlight === undefined) return none;
  let claims = concurrencyClaims.get(owner);
  if (claims === undefined) {
    claims = [{ counter: `${kind}/${namespace}/${name}`, maxInFlight }];
    concurrencyClaims.set(owner, claims);
  }
  return claims;
}

/** Those for a model. */
function claimsFor(claims: readonly LimitClaim[], route: Route, model: string): readonly LimitClaim[] {
  if (claims.every(({ limit }) => limit.models === undefined)) return claims;
  const names = exactNames(route);
  return claims.filter(({ limit }) => appliesTo(limit, model, names));
}

/**
 * Keeps the compiled state of a resource set up to date, change by change.
 *
 * An object is compiled again only when it, an object it refers to, or a rival for its digest or name changed, so one
 * key among 100,000 costs microseconds. The outcome depends on the resource set alone: any order of changes that leads
 * to the same set leads to the same objects and results. Called by `compile.ts` and `run/reconcile-loop.ts`.
 */

import { everyObject } from "#operator/resources/mutable-resource-set";
import { ReferenceIndex, referenceKey } from "#operator/resources/reference-index";
import type {
  AnyResource,
  ApiKeyResource,
  OwnKind,
  ResourceChange,
  ResourceKind,
  ResourceSet,
} from "#operator/resources/resource";
import { EgressPolicy } from "#proxy/snapshot/egress-policy";
import type { Fleet, WireObject } from "#proxy/snapshot/types.gen";
import { compileAccount } from "./compile-account.ts";
import { compileApiKey, resolveCredentials, wantedSecretsOf } from "./compile-api-key.ts";
import { compileChannel } from "./compile-channel.ts";
import { CompiledState, type PassChanges } from "./compiled-state.ts";
import { FaultGuard } from "./fault-guard.ts";
import { type QuotaScope, withoutHardChannel, withoutHardQuotas } from "./limits/hard-quotas.ts";
import { OwnershipClaims, winnerAmong } from "./resolve-conflicts.ts";
import type { ObjectResult, WantedSecret } from "./result.ts";
import { RouteCompiler } from "./routes/route-compiler.ts";
import { wholeScope } from "./watch-scope.ts";

/** Settings of the fleet that the wire carries (docs/design/operations.md 4). */
export type CompileSettings = Omit<Fleet, "kind" | "name">;

/** The changes of a pass, including those of a previous pass that did not complete. */
export interface CompileChanges {
  readonly upserts: ReadonlyMap<string, WireObject>;
  readonly removes: ReadonlySet<string>;
  /** Results that differ from before; undefined: the resource is gone. */
  readonly results: ReadonlyMap<string, ObjectResult | undefined>;
  /** Accounts that keys joined or left and channels that routes did, by `resultId`. */
  readonly counted: ReadonlySet<string>;
  /** Objects that are refused for a fault of the compiler, by `resultId`, with the fault. */
  readonly faults: ReadonlyMap<string, unknown>;
}

const idPrefixes: { readonly [kind in OwnKind]: string } = {
  ApiKey: "key",
  Channel: "channel",
  ModelRoute: "route",
  Account: "account",
};

/** The id of a resource's result, which is that of its first wire object. */
export function resultId(kind: OwnKind, namespace: string, name: string): string {
  return `${idPrefixes[kind]}/${namespace}/${name}`;
}

interface Dirty {
  readonly ApiKey: Set<string>;
  readonly Channel: Set<string>;
  readonly ModelRoute: Set<string>;
  readonly Account: Set<string>;
}

export class Compilation {
  readonly #resources: ResourceSet;
  readonly #settings: CompileSettings;
  readonly #quotaScope: QuotaScope;
  readonly #makesKeys: boolean;
  readonly #egress: EgressPolicy;
  readonly #state: CompiledState;
  readonly #wanted = new Map<string, readonly WantedSecret[]>();
  readonly #references = new ReferenceIndex();
  readonly #digests = new OwnershipClaims();
  readonly #guard: FaultGuard;
  readonly #routes: RouteCompiler;
  /** Whether the last update completed. */
  #isWhole = true;

  /**
   * @param quotaScope where the proxies count; see `limits/hard-quotas.ts`
   * @param makesKeys whether the operator makes the Secrets that `generate` credentials ask for
   */
  constructor(
    resources: ResourceSet,
    settings: CompileSettings,
    quotaScope: QuotaScope = "Exact",
    makesKeys = true,
    reach = wholeScope,
  ) {
    this.#quotaScope = quotaScope;
    this.#makesKeys = makesKeys;
    this.#resources = resources;
    this.#settings = settings;
    this.#egress = new EgressPolicy(settings.egressAllowCIDRs);
    const state = new CompiledState({ kind: "fleet", name: "fleet", ...settings });
    const guard = new FaultGuard(state);
    this.#state = state;
    this.#guard = guard;
    this.#routes = new RouteCompiler({ resources, quotaScope, reach, state, guard });
  }

  /** All wire objects by id; a live view. */
  get objects(): ReadonlyMap<string, WireObject> {
    return this.#state.objects;
  }

  /** The results of all resources, by `resultId`; a live view. */
  get results(): ReadonlyMap<string, ObjectResult> {
    return this.#state.results;
  }

  /** Resources with `Accepted=False`, by `resultId`; a live view. */
  get refusedIds(): ReadonlySet<string> {
    return this.#state.refusedIds;
  }

  /** Replaces an object by an equal copy, so that one of the two can be released. */
  adopt(id: string, copy: WireObject): void {
    this.#state.adopt(id, copy);
  }

  /** Whether the pass that made this version has not published it, so that no proxy can know it. */
  isUnderWay(wireId: string): boolean {
    return this.#state.isUnderWay(wireId);
  }

  /** Notes that the changes of the last pass are published. */
  notePublished(): void {
    this.#state.notePublished();
  }

  /** Ends the pass: all listeners have its changes. Until then the next pass includes them. */
  endPass(): void {
    this.#state.endPass();
  }

  /** How many resources of a kind there are. */
  countOf(kind: OwnKind): number {
    return this.#state.counts[kind];
  }

  /** Secrets that `generate` credentials wait for; the caller has them created once. */
  wantedSecrets(): WantedSecret[] {
    return [...this.#wanted.values()].flat();
  }

  /** How many routes refer to a channel. */
  attachedRoutes(namespace: string, name: string): number {
    let count = 0;
    for (const dependent of this.#references.dependentsOf(referenceKey("Channel", namespace, name))) {
      if (dependent.startsWith("ModelRoute/")) count += 1;
    }
    return count;
  }

  /** The keys of an account, by `resultId`. */
  *keysOf(namespace: string, account: string): Generator<string> {
    for (const dependent of this.#references.dependentsOf(referenceKey("Account", namespace, account))) {
      const [kind, identity] = splitKey(dependent);
      if (kind === "ApiKey") yield `key/${identity}`;
    }
  }

  /** Compiles everything that these changes affect. */
  update(changes: Iterable<ResourceChange>): CompileChanges {
    const steps = this.updateInSteps(changes);
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
    }
  }

  /**
   * The same as `update`, pausing after every object, so that the caller decides when to yield to other work. Changes of
   * the resources that come meanwhile belong to a later update; one update at a time.
   *
   * An update that throws or is not completed may leave anything half done: the next one, which must be given the same
   * changes, compiles everything.
   */
  *updateInSteps(changes: Iterable<ResourceChange>): Generator<void, CompileChanges> {
    const pass = this.#state.beginPass();
    const dirty: Dirty = { ApiKey: new Set(), Channel: new Set(), ModelRoute: new Set(), Account: new Set() };
    const open = this.#isWhole ? changes : [...changes, ...everyObject(this.#resources)];
    this.#isWhole = false;
    for (const change of open) {
      this.#markChange(change, dirty, pass);
      yield;
    }
    for (const identity of dirty.Account) {
      this.#compileAccount(identity, dirty, pass);
      yield;
    }
    for (const identity of dirty.Channel) {
      this.#compileChannel(identity, dirty, pass);
      yield;
    }
    yield* this.#compileKeys(dirty.ApiKey, pass);
    yield* this.#routes.compile(dirty.ModelRoute, pass);
    this.#isWhole = true;
    return pass;
  }

  #markChange({ kind, namespace, name }: ResourceChange, dirty: Dirty, pass: PassChanges): void {
    const key = referenceKey(kind, namespace, name);
    if (kind === "Namespace") {
      for (const identity of this.#resources.modelRoutes.keys()) dirty.ModelRoute.add(identity);
      return;
    }
    const before = this.#references.referencesOf(key);
    const references = this.#guard.referencesOf(key, this.#find(kind, `${namespace}/${name}`));
    this.#references.set(key, references);
    for (const reference of before) if (!references.includes(reference)) noteCounted(reference, pass);
    for (const reference of references) if (!before.includes(reference)) noteCounted(reference, pass);
    if (kind === "Secret" || kind === "ConfigMap") this.#markDependents(key, dirty);
    else dirty[kind].add(`${namespace}/${name}`);
    if (kind === "ModelRoute") this.#markDependents(key, dirty);
  }

  /** Marks everything that depends on an object, directly or not. */
  #markDependents(key: string, dirty: Dirty): void {
    const open = [key];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const dependent of this.#references.dependentsOf(at)) {
        const [kind, identity] = splitKey(dependent);
        if (dirty[kind].has(identity)) continue;
        dirty[kind].add(identity);
        // Routes use nothing of a key, and of a channel only whether it is served, which compiling the channel tells.
        if (kind === "ModelRoute") open.push(dependent);
      }
    }
  }

  #find(kind: ResourceKind, identity: string): AnyResource | undefined {
    switch (kind) {
      case "ApiKey":
        return this.#resources.apiKeys.get(identity);
      case "Channel":
        return this.#resources.channels.get(identity);
      case "ModelRoute":
        return this.#resources.modelRoutes.get(identity);
      case "Account":
        return this.#resources.accounts.get(identity);
      default:
        return undefined;
    }
  }

  #compileAccount(identity: string, dirty: Dirty, pass: PassChanges): void {
    const account = this.#resources.accounts.get(identity);
    const id = `account/${identity}`;
    const wasServed = this.#state.objects.has(id);
    this.#guard.attempt(id, account, pass, () => {
      const compiled = account && withoutHardQuotas(compileAccount(account), this.#quotaScope);
      this.#state.put(id, compiled?.object, pass);
      this.#state.putResult(id, compiled?.result, pass);
    });
    // Keys depend only on the account's existence: a top-up must not compile all of them again.
    if (wasServed !== this.#state.objects.has(id)) this.#markDependents(`Account/${identity}`, dirty);
  }

  #compileChannel(identity: string, dirty: Dirty, pass: PassChanges): void {
    const channel = this.#resources.channels.get(identity);
    const before = this.#state.results.get(`channel/${identity}`);
    this.#guard.attempt(`channel/${identity}`, channel, pass, () => {
      const compiled =
        channel && withoutHardChannel(compileChannel(channel, this.#resources, this.#egress), this.#quotaScope);
      const objects = new Map(
        (compiled?.objects ?? []).map((object, index) => [compiled?.result.wireIds[index] ?? "", object]),
      );
      for (const id of before?.wireIds ?? []) if (!objects.has(id)) this.#state.put(id, undefined, pass);
      for (const [id, object] of objects) this.#state.put(id, object, pass);
      this.#state.putResult(`channel/${identity}`, compiled?.result, pass);
    });
    this.#markDependents(`Channel/${identity}`, dirty);
  }

  *#compileKeys(identities: ReadonlySet<string>, pass: PassChanges): Generator<void, void> {
    const rivals = new Set<string>();
    const failed = new Set<string>();
    const attempt = (identity: string, work: (key: ApiKeyResource | undefined) => void) => {
      if (failed.has(identity)) return;
      const key = this.#resources.apiKeys.get(identity);
      if (this.#guard.attempt(`key/${identity}`, key, pass, () => work(key))) return;
      failed.add(identity);
      this.#wanted.delete(identity);
    };
    // Claims first: whether a key owns its digest is known only when all claims are made.
    for (const identity of identities) {
      attempt(identity, (key) => {
        for (const rival of this.#claimDigests(identity, key)) if (!identities.has(rival)) rivals.add(rival);
      });
      yield;
    }
    for (const affected of [identities, rivals]) {
      for (const identity of affected) {
        attempt(identity, (key) => this.#compileKey(identity, key, pass));
        yield;
      }
    }
  }

  /** @returns all keys that claim one of the digests that this key claims or claimed */
  *#claimDigests(identity: string, key: ApiKeyResource | undefined): Generator<string> {
    const digests = new Set<string>();
    if (key)
      for (const { sha256 } of resolveCredentials(key, this.#resources.secrets, this.#makesKeys))
        if (sha256) digests.add(sha256);
    // Also when the digests stay: a key recreated under its name is younger, and another one may own them now.
    const touched = [...this.#digests.set(identity, [...digests]), ...this.#digests.tokensOf(identity)];
    for (const digest of new Set(touched)) yield* this.#digests.claimantsOf(digest);
  }

  #compileKey(identity: string, key: ApiKeyResource | undefined, pass: PassChanges): void {
    const id = `key/${identity}`;
    if (!key) {
      this.#wanted.delete(identity);
      this.#state.put(id, undefined, pass);
      this.#state.putResult(id, undefined, pass);
      return;
    }
    const credentials = resolveCredentials(key, this.#resources.secrets, this.#makesKeys);
    const winnerOf = (digest: string) => {
      const claimants = this.#digests.claimantsOf(digest);
      if (claimants.length <= 1) return claimants[0] ?? identity;
      return winnerAmong(claimants, (claimant) => this.#resources.apiKeys.get(claimant)?.metadata) ?? identity;
    };
    const isAccountServed = (account: string) => this.#state.objects.has(`account/${account}`);
    const compiled = withoutHardQuotas(
      compileApiKey(key, credentials, winnerOf, isAccountServed, this.#settings.requireAccount),
      this.#quotaScope,
    );
    const wanted = wantedSecretsOf(key, credentials);
    if (wanted.length > 0) this.#wanted.set(identity, wanted);
    else this.#wanted.delete(identity);
    this.#state.put(id, compiled.object, pass);
    this.#state.putResult(id, compiled.result, pass);
  }
}

function noteCounted(reference: string, pass: PassChanges): void {
  if (!reference.startsWith("Account/") && !reference.startsWith("Channel/")) return;
  const [kind, identity] = splitKey(reference);
  pass.counted.add(`${idPrefixes[kind]}/${identity}`);
}

/** A dependent is always one of our own kinds: nothing else refers to anything. */
function splitKey(key: string): [OwnKind, string] {
  const slash = key.indexOf("/");
  const kind = key.slice(0, slash);
  const identity = key.slice(slash + 1);
  if (kind === "ApiKey" || kind === "Channel" || kind === "ModelRoute" || kind === "Account") return [kind, identity];
  throw new Error(`unexpected dependent ${key}`);
}

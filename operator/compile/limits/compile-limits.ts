/** Compiles the parts of a spec that several kinds share: limits, timeouts, body rules and address ranges. */

import { parseDurationMs, parseNanoCredits, parseQuantity, SpecError } from "#operator/resources/amounts";
import type {
  BodyRules as BodyRulesSpec,
  Limit as LimitSpec,
  Timeouts as TimeoutsSpec,
} from "#operator/resources/types.gen";
import { isCidr } from "#operator/schema/cel/cidr";
import type { BodyRules, Limit, Timeouts } from "#proxy/snapshot/types.gen";

const bucketPeriods: ReadonlySet<string> = new Set(["Second", "Minute", "Hour"]);

/**
 * Limits with every default filled in (docs/design/limits-and-money.md 3).
 *
 * @throws SpecError when a limit cannot be enforced as written.
 */
export function compileLimits(limits: readonly LimitSpec[], field: string): Limit[] {
  return limits.map((limit) => shareCompiled(limit, () => compileLimit(limit, `${field}[${limit.name}]`)));
}

const compiledParts = new WeakMap<object, Limit>();

/** A limit that many keys share as a frozen part of their manifests is compiled once. */
function shareCompiled(limit: LimitSpec, compile: () => Limit): Limit {
  const known = compiledParts.get(limit);
  if (known !== undefined) return known;
  const compiled = compile();
  if (Object.isFrozen(limit)) compiledParts.set(limit, Object.freeze(compiled));
  return compiled;
}

const copies = new WeakMap<readonly string[], string[]>();

/** A copy that the wire may have, the same one for each frozen list. */
export function shareList(list: readonly string[]): string[] {
  if (!Object.isFrozen(list)) return [...list];
  let copy = copies.get(list);
  if (copy === undefined) copies.set(list, (copy = [...list]));
  return copy;
}

function compileLimit(limit: LimitSpec, at: string): Limit {
  if (limit.timeZone !== undefined) requireTimeZone(limit.timeZone, `${at}.timeZone`);
  return {
    name: limit.name,
    unit: limit.unit,
    limit:
      limit.unit === "Cost"
        ? parseNanoCredits(limit.limit, `${at}.limit`)
        : parseQuantity(limit.limit, 0, `${at}.limit`).toString(),
    period: limit.period,
    ...(limit.timeZone !== undefined && { timeZone: limit.timeZone }),
    algorithm: limit.algorithm ?? (bucketPeriods.has(limit.period) ? "TokenBucket" : "FixedWindow"),
    ...(limit.burst !== undefined && { burst: burstOf(limit, at) }),
    mode: limit.mode ?? "Enforce",
    ...(limit.models !== undefined && { models: [...limit.models] }),
  };
}

function burstOf(limit: LimitSpec, at: string): string {
  const burst = String(limit.burst);
  return limit.unit === "Cost" ? parseNanoCredits(burst, `${at}.burst`) : burst;
}

const knownTimeZones = new Map<string, boolean>();

function requireTimeZone(timeZone: string, field: string): void {
  let isKnown = knownTimeZones.get(timeZone);
  if (isKnown === undefined) {
    isKnown = isTimeZone(timeZone);
    // Bounded: manifests could otherwise grow it with ever new wrong names.
    if (knownTimeZones.size < 1_000) knownTimeZones.set(timeZone, isKnown);
  }
  if (!isKnown) throw new SpecError(`${field}: "${timeZone}" is not an IANA time zone such as "Europe/Berlin"`);
}

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return true;
  } catch {
    return false;
  }
}

/** @throws SpecError for a duration that cannot be read. */
export function compileTimeouts(timeouts: TimeoutsSpec | undefined, field: string): Timeouts {
  const compiled: Timeouts = {};
  if (timeouts?.connect !== undefined) compiled.connectMs = parseDurationMs(timeouts.connect, `${field}.connect`);
  if (timeouts?.firstByte !== undefined) {
    compiled.firstByteMs = parseDurationMs(timeouts.firstByte, `${field}.firstByte`);
  }
  if (timeouts?.streamIdle !== undefined) {
    compiled.streamIdleMs = parseDurationMs(timeouts.streamIdle, `${field}.streamIdle`);
  }
  if (timeouts?.total !== undefined) compiled.totalMs = parseDurationMs(timeouts.total, `${field}.total`);
  return compiled;
}

/** Body rules of a channel or target; undefined when there are none. */
export function compileBodyRules(rules: BodyRulesSpec | undefined): BodyRules | undefined {
  if (!rules) return undefined;
  const compiled: BodyRules = {
    ...(rules.default?.length && { default: rules.default.map(({ field, value }) => ({ field, value })) }),
    ...(rules.set?.length && { set: rules.set.map(({ field, value }) => ({ field, value })) }),
    ...(rules.remove?.length && { remove: [...rules.remove] }),
  };
  return Object.keys(compiled).length > 0 ? compiled : undefined;
}

/**
 * Two layers of body rules as one; for a field that both name, `over` wins.
 *
 * @throws SpecError when both together exceed the bound of the wire.
 */
export function mergeBodyRules(under: BodyRules | undefined, over: BodyRules | undefined): BodyRules | undefined {
  if (!under || !over) return over ?? under;
  const overridden = new Set([...(over.default ?? []), ...(over.set ?? [])].map(({ field }) => field));
  const defaults = [...(over.default ?? []), ...(under.default ?? []).filter(({ field }) => !overridden.has(field))];
  const sets = [...(over.set ?? []), ...(under.set ?? []).filter(({ field }) => !overridden.has(field))];
  const removes = [...new Set([...(over.remove ?? []), ...(under.remove ?? [])])].filter(
    (field) => !overridden.has(field) || over.remove?.includes(field),
  );
  if (Math.max(defaults.length, sets.length, removes.length) > 64) {
    throw new SpecError("parameters: more than 64 rules, including those of referenced routes");
  }
  return compileBodyRules({ default: defaults, set: sets, remove: removes });
}

/** @throws SpecError for a text that is not a CIDR: a restriction that is not understood must not vanish. */
export function requireCIDRs(cidrs: readonly string[], field: string): string[] {
  for (const [index, cidr] of cidrs.entries()) {
    if (!isCidr(cidr)) throw new SpecError(`${field}[${index}]: "${cidr}" is not a CIDR such as "10.0.0.0/8"`);
  }
  return shareList(cidrs);
}

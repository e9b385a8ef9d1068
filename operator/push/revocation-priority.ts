/**
 * Finds the changes that take something away from callers: these are published at once and may overtake other changes
 * (docs/design/configuration.md 3.6). Pure. When in doubt it says urgent, because publishing early only costs a
 * message.
 */
import type { Key, Limit, WireObject } from "#proxy/snapshot/types.gen";

export interface RevocationPriority {
  /** Published without waiting. */
  readonly isUrgent: boolean;
  /** The whole key is dead. */
  readonly isKeyDead: boolean;
  /** SHA-256 digests that are dead. */
  readonly deadCredentials: readonly string[];
}

const calm: RevocationPriority = { isUrgent: false, isKeyDead: false, deadCredentials: [] };

/** @param after undefined when the object is removed. */
export function revocationPriorityOf(
  before: WireObject | undefined,
  after: WireObject | undefined,
): RevocationPriority {
  if (before === undefined) return calm;
  if (before.kind === "key") return priorityOfKey(before, after?.kind === "key" ? after : undefined);
  return { ...calm, isUrgent: takesAway(before, after) };
}

function priorityOfKey(before: Key, after: Key | undefined): RevocationPriority {
  if (after === undefined || (before.state === "Active" && after.state !== "Active")) {
    return { isUrgent: true, isKeyDead: true, deadCredentials: before.credentials.map(({ sha256 }) => sha256) };
  }
  const kept = new Set(after.credentials.map(({ sha256 }) => sha256));
  const deadCredentials = before.credentials.map(({ sha256 }) => sha256).filter((sha256) => !kept.has(sha256));
  return { isUrgent: deadCredentials.length > 0 || isTightened(before, after), isKeyDead: false, deadCredentials };
}

function takesAway(before: WireObject, after: WireObject | undefined): boolean {
  switch (before.kind) {
    case "account":
      return after?.kind === "account" && before.state === "Active" && after.state !== "Active";
    case "channel":
      return after?.kind !== "channel" || (before.state !== "Disabled" && after.state === "Disabled");
    case "route":
      return after?.kind !== "route" || !isEqual(before.keySelector, after.keySelector);
    case "fleet":
      return after?.kind !== "fleet" || !isEqual(before, after);
    case "key":
    case "credential":
      return after === undefined;
    default:
      return before satisfies never;
  }
}

function isTightened(before: Key, after: Key): boolean {
  return (
    isEarlier(before.expiresAt, after.expiresAt) ||
    narrows(before.modelsAllow, after.modelsAllow) ||
    narrows(before.cidrsAllow, after.cidrsAllow) ||
    narrows(before.protocols, after.protocols) ||
    narrows(before.capabilities, after.capabilities) ||
    adds(before.modelsDeny, after.modelsDeny) ||
    adds(before.cidrsDeny, after.cidrsDeny) ||
    isEarlier(before.maxInFlight, after.maxInFlight) ||
    before.account !== after.account ||
    !isEqual(before.labels, after.labels) ||
    limitsTighten(before.limits ?? [], after.limits ?? []) ||
    credentialsNarrow(before, after)
  );
}

function credentialsNarrow(before: Key, after: Key): boolean {
  return before.credentials.some((credential) => {
    const next = after.credentials.find(({ sha256 }) => sha256 === credential.sha256);
    if (next === undefined) return false;
    return isEarlier(credential.notAfter, next.notAfter) || (next.notBefore ?? 0) > (credential.notBefore ?? 0);
  });
}

function isEarlier(before: number | undefined, after: number | undefined): boolean {
  return (after ?? Infinity) < (before ?? Infinity);
}

/** An allow-list, absent meaning everything, lost something. */
function narrows(before: readonly string[] | undefined, after: readonly string[] | undefined): boolean {
  if (after === undefined) return false;
  return before === undefined || before.some((item) => !after.includes(item));
}

function adds(before: readonly string[] | undefined, after: readonly string[] | undefined): boolean {
  return (after ?? []).some((item) => !(before ?? []).includes(item));
}

function limitsTighten(before: readonly Limit[], after: readonly Limit[]): boolean {
  return after.some((limit) => {
    const earlier = before.find(({ name }) => name === limit.name);
    if (earlier === undefined) return limit.mode === "Enforce";
    const isRaise =
      BigInt(limit.limit) >= BigInt(earlier.limit) &&
      isEqual({ ...limit, limit: "", burst: "" }, { ...earlier, limit: "", burst: "" }) &&
      BigInt(limit.burst ?? limit.limit) >= BigInt(earlier.burst ?? earlier.limit);
    return !isRaise;
  });
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

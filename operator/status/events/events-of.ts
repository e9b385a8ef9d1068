/**
 * Derives Events from changes of status. Pure.
 *
 * An Event is sent once for a change that was written, so it needs no memory. Events tell of bad conditions, of
 * conditions that are good again, and of quotas that fill up. Changes that thousands of objects share (no proxy, an
 * account without credit) are left out: the object that causes them has its own Event.
 */
import { type ConditionType, hasReason, type ReasonOf } from "#operator/resources/reasons";
import type { Condition } from "#operator/resources/types.gen";
import type { StatusDocument } from "#operator/status/status-document";
import type { EventReason } from "./event-reasons.ts";

/** The content of an Event; the writer adds the object and the time. */
export interface EventFacts {
  readonly type: "Normal" | "Warning";
  /** For programs, as the reason of the condition. */
  readonly reason: string;
  /** The type of the condition. */
  readonly action: string;
  /** For people. */
  readonly note: string;
}

/** Conditions that have Events when they become bad or good. */
const toldTypes: ReadonlySet<string> = new Set<ConditionType>([
  "Accepted",
  "ResolvedRefs",
  "Active",
  "Available",
  "Healthy",
  "Funded",
]);
/** Reasons without an Event, because another condition or object says the same. */
const toldElsewhere: ReadonlySet<string> = new Set<ReasonOf<ConditionType>>([
  "NotYetValid",
  "AccountUnfunded",
  "AccountSuspended",
  "AccountRequired",
  "NotAccepted",
  "Pending",
]);
/** Percent of a quota; at 100 it is used up, which its condition says. */
const thresholds = [80, 50] as const;

/** @param before the status before; undefined when there was none */
export function eventsOf(before: StatusDocument | undefined, after: StatusDocument): EventFacts[] {
  const events: EventFacts[] = [];
  const isAvailable = after.status.conditions.some(({ type, status }) => type === "Available" && status === "True");
  for (const condition of after.status.conditions) {
    const was = before?.status.conditions.find(({ type }) => type === condition.type);
    if (was !== undefined && isSame(was, condition)) continue;
    // The channel has its own Event, and the route works with another one.
    if (hasReason(condition, "ResolvedRefs", "ChannelNotReady") && isAvailable) continue;
    const event = eventOf(was, condition);
    if (event !== undefined) events.push(event);
  }
  return [...events, ...quotaEvents(before, after), ...balanceEvents(before, after)];
}

/** The Secret of a `generate` credential could not be made; it is tried again while a credential waits for it. */
export function secretNotCreated(secretName: string, why: string): EventFacts {
  const note = `The operator cannot create the Secret ${secretName}: ${why}`;
  return told("Warning", "SecretNotCreated", "ResolvedRefs", note);
}

/** A `generate` credential has a new key, because its Secret was deleted. */
export function keyReplaced(secretName: string, credential: string): EventFacts {
  const note = `The Secret ${secretName} of credential ${credential} was deleted. The operator made a new key; the previous key is refused, and callers need the new one.`;
  return told("Warning", "KeyReplaced", "ResolvedRefs", note);
}

/** Somebody else writes the status, too. */
export function statusContested(note: string): EventFacts {
  return told("Warning", "StatusContested", "Status", note);
}

/** A key ends soon. */
export function keyExpiring(note: string): EventFacts {
  return told("Warning", "KeyExpiring", "Active", note);
}

function told(
  type: EventFacts["type"],
  reason: EventReason,
  action: ConditionType | "Status",
  note: string,
): EventFacts {
  return { type, reason, action, note };
}

function isSame(was: Condition, condition: Condition): boolean {
  if (was.status !== condition.status || was.reason !== condition.reason) return false;
  return condition.type === "Programmed" || was.message === condition.message;
}

function eventOf(was: Condition | undefined, condition: Condition): EventFacts | undefined {
  const { type: action, reason, message: note } = condition;
  if (action === "Programmed") {
    const isRefused = hasReason(condition, "Programmed", "Rejected", "ProxyTooOld");
    return isRefused ? { type: "Warning", reason, action, note } : undefined;
  }
  if (!toldTypes.has(action) || toldElsewhere.has(reason)) return undefined;
  if (!isWell(condition)) {
    if (condition.status === "Unknown") return undefined;
    // A person suspended it.
    return { type: hasReason(condition, "Active", "Suspended") ? "Normal" : "Warning", reason, action, note };
  }
  const isWellAgain = was !== undefined && !isWell(was) && was.status !== "Unknown" && !toldElsewhere.has(was.reason);
  return isWellAgain ? { type: "Normal", reason, action, note } : undefined;
}

function isWell(condition: Condition): boolean {
  return condition.status === "True" && !hasReason(condition, "Accepted", "PartiallyValid");
}

function quotaEvents(before: StatusDocument | undefined, after: StatusDocument): EventFacts[] {
  const usedBefore = usageOf(before);
  return usageOf(after).flatMap(({ name, used, limit, resetAt }) => {
    const was = usedBefore.find((one) => one.name === name && one.resetAt === resetAt);
    const threshold = thresholdCrossed(percentOf(was?.used, was?.limit), percentOf(used, limit));
    if (threshold === undefined) return [];
    const until = resetAt === undefined ? "" : ` until ${resetAt}`;
    return [filling("QuotaThreshold", "Active", threshold, `The quota ${name} is used to ${threshold} %${until}.`)];
  });
}

function usageOf(document: StatusDocument | undefined) {
  return document !== undefined && "usage" in document.status ? (document.status.usage ?? []) : [];
}

function balanceEvents(before: StatusDocument | undefined, after: StatusDocument): EventFacts[] {
  const threshold = thresholdCrossed(spentPercentOf(before), spentPercentOf(after));
  if (threshold === undefined) return [];
  return [filling("BalanceThreshold", "Funded", threshold, `The credit is used to ${threshold} %.`)];
}

function spentPercentOf(document: StatusDocument | undefined): number {
  if (document === undefined || !("balance" in document.status)) return 0;
  const { granted, consumed } = document.status.balance ?? {};
  return percentOf(consumed, granted);
}

function filling(reason: EventReason, action: ConditionType, threshold: number, note: string): EventFacts {
  return told(threshold >= 80 ? "Warning" : "Normal", reason, action, note);
}

/** For comparison with a threshold only: amounts may be larger than a double counts exactly. */
function percentOf(used: string | undefined, limit: string | undefined): number {
  const whole = Number(limit ?? "0");
  return whole > 0 ? (Number(used ?? "0") / whole) * 100 : 0;
}

/** The highest threshold that was passed upwards; undefined at 100, where the condition tells it. */
function thresholdCrossed(beforePercent: number, afterPercent: number): number | undefined {
  if (afterPercent >= 100) return undefined;
  return thresholds.find((threshold) => beforePercent < threshold && afterPercent >= threshold);
}

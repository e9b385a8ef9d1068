/** Writes changes of status as lines for a person at a terminal. Pure. */

import { type ConditionType, hasReason } from "#operator/resources/reasons";
import type { Origin, SourceProblem } from "#operator/resources/resource";
import type { Condition } from "#operator/resources/types.gen";
import type { StatusDocument } from "./status-document.ts";

/** A line, and whether it tells of a refused version, which a person should not overlook. */
export interface ConditionLine {
  readonly text: string;
  readonly isRefusal: boolean;
}

/** Conditions reported only when they are bad, or good again. */
const reported: ReadonlySet<string> = new Set<ConditionType>([
  "Accepted",
  "ResolvedRefs",
  "Active",
  "Available",
  "Healthy",
  "Funded",
]);

/**
 * `ApiKey team-a/ci-bot: Accepted=False Conflicted: … (keys.yaml:12)`, one line for each condition that changed.
 *
 * @param before undefined: the object is new; its good conditions are not worth a line
 */
export function describeStatusChange(
  before: StatusDocument | undefined,
  after: StatusDocument,
  origin: Origin | undefined,
): string[] {
  return [
    ...describeConditions(before, after, origin).map(({ text }) => text),
    ...[describeLive(before, after, origin)].flatMap((one) => one ?? []),
  ];
}

/** The lines about conditions that are bad, or good again. */
export function describeConditions(
  before: StatusDocument | undefined,
  after: StatusDocument,
  origin: Origin | undefined,
): ConditionLine[] {
  const lines: ConditionLine[] = [];
  const isAvailable = after.status.conditions.some(({ type, status }) => type === "Available" && status === "True");
  for (const condition of after.status.conditions) {
    const was = before?.status.conditions.find(({ type }) => type === condition.type);
    if (was && was.reason === condition.reason && was.status === condition.status && was.message === condition.message)
      continue;
    // The channel reports it already, and the route works with another one.
    if (hasReason(condition, "ResolvedRefs", "ChannelNotReady") && isAvailable) continue;
    if (!isWorthALine(was, condition)) continue;
    lines.push({ text: conditionLine(after, condition, origin), isRefusal: isRefusal(condition) });
  }
  return lines;
}

/** The line that a version is live on every ready proxy; undefined when it was live before. */
export function describeLive(
  before: StatusDocument | undefined,
  after: StatusDocument,
  origin: Origin | undefined,
): string | undefined {
  const programmed = after.status.conditions.find(({ type }) => type === "Programmed");
  const wasProgrammed = before?.status.conditions.find(({ type }) => type === "Programmed");
  if (!before || !programmed || !isLiveAgain(wasProgrammed, programmed)) return undefined;
  return conditionLine(after, programmed, origin);
}

function isWorthALine(was: Condition | undefined, condition: Condition): boolean {
  if (condition.type === "Programmed") return hasReason(condition, "Programmed", "Rejected", "ProxyTooOld");
  if (!reported.has(condition.type)) return false;
  const isWell = condition.status === "True" && !hasReason(condition, "Accepted", "PartiallyValid");
  if (!isWell) return condition.status !== "Unknown";
  return was !== undefined && (was.status === "False" || hasReason(was, "Accepted", "PartiallyValid"));
}

/** Refused by the operator or by a proxy. */
function isRefusal(condition: Condition): boolean {
  const { type, status } = condition;
  return (type === "Accepted" && status === "False") || hasReason(condition, "Programmed", "Rejected");
}

/** Whether a version is newly live on every ready proxy. */
function isLiveAgain(was: Condition | undefined, is: Condition): boolean {
  return is.status === "True" && (was?.status !== "True" || was.observedGeneration !== is.observedGeneration);
}

function conditionLine(document: StatusDocument, condition: Condition, origin: Origin | undefined): string {
  const { type, status, reason, message } = condition;
  return line(document, `${type}=${status} ${reason}: ${message}`, origin);
}

/** A line about an object, with its file and line. */
export function line({ kind, metadata }: StatusDocument, text: string, origin: Origin | undefined): string {
  const where = origin ? ` (${origin.file}:${origin.line})` : "";
  return `${kind} ${metadata.namespace}/${metadata.name}: ${text}${where}`;
}

/** `keys.yaml:12 spec.state: …`. */
export function describeProblem({ origin, field, message }: SourceProblem): string {
  return `${origin.file}:${origin.line}${field === undefined || field === "" ? "" : ` ${field}`}: ${message}`;
}

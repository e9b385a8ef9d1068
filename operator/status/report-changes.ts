/** Changes of status as lines for a person at a terminal. Pure. */

import type { Origin, Problem } from "../resources/resource.ts";
import type { Condition } from "../resources/types.gen.ts";
import type { StatusDocument } from "./status-document.ts";

/** Written of them is only what is not as it should be, or is so again. */
const reported: ReadonlySet<string> = new Set(["Accepted", "ResolvedRefs", "Active", "Available", "Healthy", "Funded"]);

/**
 * `ApiKey team-a/ci-bot: Accepted=False Conflicted: … (keys.yaml:12)`, one line for each condition that changed.
 *
 * @param before undefined: the object is new; what is well with it is not worth a line
 */
export function describeStatusChange(
  before: StatusDocument | undefined,
  after: StatusDocument,
  origin: Origin | undefined,
): string[] {
  const lines: string[] = [];
  for (const condition of after.status.conditions) {
    const was = before?.status.conditions.find(({ type }) => type === condition.type);
    if (was && was.reason === condition.reason && was.status === condition.status && was.message === condition.message)
      continue;
    if (isWorthALine(was, condition)) lines.push(line(after, condition, origin));
  }
  const programmed = after.status.conditions.find(({ type }) => type === "Programmed");
  const wasProgrammed = before?.status.conditions.find(({ type }) => type === "Programmed");
  if (before && programmed && isLiveAgain(wasProgrammed, programmed)) lines.push(line(after, programmed, origin));
  return lines;
}

function isWorthALine(was: Condition | undefined, condition: Condition): boolean {
  if (condition.type === "Programmed") return condition.reason === "Rejected" || condition.reason === "ProxyTooOld";
  if (!reported.has(condition.type)) return false;
  const isWell = condition.status === "True" && condition.reason !== "PartiallyValid";
  if (!isWell) return condition.status !== "Unknown";
  return was !== undefined && (was.status === "False" || was.reason === "PartiallyValid");
}

/** A version is live on every ready proxy: said once for each. */
function isLiveAgain(was: Condition | undefined, is: Condition): boolean {
  return is.status === "True" && (was?.status !== "True" || was.observedGeneration !== is.observedGeneration);
}

function line({ kind, metadata }: StatusDocument, condition: Condition, origin: Origin | undefined): string {
  const where = origin ? ` (${origin.file}:${origin.line})` : "";
  const { type, status, reason, message } = condition;
  return `${kind} ${metadata.namespace}/${metadata.name}: ${type}=${status} ${reason}: ${message}${where}`;
}

/** `keys.yaml:12 spec.state: …`. */
export function describeProblem({ origin, field, message }: Problem): string {
  return `${origin.file}:${origin.line}${field === undefined || field === "" ? "" : ` ${field}`}: ${message}`;
}

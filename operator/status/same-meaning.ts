/** Whether two statuses of one object say the same: only a change of meaning is written (RESOURCES.md R11). Pure. */
import { isDeepStrictEqual } from "node:util";
import type { Condition } from "#operator/resources/types.gen";
import { programmedMeaning } from "./conditions.ts";
import type { StatusDocument } from "./status-document.ts";

export function isSameMeaning(left: StatusDocument, right: StatusDocument): boolean {
  return isDeepStrictEqual(meaningOf(left), meaningOf(right));
}

/**
 * How many proxies acknowledged so far is no change of meaning, and must not be written for each of them; nor is a
 * transition there and back, of which nobody was told.
 */
function meaningOf({ kind, metadata, status }: StatusDocument): unknown {
  const conditions = status.conditions.map((condition: Condition) => {
    const { lastTransitionTime: _, ...meaning } = condition;
    return condition.type === "Programmed" ? { ...meaning, message: programmedMeaning(condition) } : meaning;
  });
  return { kind, metadata, status: { ...status, conditions } };
}

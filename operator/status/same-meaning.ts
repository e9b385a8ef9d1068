/**
 * Compares two statuses of one object by meaning: only a change of meaning is written
 * (docs/design/configuration.md 1.4). Pure.
 */
import { isDeepStrictEqual } from "node:util";
import type { Condition } from "#operator/resources/types.gen";
import { programmedMeaning } from "./conditions.ts";
import type { StatusDocument } from "./status-document.ts";

export function isSameMeaning(left: StatusDocument, right: StatusDocument): boolean {
  return isDeepStrictEqual(meaningOf(left), meaningOf(right));
}

/**
 * The count of proxies that acknowledged has no meaning, or every acknowledgement would be written. Nor has the time of a
 * transition there and back that was never written.
 */
function meaningOf({ kind, metadata, status }: StatusDocument): unknown {
  const conditions = status.conditions.map((condition: Condition) => {
    const { lastTransitionTime: _, ...meaning } = condition;
    return condition.type === "Programmed" ? { ...meaning, message: programmedMeaning(condition) } : meaning;
  });
  return { kind, metadata, status: { ...status, conditions } };
}

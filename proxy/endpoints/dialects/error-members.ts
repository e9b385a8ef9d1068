/** Tells errors from replies where an upstream sends them under a status of success (docs/design/errors.md 5). Pure. */
import { member } from "#proxy/json/json-value";

/** Members that an error may be told in. */
const errorMembers = ["error", "message", "detail"] as const;

/** Whether a body that is no reply of its format tells an error. @param json anything */
export function tellsError(json: unknown): boolean {
  return errorMembers.some((name) => (member(json, name) ?? undefined) !== undefined);
}

/** Shortens ids of tool calls for models that accept only nine letters and digits. */
import { createHash } from "node:crypto";

const length = 9;
const valid = /^[a-zA-Z0-9]{9}$/;

/** The id itself where it is fine; else the same nine letters and digits for the same id, in a call and in its result. */
export function shortCallId(id: string): string {
  return valid.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, length);
}

/**
 * Fits ids of tool calls to this format: letters, digits, `_` and `-`, each once in a request
 * (docs/design/translation.md 5.3; pitfalls 57 to 59).
 */
import { createHash } from "node:crypto";
import { UniqueIds } from "#proxy/neutral/ids/unique-ids";

const valid = /^[a-zA-Z0-9_-]+$/;

/** The same id for the same text; different texts never meet. */
export function validCallId(id: string): string {
  if (valid.test(id)) return id;
  const digest = createHash("sha256").update(id).digest("hex").slice(0, 8);
  return `${id.replace(/[^a-zA-Z0-9_-]/g, "_")}_${digest}`;
}

/** Gives out ids that are valid and not taken. */
export class CallIds {
  readonly #ids = new UniqueIds();

  /** Clients use ids again; the second call of an id gets one of its own. */
  assign(id: string): string {
    return this.#ids.assign(validCallId(id));
  }
}

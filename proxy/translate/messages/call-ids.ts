/**
 * Ids of tool calls as this format wants them: letters, digits, `_` and `-`, each once in a request
 * (`protocols/translation.md` section 5.3; pitfalls 57 to 59).
 */
import { createHash } from "node:crypto";

const valid = /^[a-zA-Z0-9_-]+$/;

/** The same id for the same text; different texts never meet. */
export function validCallId(id: string): string {
  if (valid.test(id)) return id;
  const digest = createHash("sha256").update(id).digest("hex").slice(0, 8);
  return `${id.replace(/[^a-zA-Z0-9_-]/g, "_")}_${digest}`;
}

/** Gives out ids that are valid and not taken. */
export class CallIds {
  readonly #taken = new Set<string>();
  /** How often an id was asked for, so that thousands of equal ones do not search thousands of times. */
  readonly #counts = new Map<string, number>();

  /** Clients use ids again; the second call of an id gets one of its own. */
  take(id: string): string {
    const wanted = validCallId(id);
    let count = this.#counts.get(wanted) ?? 1;
    let free = wanted;
    for (; this.#taken.has(free); count += 1) free = `${wanted}_${count + 1}`;
    this.#counts.set(wanted, count);
    this.#taken.add(free);
    return free;
  }
}

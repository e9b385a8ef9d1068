/** Counts the web searches behind a generateContent reply: one for each query that grounding metadata names. */

import { asList, member, memberAt } from "#proxy/json/json-value";
import { searchesMax } from "#proxy/settle/plausible-usage";

export class SearchQueries {
  /** Later frames may say again what an earlier one said. More than the bound are none, and cost no memory. */
  readonly #queries = new Set<string>();

  get count(): number {
    return this.#queries.size;
  }

  /** @param frame a reply, or a frame of a stream */
  note(frame: unknown): void {
    for (const [index, candidate] of asList(member(frame, "candidates")).entries()) {
      for (const query of asList(memberAt(candidate, "groundingMetadata", "webSearchQueries"))) {
        if (typeof query === "string" && this.#queries.size < searchesMax) this.#queries.add(`${index} ${query}`);
      }
    }
  }
}

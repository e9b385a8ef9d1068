/** Web searches behind a generateContent answer: each query that the model sent, as grounding metadata tells them. */
import { asList, member, memberAt } from "../json-value.ts";

/** More are no searches but an upstream that repeats itself; none costs memory. */
const queriesMax = 1_000;

export class SearchQueries {
  /** Later frames may say again what an earlier one said. */
  readonly #queries = new Set<string>();

  get count(): number {
    return this.#queries.size;
  }

  /** @param frame a reply, or a frame of a stream */
  note(frame: unknown): void {
    for (const [index, candidate] of asList(member(frame, "candidates")).entries()) {
      for (const query of asList(memberAt(candidate, "groundingMetadata", "webSearchQueries"))) {
        if (typeof query === "string" && this.#queries.size < queriesMax) this.#queries.add(`${index} ${query}`);
      }
    }
  }
}

/**
 * Fails a reply whose upstream dropped the model's malformed call and still reported success: without any other output
 * that is an invalid reply (docs/design/translation.md 8.1).
 *
 * No event passes before a part opens, so that another attempt can still be made.
 */
import { InvalidReply, type ReplyEvent } from "#proxy/neutral/reply";
import type { ReplyFilter } from "./filter.ts";

export class RefuseMalformedCall implements ReplyFilter {
  readonly #held: ReplyEvent[] = [];
  #isOpened = false;
  /** Of any candidate; what was thought is no output. */
  #hasOutput = false;
  #isMalformed = false;

  /** @throws InvalidReply at the end of a reply that has nothing but the call that was none */
  apply(event: ReplyEvent): readonly ReplyEvent[] {
    if (this.#hasOutput) return [event];
    if (event.type === "open") {
      this.#isOpened = true;
      this.#hasOutput = event.block.kind !== "reasoning" && event.block.kind !== "hosted";
    }
    if (event.type === "finish" && event.finish.reason === "malformed-call") this.#isMalformed = true;
    if (event.type === "end" && this.#isMalformed) throw new InvalidReply("the model's tool call was malformed");
    const waits = !this.#hasOutput && (!this.#isOpened || this.#isMalformed);
    this.#held.push(event);
    return waits && event.type !== "end" ? [] : this.#held.splice(0);
  }
}

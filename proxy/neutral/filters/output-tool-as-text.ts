/**
 * Turns the call of the output tool into text. That function is declared only so that its arguments are the structured
 * output on models without support for it; a finish for that call becomes an ordinary one
 * (docs/design/translation.md 7.1).
 */
import type { ReplyEvent } from "#proxy/neutral/reply";
import type { ReplyFilter } from "./filter.ts";

export class OutputToolAsText implements ReplyFilter {
  readonly #name: string;
  readonly #yieldToBatch = new Set<number>();

  constructor(name: string) {
    this.#name = name;
  }

  apply(event: ReplyEvent): readonly ReplyEvent[] {
    if (event.type === "open" && event.block.kind === "call") {
      if (event.block.name === this.#name) return [{ ...event, block: { kind: "text" } }];
      this.#yieldToBatch.add(event.candidate);
    }
    if (event.type === "finish" && event.finish.reason === "tool-calls" && !this.#yieldToBatch.has(event.candidate)) {
      return [{ ...event, finish: { reason: "stop" } }];
    }
    return [event];
  }
}

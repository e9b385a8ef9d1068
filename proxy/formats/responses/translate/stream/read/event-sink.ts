/** Collects the neutral events of the stream reader, and assigns part numbers in the order of their opening. */

import { readItem } from "#proxy/formats/responses/translate/reply/read-items";
import type { JsonObject } from "#proxy/json/json-value";
import {
  type Citation,
  InvalidReply,
  type OpenedBlock,
  type ReplyEvent,
  type TokenLogprob,
} from "#proxy/neutral/reply";

/** All text of a reply, held until the end of its items: far beyond what any model writes. */
const charactersMax = 16 * 1024 * 1024;

export class EventSink {
  events: ReplyEvent[] = [];
  hasCall = false;
  hasRefusal = false;
  /** Calls whose arguments are no JSON, or doubtful: a reply must not have them unless it was cut. */
  hasBrokenCall = false;
  #characters = 0;
  readonly #declared: ReadonlySet<string>;
  #nextPart = 0;

  /** @param declared names of the client's tools */
  constructor(declared: ReadonlySet<string>) {
    this.#declared = declared;
  }

  open(block: OpenedBlock): number {
    const part = this.#nextPart;
    this.#nextPart += 1;
    if (block.kind === "call") this.hasCall = true;
    if (block.kind === "refusal") this.hasRefusal = true;
    this.events.push({ type: "open", candidate: 0, part, block });
    return part;
  }

  /** @throws InvalidReply when the reply is too long */
  delta(part: number, text: string): void {
    if (text === "") return;
    this.#characters += text.length;
    if (this.#characters > charactersMax) throw new InvalidReply("the reply is too long");
    this.events.push({ type: "delta", candidate: 0, part, text });
  }

  citation(part: number, citation: Citation): void {
    this.events.push({ type: "citation", candidate: 0, part, citation });
  }

  logprobs(part: number, tokens: readonly TokenLogprob[]): void {
    if (tokens.length > 0) this.events.push({ type: "logprobs", candidate: 0, part, tokens });
  }

  close(part: number): void {
    this.events.push({ type: "close", candidate: 0, part });
  }

  /** An item of which nothing was said before. */
  whole(item: JsonObject): void {
    for (const block of readItem(item, this.#declared)) {
      if (block.kind === "media" || block.kind === "hosted") {
        this.close(this.open(block));
        continue;
      }
      const opened = block.kind === "call" ? block : { kind: block.kind };
      const part = this.open(
        opened.kind === "call" ? { kind: "call", id: opened.id, name: opened.name, tool: opened.tool } : opened,
      );
      if (block.kind === "text") this.logprobs(part, block.logprobs);
      this.delta(part, block.kind === "call" ? block.arguments : block.text);
      if (block.kind === "text") for (const citation of block.citations) this.citation(part, citation);
      for (const state of block.states) this.events.push({ type: "state", candidate: 0, part, state });
      this.close(part);
    }
  }
}

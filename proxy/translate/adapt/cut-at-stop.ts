/**
 * Stop sequences for an upstream that knows none: the visible text ends before the first one
 * (`protocols/translation.md` section 12).
 *
 * As much text waits as could be the beginning of a sequence. When one is found everything open is closed, the
 * candidate finishes and the answer ends; the upstream need not say more. It has not counted what it produced then: the
 * client is told an estimate.
 */
import { type TokenUsage, zeroUsage } from "../../settle/usage.ts";
import type { ReplyEvent } from "../reply.ts";
import { partKey, type ReplyFilter } from "./filter.ts";

/** Rule of thumb for text of any kind. */
const charactersPerToken = 4;

export class CutAtStop implements ReplyFilter {
  readonly #sequences: readonly string[];
  readonly #texts = new Map<string, string>();
  readonly #open = new Map<string, { readonly candidate: number; readonly part: number }>();
  #isCut = false;
  /** As the upstream said it last: the prompt often comes first. */
  #usage: TokenUsage | undefined;
  #producedCharacters = 0;
  readonly #promptTokens: number;

  /** @param sequences none of them empty @param promptTokens as estimated before the call */
  constructor(sequences: readonly string[], promptTokens: number) {
    this.#sequences = sequences;
    this.#promptTokens = promptTokens;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  take(event: ReplyEvent): readonly ReplyEvent[] {
    if (this.#isCut) return [];
    if (event.type === "open") {
      this.#open.set(partKey(event), event);
      if (event.block.kind === "text") this.#texts.set(partKey(event), "");
      return [event];
    }
    if (event.type === "usage") this.#usage = event.usage;
    if (event.type === "delta") {
      this.#producedCharacters += event.text.length;
      const held = this.#texts.get(partKey(event));
      return held === undefined ? [event] : this.#search(event, held + event.text);
    }
    if (event.type !== "close") return [event];
    const held = this.#texts.get(partKey(event)) ?? "";
    this.#texts.delete(partKey(event));
    this.#open.delete(partKey(event));
    return held === "" ? [event] : [{ ...event, type: "delta", text: held }, event];
  }

  #search(event: Extract<ReplyEvent, { type: "delta" }>, text: string): readonly ReplyEvent[] {
    let first: { readonly index: number; readonly sequence: string } | undefined;
    for (const sequence of this.#sequences) {
      const index = text.indexOf(sequence);
      if (index >= 0 && (first === undefined || index < first.index)) first = { index, sequence };
    }
    if (first !== undefined) return this.#cut(event, text.slice(0, first.index), first.sequence);
    const keep = this.#beginningAtEnd(text);
    this.#texts.set(partKey(event), text.slice(text.length - keep));
    const free = text.slice(0, text.length - keep);
    return free === "" ? [] : [{ ...event, text: free }];
  }

  /** Characters at the end of a text that may be the beginning of a sequence. */
  #beginningAtEnd(text: string): number {
    let longest = 0;
    for (const sequence of this.#sequences) {
      for (let length = Math.min(sequence.length - 1, text.length); length > longest; length -= 1) {
        if (sequence.startsWith(text.slice(text.length - length))) longest = length;
      }
    }
    return longest;
  }

  #cut(event: Extract<ReplyEvent, { type: "delta" }>, text: string, sequence: string): readonly ReplyEvent[] {
    this.#isCut = true;
    const { candidate } = event;
    const events: ReplyEvent[] = text === "" ? [] : [{ ...event, text }];
    for (const at of this.#open.values()) events.push({ type: "close", candidate: at.candidate, part: at.part });
    events.push({ type: "finish", candidate, finish: { reason: "stop-sequence", stopSequence: sequence } });
    events.push({ type: "usage", usage: this.#usageSoFar() }, { type: "end" });
    return events;
  }

  #usageSoFar(): TokenUsage {
    const said = this.#usage ?? { ...zeroUsage, input: this.#promptTokens };
    const produced = Math.ceil(this.#producedCharacters / charactersPerToken);
    return { ...said, output: Math.max(said.output, produced - said.reasoning) };
  }
}

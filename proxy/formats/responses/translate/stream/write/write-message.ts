/**
 * Writes one message item of a stream. Neighbouring texts become one part, whatever blocks they came in: providers cut
 * a text into blocks to attach citations (docs/design/translation.md 9.2).
 */

import {
  type ItemStatus,
  logprobEntry,
  messageItem,
  outputText,
  refusalPart,
  urlCitation,
} from "#proxy/formats/responses/translate/reply/output-items";
import type { JsonObject } from "#proxy/json/json-value";
import type { Citation, TokenLogprob } from "#proxy/neutral/reply";
import { type Frames, itemMembers } from "./frames.ts";

interface OpenPart {
  readonly kind: "text" | "refusal";
  /** Members of every event of the part. */
  readonly members: string;
  text: string;
  /** Where the latest block begins in the text. */
  blockStart: number;
  readonly annotations: JsonObject[];
  readonly logprobs: JsonObject[];
  /** Log probabilities that no delta has carried yet. */
  waiting: JsonObject[];
  /** Sources of the latest block as a whole: where it ends is known when it does. */
  uncited: Citation[];
}

/** Where a block stands in the text of its part. */
export interface TextSpan {
  readonly start: number;
  readonly length: number;
}

export class MessageItemWriter {
  readonly #frames: Frames;
  readonly #newId: (prefix: string) => string;
  readonly #content: JsonObject[] = [];
  #part: OpenPart | undefined;
  /** Set once the item was announced: a message that says nothing never was. */
  #begun: { readonly id: string; readonly index: number } | undefined;
  /** Neutral parts that may still bring text. */
  openBlocks = 0;

  constructor(frames: Frames, newId: (prefix: string) => string) {
    this.#frames = frames;
    this.#newId = newId;
  }

  beginBlock(kind: "text" | "refusal"): void {
    if (this.#part !== undefined && this.#part.kind !== kind) this.#closePart();
    if (this.#part === undefined) return;
    this.endBlock();
    this.#part.blockStart = this.#part.text.length;
  }

  /** The latest block is whole. */
  endBlock(): TextSpan {
    const part = this.#part;
    if (part === undefined) return { start: 0, length: 0 };
    const block = { start: part.blockStart, length: part.text.length - part.blockStart };
    for (const citation of part.uncited.splice(0)) this.#annotate(part, citation, block);
    return block;
  }

  append(kind: "text" | "refusal", text: string): void {
    const part = this.#open(kind);
    part.text += text;
    const delta = `${part.members},"delta":${JSON.stringify(text)}`;
    if (kind === "refusal") {
      this.#frames.emit("response.refusal.delta", delta);
      return;
    }
    const logprobs = part.waiting.length === 0 ? "[]" : JSON.stringify(part.waiting);
    part.waiting = [];
    this.#frames.emit("response.output_text.delta", `${delta},"logprobs":${logprobs}`);
  }

  addLogprobs(tokens: readonly TokenLogprob[]): void {
    this.#addTokens(this.#open("text"), tokens);
  }

  /** What comes behind the end of its block, which is lost where the text can take nothing more. */
  addLate(block: TextSpan, { citation, tokens = [] }: { citation?: Citation; tokens?: readonly TokenLogprob[] }): void {
    const part = this.#part;
    if (part?.kind !== "text") return;
    if (citation !== undefined) this.#annotate(part, citation, block);
    this.#addTokens(part, tokens);
  }

  #addTokens(part: OpenPart, tokens: readonly TokenLogprob[]): void {
    for (const token of tokens) {
      const entry = logprobEntry(token);
      part.logprobs.push(entry);
      part.waiting.push(entry);
    }
  }

  cite(citation: Citation): void {
    const part = this.#open("text");
    if (citation.end === undefined) part.uncited.push(citation);
    else this.#annotate(part, citation, { start: part.blockStart, length: part.text.length - part.blockStart });
  }

  #annotate(part: OpenPart, citation: Citation, block: TextSpan): void {
    const annotation = urlCitation(citation, block.start, block.length);
    const members = `${part.members},"annotation_index":${part.annotations.length}`;
    part.annotations.push(annotation);
    this.#frames.emit("response.output_text.annotation.added", `${members},"annotation":${JSON.stringify(annotation)}`);
  }

  done(status: ItemStatus): void {
    this.#closePart();
    if (this.#begun === undefined) return;
    const { id, index } = this.#begun;
    this.#frames.done(index, messageItem(id, status, this.#content));
  }

  #open(kind: "text" | "refusal"): OpenPart {
    if (this.#part?.kind === kind) return this.#part;
    this.#closePart();
    const { id, index } = this.#begin();
    const members = `${itemMembers(id, index)},"content_index":${this.#content.length}`;
    const empty = kind === "text" ? outputText("", [], []) : refusalPart("");
    this.#frames.emit("response.content_part.added", `${members},"part":${JSON.stringify(empty)}`);
    this.#part = { kind, members, text: "", blockStart: 0, annotations: [], logprobs: [], waiting: [], uncited: [] };
    return this.#part;
  }

  #begin() {
    if (this.#begun !== undefined) return this.#begun;
    const id = this.#newId("msg_");
    this.#begun = { id, index: this.#frames.added(messageItem(id, "in_progress", [])) };
    return this.#begun;
  }

  #closePart(): void {
    const part = this.#part;
    if (part === undefined) return;
    this.endBlock();
    this.#part = undefined;
    const text = JSON.stringify(part.text);
    if (part.kind === "text") {
      const logprobs = JSON.stringify(part.logprobs);
      this.#frames.emit("response.output_text.done", `${part.members},"text":${text},"logprobs":${logprobs}`);
    } else {
      this.#frames.emit("response.refusal.done", `${part.members},"refusal":${text}`);
    }
    const whole =
      part.kind === "text" ? outputText(part.text, part.annotations, part.logprobs) : refusalPart(part.text);
    this.#frames.emit("response.content_part.done", `${part.members},"part":${JSON.stringify(whole)}`);
    this.#content.push(whole);
  }
}

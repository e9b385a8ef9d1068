/** Reads a message of a stream while it is open. */

import { readCitation, readCitations, readLogprobs } from "#proxy/formats/responses/translate/reply/read-items";
import { asList, asText, type JsonObject, member } from "#proxy/json/json-value";
import { InvalidReply, type TokenLogprob } from "#proxy/neutral/reply";
import type { EventSink } from "./event-sink.ts";
import { indexOf, type OpenItem } from "./open-item.ts";
import { StreamedText } from "./streamed-text.ts";

interface OpenPart {
  readonly part: number;
  readonly said: StreamedText;
  citations: number;
  logprobs: number;
}

export class OpenMessage implements OpenItem {
  readonly type = "message";
  readonly #parts = new Map<number, OpenPart>();
  readonly #closed = new Set<number>();

  read(type: string, event: JsonObject, sink: EventSink): void {
    const index = indexOf(event["content_index"]);
    switch (type) {
      case "response.output_text.delta": {
        const text = asText(event["delta"]);
        const logprobs = readLogprobs(event["logprobs"]);
        if (text !== "" || logprobs.length > 0) this.#emitText(this.#part(index, "text", sink), text, logprobs, sink);
        return;
      }
      case "response.refusal.delta":
        if (event["delta"] !== "") this.#emitText(this.#part(index, "refusal", sink), asText(event["delta"]), [], sink);
        return;
      case "response.output_text.done":
        this.#complete(index, { type: "output_text", text: event["text"] }, sink);
        return;
      case "response.refusal.done":
        this.#complete(index, { type: "refusal", refusal: event["refusal"] }, sink);
        return;
      case "response.output_text.annotation.added": {
        const citation = readCitation(event["annotation"]);
        if (citation === undefined) return;
        const open = this.#part(index, "text", sink);
        open.citations += 1;
        sink.citation(open.part, citation);
        return;
      }
      case "response.content_part.done":
        this.#complete(index, event["part"], sink);
        this.#close(index, sink);
        return;
      default:
        return;
    }
  }

  pause(): void {
    // Several messages may go on together.
  }

  finish(item: JsonObject | undefined, sink: EventSink): void {
    for (const [index, part] of asList(item?.["content"]).entries()) {
      if (!this.#closed.has(index)) this.#complete(index, part, sink);
    }
    for (const index of [...this.#parts.keys()]) this.#close(index, sink);
  }

  #emitText(open: OpenPart, text: string, logprobs: readonly TokenLogprob[], sink: EventSink): void {
    sink.logprobs(open.part, logprobs);
    open.logprobs += logprobs.length;
    open.said.add(text);
    sink.delta(open.part, text);
  }

  /** Says what a full part holds beyond what was said. */
  #complete(index: number, part: unknown, sink: EventSink): void {
    const isRefusal = member(part, "type") === "refusal";
    const full = asText(member(part, isRefusal ? "refusal" : "text"));
    const known = this.#parts.get(index);
    if (known === undefined && full === "") return;
    const open = known ?? this.#part(index, isRefusal ? "refusal" : "text", sink);
    const logprobs = open.logprobs === 0 ? readLogprobs(member(part, "logprobs")) : [];
    this.#emitText(open, open.said.restOf(full) ?? "", logprobs, sink);
    const citations = readCitations(member(part, "annotations"));
    for (const citation of citations.slice(open.citations)) sink.citation(open.part, citation);
    open.citations = Math.max(open.citations, citations.length);
  }

  #part(index: number, kind: "text" | "refusal", sink: EventSink): OpenPart {
    if (this.#closed.has(index)) throw new InvalidReply("a piece came for a part that was closed");
    const known = this.#parts.get(index);
    if (known !== undefined) return known;
    const opened = { part: sink.open({ kind }), said: new StreamedText(), citations: 0, logprobs: 0 };
    this.#parts.set(index, opened);
    return opened;
  }

  #close(index: number, sink: EventSink): void {
    const open = this.#parts.get(index);
    if (open !== undefined) sink.close(open.part);
    this.#parts.delete(index);
    this.#closed.add(index);
  }
}

/**
 * Output items of a stream while they are open: what of each has been said on, so that the full value at its end adds
 * only what the deltas left out (`protocols/translation.md` section 9.1, responses decoder).
 *
 * Deltas are previews and the finished item counts; kept are lengths, never texts.
 */
import { asList, asText, type JsonObject, member } from "../../../protocols/json-value.ts";
import { type Citation, InvalidReply, type OpenedBlock, type ReplyEvent, type TokenLogprob } from "../../reply.ts";
import {
  argumentsText,
  callId,
  mayBeParallel,
  readCitation,
  readCitations,
  readItem,
  readLogprobs,
  reasoningState,
} from "../reply/read-items.ts";

/** Where events of the neutral stream go; hands out part numbers in the order of their opening. */
export class EventSink {
  events: ReplyEvent[] = [];
  hasCall = false;
  hasRefusal = false;
  #nextPart = 0;

  open(block: OpenedBlock): number {
    const part = this.#nextPart;
    this.#nextPart += 1;
    if (block.kind === "call") this.hasCall = true;
    if (block.kind === "refusal") this.hasRefusal = true;
    this.events.push({ type: "open", candidate: 0, part, block });
    return part;
  }

  delta(part: number, text: string): void {
    if (text !== "") this.events.push({ type: "delta", candidate: 0, part, text });
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
    for (const block of readItem(item)) {
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

/** One item that was added and is not done. */
export interface OpenItem {
  readonly type: string;
  /** @param type the event's type, known to be a delta or a part of an item */
  read(type: string, event: JsonObject, sink: EventSink): void;
  /** Another item began. Relays announce the end of the thoughts only after the answer, which must not wait for it. */
  pause(sink: EventSink): void;
  /** @param item the finished item; undefined when the stream ended without it */
  finish(item: JsonObject | undefined, sink: EventSink): void;
}

export function openItem(item: JsonObject): OpenItem {
  switch (item["type"]) {
    case "message":
      return new OpenMessage();
    case "reasoning":
      return new OpenReasoning();
    case "function_call":
    case "custom_tool_call":
      return new OpenCall(item);
    default:
      return new OpenHosted(asText(item["type"]));
  }
}

interface OpenPart {
  readonly part: number;
  sent: number;
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
        if (text !== "" || logprobs.length > 0) this.#say(this.#part(index, "text", sink), text, logprobs, sink);
        return;
      }
      case "response.refusal.delta":
        if (event["delta"] !== "") this.#say(this.#part(index, "refusal", sink), asText(event["delta"]), [], sink);
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

  #say(open: OpenPart, text: string, logprobs: readonly TokenLogprob[], sink: EventSink): void {
    sink.logprobs(open.part, logprobs);
    open.logprobs += logprobs.length;
    open.sent += text.length;
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
    this.#say(open, full.slice(open.sent), logprobs, sink);
    const citations = readCitations(member(part, "annotations"));
    for (const citation of citations.slice(open.citations)) sink.citation(open.part, citation);
    open.citations = Math.max(open.citations, citations.length);
  }

  #part(index: number, kind: "text" | "refusal", sink: EventSink): OpenPart {
    if (this.#closed.has(index)) throw new InvalidReply("a piece came for a part that was closed");
    const known = this.#parts.get(index);
    if (known !== undefined) return known;
    const opened = { part: sink.open({ kind }), sent: 0, citations: 0, logprobs: 0 };
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

class OpenReasoning implements OpenItem {
  readonly type = "reasoning";
  #part: number | undefined;
  #sent = 0;
  /** Servers send the thoughts themselves or summaries; of both the first one counts. */
  #source: "content" | "summary" | undefined;
  #index = 0;

  read(type: string, event: JsonObject, sink: EventSink): void {
    if (type === "response.reasoning_text.delta") this.#say("content", 0, asText(event["delta"]), sink);
    if (type === "response.reasoning_summary_text.delta") {
      this.#say("summary", indexOf(event["summary_index"]), asText(event["delta"]), sink);
    }
  }

  #say(source: "content" | "summary", index: number, text: string, sink: EventSink): void {
    this.#source ??= source;
    if (text === "" || this.#source !== source) return;
    this.#part ??= sink.open({ kind: "reasoning" });
    const separated = index > this.#index && this.#sent > 0 ? `\n\n${text}` : text;
    this.#index = Math.max(this.#index, index);
    this.#sent += separated.length;
    sink.delta(this.#part, separated);
  }

  pause(sink: EventSink): void {
    if (this.#part !== undefined) sink.close(this.#part);
    this.#part = undefined;
  }

  finish(item: JsonObject | undefined, sink: EventSink): void {
    const full = item === undefined ? "" : this.#fullText(item);
    const state = item === undefined ? undefined : reasoningState(item);
    if (full.length > this.#sent || state !== undefined) this.#part ??= sink.open({ kind: "reasoning" });
    if (this.#part === undefined) return;
    sink.delta(this.#part, full.slice(this.#sent));
    if (state !== undefined) sink.events.push({ type: "state", candidate: 0, part: this.#part, state });
    sink.close(this.#part);
  }

  #fullText(item: JsonObject): string {
    const texts = (name: string): string[] => asList(item[name]).map((part) => asText(member(part, "text")));
    const content = this.#source === "summary" ? [] : texts("content");
    return content.length > 0 ? content.join("") : texts("summary").join("\n\n");
  }
}

class OpenCall implements OpenItem {
  readonly type: string;
  readonly #added: JsonObject;
  /** A call that may have to be said otherwise waits for its end. */
  readonly #isHeld: boolean;
  #part: number | undefined;
  #sent = 0;

  constructor(item: JsonObject) {
    this.type = asText(item["type"]);
    this.#added = item;
    const name = asText(item["name"]);
    this.#isHeld = name === "" || mayBeParallel(name);
  }

  read(type: string, event: JsonObject, sink: EventSink): void {
    if (this.#isHeld) return;
    if (type === "response.function_call_arguments.delta" || type === "response.custom_tool_call_input.delta") {
      this.#say(asText(event["delta"]), sink);
    }
  }

  /** Says that the call has begun. */
  begin(sink: EventSink): void {
    if (!this.#isHeld) this.#opened(sink);
  }

  #opened(sink: EventSink): number {
    this.#part ??= sink.open({
      kind: "call",
      id: callId(this.#added),
      name: asText(this.#added["name"]),
      tool: this.type === "custom_tool_call" ? "custom" : "function",
    });
    return this.#part;
  }

  #say(text: string, sink: EventSink): void {
    this.#sent += text.length;
    sink.delta(this.#opened(sink), text);
  }

  pause(): void {
    // Several calls may go on together.
  }

  finish(item: JsonObject | undefined, sink: EventSink): void {
    if (this.#isHeld) {
      if (item === undefined) throw new InvalidReply("a call came without its name or its end");
      sink.whole(item);
      return;
    }
    const isCustom = this.type === "custom_tool_call";
    const given = isCustom ? asText(item?.["input"]) : argumentsText(item?.["arguments"]);
    // Some servers stream an object's spelling and finish with another one; what was said stays.
    if (this.#sent === 0 || isCustom || given.length > this.#sent) this.#say(given.slice(this.#sent), sink);
    sink.close(this.#opened(sink));
  }
}

class OpenHosted implements OpenItem {
  readonly type: string;

  constructor(type: string) {
    this.type = type;
  }

  pause(): void {
    // Nothing of it is said before its end.
  }

  read(): void {
    // Its code and queries come again with the finished item.
  }

  finish(item: JsonObject | undefined, sink: EventSink): void {
    if (item !== undefined) sink.whole(item);
  }
}

export function beginItem(item: OpenItem, sink: EventSink): void {
  if (item instanceof OpenCall) item.begin(sink);
}

function indexOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

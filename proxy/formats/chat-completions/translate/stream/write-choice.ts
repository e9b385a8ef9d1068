/** Writes the events of one candidate as chunks of one choice: its role first, its finish last, calls counted from 0. */

import { writeAnnotation } from "#proxy/formats/chat-completions/translate/reply/citations";
import { writeFinish } from "#proxy/formats/chat-completions/translate/reply/finish-reason";
import { writeLogprobs } from "#proxy/formats/chat-completions/translate/reply/logprobs";
import { hasPlace, writeAudio, writeImage } from "#proxy/formats/chat-completions/translate/reply/media";
import { showsReasoning, TurnStates, writeCall } from "#proxy/formats/chat-completions/translate/reply/write-message";
import type { ReplyContext } from "#proxy/formats/translator";
import type { ProviderState } from "#proxy/neutral/conversation";
import { UniqueIds } from "#proxy/neutral/ids/unique-ids";
import { omittedText } from "#proxy/neutral/media/omitted-media";
import type { Citation, Finish, MediaBlock, OpenedBlock, ReplyEvent } from "#proxy/neutral/reply";
import { unreachable } from "#proxy/runtime/unreachable";
import { oneLineJson } from "./one-line-json.ts";

type ChoiceEvent = Exclude<ReplyEvent, { type: "start" | "usage" | "end" }>;

interface OpenText {
  readonly kind: "text" | "refusal" | "reasoning";
  /** Of its part in the whole content, and its length so far, in UTF-16 units. */
  readonly offset: number;
  length: number;
  readonly citations: Citation[];
}

interface OpenCall {
  readonly kind: "call";
  readonly id: string;
  readonly tool: "function" | "custom";
  /** Frame up to the text of a delta, and behind it. */
  readonly head: string;
  readonly tail: string;
  /** In the client's list of calls; undefined for the older form. */
  readonly index: number | undefined;
  hasText: boolean;
  readonly states: ProviderState[];
}

export class ChoiceWriter {
  readonly #context: ReplyContext;
  readonly #head: string;
  readonly #tail: string;
  readonly #open = new Map<number, OpenText | OpenCall>();
  /** Closed texts, of which sources may still come. */
  readonly #texts = new Map<number, OpenText>();
  readonly #states = new TurnStates();
  readonly #callIds = new UniqueIds();
  readonly #showsReasoning: boolean;
  #contentLength = 0;
  /** Calls in the client's list, and whether there was any call at all. */
  #calls = 0;
  #hasCall = false;
  #hasBegun = false;

  constructor(candidate: number, head: string, tail: string, context: ReplyContext) {
    this.#context = context;
    this.#head = `${head}{"index":${candidate},"delta":`;
    this.#tail = `,"finish_reason":null}${tail}`;
    this.#showsReasoning = showsReasoning(context);
  }

  /** The first chunk of a choice says whose it is, once. */
  begin(): string {
    if (this.#hasBegun) return "";
    this.#hasBegun = true;
    return this.#chunk('{"role":"assistant","content":"","refusal":null}');
  }

  write(event: ChoiceEvent): string {
    if (event.type === "delta") return this.#writeDelta(event.part, event.text);
    const begin = this.begin();
    switch (event.type) {
      case "open":
        return begin + this.#writeOpen(event.part, event.block);
      case "citation":
        (this.#text(event.part) ?? this.#texts.get(event.part))?.citations.push(event.citation);
        return begin;
      case "logprobs":
        return `${begin}${this.#head}{"content":""},"logprobs":${oneLineJson(writeLogprobs(event.tokens))}${this.#tail}`;
      case "state":
        return begin + this.#writeState(event.part, event.state);
      case "close":
        return begin + this.#writeClose(event.part);
      case "finish":
        return begin + this.#writeFinish(event.finish);
      default:
        return unreachable(event);
    }
  }

  #chunk(delta: string): string {
    return this.#head + delta + this.#tail;
  }

  #text(part: number): OpenText | undefined {
    const open = this.#open.get(part);
    return open === undefined || open.kind === "call" ? undefined : open;
  }

  #writeDelta(part: number, text: string): string {
    const open = this.#open.get(part);
    switch (open?.kind) {
      case "text":
        open.length += text.length;
        this.#contentLength += text.length;
        return this.#chunk(`{"content":${oneLineJson(text)}}`);
      case "refusal":
        return this.#chunk(`{"refusal":${oneLineJson(text)}}`);
      case "reasoning":
        return this.#showsReasoning ? this.#chunk(`{"reasoning_content":${oneLineJson(text)}}`) : "";
      case "call":
        open.hasText = true;
        return open.head + oneLineJson(text) + open.tail;
      default:
        return "";
    }
  }

  #writeOpen(part: number, block: OpenedBlock): string {
    switch (block.kind) {
      case "text":
      case "refusal":
      case "reasoning":
        this.#open.set(part, { kind: block.kind, offset: this.#contentLength, length: 0, citations: [] });
        return "";
      case "call":
        return this.#openCall(part, block);
      case "media":
        return this.#writeMedia(part, block);
      case "hosted":
        // What a provider's own tool did means nothing to a client of this format, but the provider may want it back.
        for (const state of block.states ?? []) this.#states.add(state);
        return "";
      default:
        return unreachable(block);
    }
  }

  #openCall(part: number, block: Extract<OpenedBlock, { kind: "call" }>): string {
    const { name, tool } = block;
    const id = this.#callIds.assign(block.id ?? this.#context.newId("call_"));
    const put = (index: number | undefined, member: string, tail: string): void => {
      const head = this.#head + member;
      this.#open.set(part, {
        kind: "call",
        id,
        tool,
        index,
        head,
        tail: tail + this.#tail,
        hasText: false,
        states: [],
      });
    };
    const isLegacy = this.#context.conversation.usesLegacyFunctions === true && !this.#hasCall;
    this.#hasCall = true;
    if (isLegacy) {
      put(undefined, '{"function_call":{"arguments":', "}}");
      return this.#chunk(oneLineJson({ function_call: { name, arguments: "" } }));
    }
    const index = this.#calls;
    this.#calls += 1;
    const member = tool === "custom" ? '"custom":{"input":' : '"function":{"arguments":';
    put(index, `{"tool_calls":[{"index":${index},${member}`, "}}]}");
    return this.#chunk(oneLineJson({ tool_calls: [{ index, ...writeCall(block, id, "") }] }));
  }

  /** A picture or sound has no parts to wait for; what has no place is told of in the text. */
  #writeMedia(part: number, block: MediaBlock): string {
    if (!hasPlace(block)) return this.#writeOpen(part, { kind: "text" }) + this.#writeDelta(part, omittedText(block));
    const image = writeImage(block);
    if (image !== undefined) return this.#chunk(oneLineJson({ images: [image] }));
    const audio = writeAudio(block, block.base64 ?? "", this.#context.newId("audio_"), this.#context.nowSeconds);
    return this.#chunk(oneLineJson({ audio }));
  }

  #writeState(part: number, state: ProviderState): string {
    const open = this.#open.get(part);
    if (open?.kind === "reasoning") this.#states.add(state);
    if (open?.kind !== "call") return "";
    open.states.push(state);
    return state.kind === "thought-signature" ? this.#writeSignature(open, [state]) : "";
  }

  #writeSignature(open: OpenCall, own: readonly ProviderState[]): string {
    const member = this.#states.signatureMember(own, this.#context);
    if (open.index === undefined || Object.keys(member).length === 0) return "";
    const nothing = open.tool === "custom" ? { custom: { input: "" } } : { function: { arguments: "" } };
    return this.#chunk(oneLineJson({ tool_calls: [{ index: open.index, ...nothing, ...member }] }));
  }

  #writeClose(part: number): string {
    const open = this.#open.get(part);
    this.#open.delete(part);
    if (open?.kind === "text") this.#texts.set(part, open);
    if (open?.kind !== "call") return "";
    const isSigned = open.states.some(({ kind }) => kind === "thought-signature");
    const signature = isSigned ? "" : this.#writeSignature(open, []);
    this.#states.keep(open.id, open.states, this.#context);
    // Strict clients parse the arguments of every call.
    const args = open.hasText || open.tool === "custom" ? "" : `${open.head}"{}"${open.tail}`;
    return signature + args;
  }

  #writeFinish(finish: Finish): string {
    const cited = [...this.#texts.values()].flatMap(({ citations, offset, length }) =>
      citations.map((citation) => writeAnnotation(citation, offset, length)),
    );
    const annotations = cited.length === 0 ? "" : this.#chunk(oneLineJson({ annotations: cited }));
    const isLegacy = this.#context.conversation.usesLegacyFunctions === true;
    const reason = oneLineJson(writeFinish(finish, isLegacy));
    return `${annotations}${this.#head}{}${this.#tail.replace('"finish_reason":null', `"finish_reason":${reason}`)}`;
  }
}

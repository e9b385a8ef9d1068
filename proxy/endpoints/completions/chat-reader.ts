/** Reads the reply to a completion that was asked as a chat call, and makes a text completion of it. */
import type { PreparedAttempt } from "#proxy/dispatch/chat/prepare-attempt";
import type { ReplyReading, StreamFilter, UpstreamError } from "#proxy/formats/format";
import type { Produced } from "#proxy/formats/stream/produced";
import { startsObject } from "#proxy/json/json-text";
import { isObject, type JsonObject, parseJson } from "#proxy/json/json-value";
import { parseBody } from "#proxy/neutral/parse-body";
import type { TokenUsage } from "#proxy/settle/usage";
import { readEventFields, splitEvents } from "#proxy/sse/event-fields";
import type { ReplyBridge } from "#proxy/translate/reply-bridge";
import type { ReplyReader, StreamReader } from "#proxy/upstream/reply/reply-reader";
import type { CompletionCall } from "./read-completion.ts";
import { completionOfChat, eventsOfCompletion, isEmptyChunk, jsonEvent } from "./text-completion.ts";

/** @param prepared the chat call, whose reply is one of chat completions when it has been translated */
export function completionReaderOf(prepared: PreparedAttempt, call: CompletionCall): ReplyReader {
  const { reader, translation } = prepared;
  const { contentType, streams } = reader;
  return {
    contentType,
    isBridged: true,
    readReply: (body) => reader.readReply(body),
    streams: streams === undefined ? undefined : completionStreams(streams),
    bridge: () => new CompletionBridge(reader.bridge(), call, translation !== undefined),
  };
}

function completionStreams(chat: StreamReader): StreamReader {
  return {
    createFilter: (waitsForUsage) => new CompletionFilter(chat.createFilter(waitsForUsage)),
    // What is collected of it is read by the bridge.
    createOwnFilter: (isCollected) => chat.createOwnFilter(isCollected),
  };
}

class CompletionBridge implements ReplyBridge {
  readonly #chat: ReplyBridge;
  readonly #call: CompletionCall;
  readonly #isTranslated: boolean;

  constructor(chat: ReplyBridge, call: CompletionCall, isTranslated: boolean) {
    this.#chat = chat;
    this.#call = call;
    this.#isTranslated = isTranslated;
  }

  readReply(body: Buffer): ReplyReading {
    return this.#chat.readReply(body);
  }

  translateReply(body: Buffer): ReturnType<ReplyBridge["translateReply"]> {
    const { chat, lost } = this.#wholeChat(body);
    return { body: Buffer.from(JSON.stringify(completionOfChat(chat))), lost };
  }

  streamOfReply(body: Buffer): readonly Buffer[] {
    return [...eventsOfCompletion(completionOfChat(this.#wholeChat(body).chat), this.#call.wantsStreamUsage)];
  }

  /** A chat completion that came whole is one already. */
  #wholeChat(body: Buffer): { readonly chat: JsonObject; readonly lost: readonly string[] } {
    if (!this.#isTranslated && startsObject(body)) return { chat: parseBody(body), lost: [] };
    const { body: translated, lost } = this.#chat.translateReply(body);
    return { chat: parseBody(translated), lost };
  }
}

/** Lets a stream of chat completions out as one of text completions: what passes are whole events. */
class CompletionFilter implements StreamFilter {
  readonly #chat: StreamFilter;

  constructor(chat: StreamFilter) {
    this.#chat = chat;
  }

  push(chunk: Buffer): readonly Buffer[] {
    return rewritten(this.#chat.push(chunk));
  }

  end(): readonly Buffer[] {
    return rewritten(this.#chat.end());
  }

  get events(): number {
    return this.#chat.events;
  }

  get position(): string {
    return this.#chat.position;
  }

  get isComplete(): boolean {
    return this.#chat.isComplete;
  }

  get isCut(): boolean {
    return this.#chat.isCut === true;
  }

  get error(): UpstreamError | undefined {
    return this.#chat.error;
  }

  get violation(): string | undefined {
    return this.#chat.violation;
  }

  get usage(): TokenUsage | undefined {
    return this.#chat.usage;
  }

  get heldBytes(): number {
    return this.#chat.heldBytes;
  }

  get hasContent(): boolean {
    return this.#chat.hasContent;
  }

  produced(): Produced {
    return this.#chat.produced();
  }
}

function rewritten(pieces: readonly Buffer[]): readonly Buffer[] {
  return pieces.length === 0 ? pieces : pieces.flatMap(splitEvents).flatMap(rewrittenEvent);
}

/** Comments and the terminator are the same in both. */
function rewrittenEvent(event: Buffer): readonly Buffer[] {
  const { data } = readEventFields(event);
  const chunk = data === undefined ? undefined : parseJson(data);
  if (!isObject(chunk)) return [event];
  const completion = completionOfChat(chunk);
  return isEmptyChunk(completion) ? [] : [jsonEvent(completion)];
}

/**
 * Writes a messages stream (docs/design/messages.md 7; docs/design/translation.md 9.2).
 *
 * Every frame has its `event:` line, blocks come one after another with dense indexes, the end comes once with the
 * reason and the usage together, and never behind an error. The official SDK loses or mixes up a stream that breaks one
 * of these rules.
 */
import type { GatewayError } from "#proxy/errors";
import type { ErrorContext } from "#proxy/formats/format";
import { writeCitation } from "#proxy/formats/messages/translate/reply/citation";
import { writeFinish } from "#proxy/formats/messages/translate/reply/finish";
import { writeUsage } from "#proxy/formats/messages/translate/reply/write-usage";
import { errorObject } from "#proxy/formats/render-error";
import type { ReplyContext, StreamWriter } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { Citation, Finish, ReplyEvent } from "#proxy/neutral/reply";
import type { TokenUsage } from "#proxy/settle/usage";
import { BlockSequence, type BlockSink } from "./block-sequence.ts";

export class MessageStreamWriter implements StreamWriter {
  readonly #context: ReplyContext;
  readonly #frames = new BlockFrames();
  readonly #blocks: BlockSequence;
  #usage: TokenUsage | undefined;
  #finish: Finish = { reason: "other" };

  constructor(context: ReplyContext) {
    this.#context = context;
    this.#blocks = new BlockSequence(this.#frames, context);
  }

  write(event: ReplyEvent): string {
    switch (event.type) {
      case "start":
        return this.#start();
      case "usage":
        this.#usage = event.usage;
        return "";
      case "end":
        return this.#end();
      case "finish":
        if (event.candidate === 0) this.#finish = event.finish;
        break;
      default:
    }
    this.#blocks.add(event);
    return this.#frames.consume();
  }

  /** Blocks that are open stay open: a stream that failed must not look whole. */
  fail(error: GatewayError, context: ErrorContext): string {
    return frame("error", JSON.stringify(errorObject(error, "Anthropic", context)));
  }

  /** The prompt is counted only at the end by most providers, so the estimate stands here (pitfall 35). */
  #start(): string {
    const message = {
      id: this.#context.newId("msg_"),
      type: "message",
      role: "assistant",
      model: this.#context.conversation.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: this.#writtenUsage(),
    };
    return frame("message_start", JSON.stringify({ type: "message_start", message })) + pingFrame;
  }

  #writtenUsage(): JsonObject {
    return writeUsage(this.#usage, this.#context.inputTokensEstimate);
  }

  #end(): string {
    const ending = { type: "message_delta", delta: writeFinish(this.#finish), usage: this.#writtenUsage() };
    return frame("message_delta", JSON.stringify(ending)) + frame("message_stop", '{"type":"message_stop"}');
  }
}

/** Frames of content blocks; strings are put together by hand because there is one for every piece of text. */
class BlockFrames implements BlockSink {
  #text = "";
  #index = -1;

  /** The frames since the last call. */
  consume(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }

  startText(): void {
    this.#start('{"type":"text","text":""}');
  }

  startThinking(): void {
    this.#start('{"type":"thinking","thinking":"","signature":""}');
  }

  startCall(id: string, name: string): void {
    this.#start(`{"type":"tool_use","id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"input":{}}`);
  }

  startSearch(id: string): void {
    this.#start(`{"type":"server_tool_use","id":${JSON.stringify(id)},"name":"web_search","input":{}}`);
  }

  startWhole(block: JsonObject): void {
    this.#start(JSON.stringify(block));
  }

  text(text: string): void {
    this.#delta(`{"type":"text_delta","text":${JSON.stringify(text)}}`);
  }

  thinking(text: string): void {
    this.#delta(`{"type":"thinking_delta","thinking":${JSON.stringify(text)}}`);
  }

  signature(signature: string): void {
    this.#delta(`{"type":"signature_delta","signature":${JSON.stringify(signature)}}`);
  }

  json(text: string): void {
    this.#delta(`{"type":"input_json_delta","partial_json":${JSON.stringify(text)}}`);
  }

  citation(citation: Citation): void {
    this.#delta(`{"type":"citations_delta","citation":${JSON.stringify(writeCitation(citation))}}`);
  }

  stop(): void {
    this.#text += frame("content_block_stop", `{"type":"content_block_stop","index":${this.#index}}`);
  }

  #start(block: string): void {
    this.#index += 1;
    this.#text += frame(
      "content_block_start",
      `{"type":"content_block_start","index":${this.#index},"content_block":${block}}`,
    );
  }

  #delta(delta: string): void {
    this.#text += frame(
      "content_block_delta",
      `{"type":"content_block_delta","index":${this.#index},"delta":${delta}}`,
    );
  }
}

function frame(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}

const pingFrame = frame("ping", '{"type":"ping"}');

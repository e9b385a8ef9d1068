/** Writes a whole message with the code that writes its stream (docs/design/messages.md 4). */

import { BlockSequence, type BlockSink } from "#proxy/formats/messages/translate/stream/block-sequence";
import type { ReplyContext } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import { replayReply } from "#proxy/neutral/replay-reply";
import type { Citation, Reply } from "#proxy/neutral/reply";
import { writeCitation } from "./citation.ts";
import { writeFinish } from "./finish.ts";
import { parseInput } from "./parse-input.ts";
import { writeUsage } from "./write-usage.ts";

export function writeReply(reply: Reply, context: ReplyContext): JsonObject {
  const content = writeContent(reply, context);
  const ending = writeFinish(reply.candidates[0]?.finish ?? { reason: "other" });
  const message: Record<string, unknown> = {
    id: context.newId("msg_"),
    type: "message",
    role: "assistant",
    model: context.conversation.model,
    content,
  };
  for (const name in ending) message[name] = ending[name];
  message["usage"] = writeUsage(reply.usage, context.inputTokensEstimate);
  return message;
}

function writeContent(reply: Reply, context: ReplyContext): readonly JsonObject[] {
  const [candidate] = reply.candidates;
  const [only] = candidate?.blocks ?? [];
  // Nearly all replies are one text, whose block needs no sequence; an empty one has no block.
  const isText = candidate?.blocks.length === 1 && only?.kind === "text" && only.text !== "";
  if (isText && only.citations.length === 0) return [{ type: "text", text: only.text }];
  const content = new ContentBlocks();
  const blocks = new BlockSequence(content, context);
  for (const event of replayReply(reply)) blocks.add(event);
  return content.blocks;
}

/** Content blocks as members of a list. */
class ContentBlocks implements BlockSink {
  readonly blocks: JsonObject[] = [];
  #start: JsonObject = {};
  #text: string[] = [];
  #signature = "";
  #citations: JsonObject[] = [];

  startText(): void {
    this.#begin({ type: "text" });
  }

  startThinking(): void {
    this.#begin({ type: "thinking" });
  }

  startCall(id: string, name: string): void {
    this.#begin({ type: "tool_use", id, name });
  }

  startSearch(id: string): void {
    this.#begin({ type: "server_tool_use", id, name: "web_search" });
  }

  startWhole(block: JsonObject): void {
    this.#begin(block);
  }

  text(text: string): void {
    this.#text.push(text);
  }

  thinking(text: string): void {
    this.#text.push(text);
  }

  json(text: string): void {
    this.#text.push(text);
  }

  signature(signature: string): void {
    this.#signature = signature;
  }

  citation(citation: Citation): void {
    this.#citations.push(writeCitation(citation));
  }

  stop(): void {
    const text = this.#text.join("");
    this.blocks.push({ ...this.#start, ...this.#content(text) });
  }

  #content(text: string): JsonObject {
    switch (this.#start["type"]) {
      case "thinking":
        return { thinking: text, signature: this.#signature };
      case "tool_use":
      case "server_tool_use":
        return { input: parseInput(text) };
      case "web_search_tool_result":
        return {};
      default:
        return { text, ...(this.#citations.length === 0 ? {} : { citations: this.#citations }) };
    }
  }

  #begin(start: JsonObject): void {
    this.#start = start;
    this.#text = [];
    this.#signature = "";
    this.#citations = [];
  }
}

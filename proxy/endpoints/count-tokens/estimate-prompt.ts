/**
 * Collects the text of a prompt for the tokenizer, and adds a number of tokens for each part that is no text (PURE).
 *
 * The estimate is high rather than low, because callers use it to stay below a context window. Names and schemas of
 * tools count whole, since providers put them before the model as text.
 */

import { attachmentTokens } from "#proxy/admit/estimate-cost";
import type { ChatCall } from "#proxy/formats/format";
import { withoutAttributionLine } from "#proxy/formats/messages/translate/request/read/attribution";
import { isObject, type JsonObject, member } from "#proxy/json/json-value";
import { readPrompt } from "#proxy/settle/prompt-text";

/** A provider's own words around tools, in a prompt that has any. */
const toolFrameTokens = 350;
const messageFrameTokens = 4;
/** Tokenizers differ; the public ones count less than those of the vendors that do not publish theirs. */
const margin = 1.15;

/** Text whose tokens count: strings of the body, and the tools as JSON. */
export function countedText(call: ChatCall): string {
  const body: unknown = JSON.parse(call.body.bytes.toString("utf8"));
  const tools = isObject(body) ? body["tools"] : undefined;
  const { text } = readPrompt(isObject(body) ? withoutAttributionIn(call.body.bytes, body) : call.body.bytes);
  return tools === undefined ? text : `${text}\n${JSON.stringify(tools)}`;
}

/** Claude Code's line is sent to no upstream but those of its own format, and its hash would make each count another one. */
function withoutAttributionIn(bytes: Buffer, body: JsonObject): Buffer {
  const { system } = body;
  if (typeof system !== "string" && !Array.isArray(system)) return bytes;
  const shorter = typeof system === "string" ? withoutAttributionLine(system) : system.flatMap(withoutLineInBlock);
  return Buffer.from(JSON.stringify({ ...body, system: shorter }));
}

/** Without the block, where it holds nothing else. */
function withoutLineInBlock(block: unknown): readonly unknown[] {
  const text = member(block, "text");
  if (!isObject(block) || typeof text !== "string") return [block];
  const shorter = withoutAttributionLine(text);
  return shorter.trim() === "" ? [] : [{ ...block, text: shorter }];
}

/** @param textTokens of `countedText`, by a public tokenizer */
export function estimatePrompt(call: ChatCall, textTokens: number): number {
  const body: unknown = JSON.parse(call.body.bytes.toString("utf8"));
  const messages = isObject(body) ? (body["messages"] ?? body["contents"]) : undefined;
  const frames = Array.isArray(messages) ? messages.length : 1;
  const hasTools = isObject(body) && Array.isArray(body["tools"]) && body["tools"].length > 0;
  return (
    Math.ceil(textTokens * margin) +
    frames * messageFrameTokens +
    call.attachments * attachmentTokens +
    (hasTools ? toolFrameTokens : 0)
  );
}

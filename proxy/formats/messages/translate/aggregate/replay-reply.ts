/**
 * Replays a whole message as a stream (docs/design/messages.md 7).
 *
 * Every frame has its `event:` line, and blocks come one after another with dense indexes. Each block starts with the
 * members that no delta carries, and its deltas carry the rest; reason and usage come together at the end. Members of
 * the message that also have a place in the end are in both, as the official SDK uses the later one.
 */

import { only, without } from "#proxy/formats/aggregate/members";
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";

const streamedInput: ReadonlySet<unknown> = new Set(["tool_use", "server_tool_use", "mcp_tool_use"]);

/** @throws InvalidReply for content that is none */
export function* replayReply(message: JsonObject): Generator<string, void> {
  const content = message["content"];
  if (!Array.isArray(content)) throw new InvalidReply("the message has no content");
  yield frame("message_start", { message: begun(message) });
  yield frame("ping", {});
  for (const [index, block] of content.entries()) yield* replayBlock(block, index);
  yield frame("message_delta", {
    delta: ending(message, content),
    usage: { output_tokens: 0, ...(isObject(message["usage"]) ? message["usage"] : {}) },
    ...only(message, "context_management"),
  });
  yield frame("message_stop", {});
}

/** Nothing has been said yet, and of its usage only the prompt is known. */
function begun(message: JsonObject): JsonObject {
  const { usage } = message;
  const counted = isObject(usage) ? usage : {};
  return {
    ...without(message, "usage"),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...(Object.hasOwn(message, "stop_details") ? { stop_details: null } : {}),
    usage: { ...counted, output_tokens: counted["output_tokens"] === 0 ? 0 : 1 },
  };
}

function ending(message: JsonObject, content: readonly unknown[]): JsonObject {
  const { stop_reason, stop_sequence } = message;
  const hasCalls = content.some((block) => isObject(block) && block["type"] === "tool_use");
  return {
    // A whole reply has ended, also where a vendor does not say why.
    stop_reason: typeof stop_reason === "string" ? stop_reason : hasCalls ? "tool_use" : "end_turn",
    stop_sequence: stop_sequence ?? null,
    ...only(message, "stop_details", "container"),
  };
}

function* replayBlock(block: unknown, index: number): Generator<string, void> {
  if (!isObject(block)) throw new InvalidReply("a block is not an object");
  const { start, deltas } = pieces(block);
  yield frame("content_block_start", { index, content_block: start });
  for (const delta of deltas) yield frame("content_block_delta", { index, delta });
  yield frame("content_block_stop", { index });
}

interface Pieces {
  readonly start: JsonObject;
  readonly deltas: readonly JsonObject[];
}

/** Types without deltas of their own, unknown ones too, are complete in their start. */
function pieces(block: JsonObject): Pieces {
  const { type } = block;
  if (type === "text") return textPieces(block);
  if (type === "thinking") {
    return {
      start: { ...block, ...emptyText(block, "thinking"), ...emptyText(block, "signature") },
      deltas: [...said(block, "thinking", "thinking_delta"), ...said(block, "signature", "signature_delta")],
    };
  }
  if (type === "compaction") return compactionPieces(block);
  if (streamedInput.has(type) && isObject(block["input"])) return inputPieces(block, block["input"]);
  return { start: block, deltas: [] };
}

function textPieces(block: JsonObject): Pieces {
  const citations = asList(block["citations"]);
  return {
    start: { ...block, ...emptyText(block, "text"), ...(citations.length > 0 ? { citations: [] } : {}) },
    deltas: [
      ...said(block, "text", "text_delta"),
      ...citations.map((citation) => ({ type: "citations_delta", citation })),
    ],
  };
}

/** One delta says it all, null as well. */
function compactionPieces(block: JsonObject): Pieces {
  const told = only(block, "content", "encrypted_content");
  const empty = Object.fromEntries(Object.keys(told).map((name) => [name, null]));
  return { start: { ...block, ...empty }, deltas: [{ type: "compaction_delta", ...told }] };
}

/** A call without arguments has one piece, which is empty. */
function inputPieces(block: JsonObject, input: JsonObject): Pieces {
  const json = JSON.stringify(input);
  return {
    start: { ...block, input: {} },
    deltas: [{ type: "input_json_delta", partial_json: json === "{}" ? "" : json }],
  };
}

function emptyText(block: JsonObject, name: string): JsonObject {
  return typeof block[name] === "string" ? { [name]: "" } : {};
}

function said(block: JsonObject, name: string, type: string): readonly JsonObject[] {
  const text = block[name];
  return typeof text === "string" && text !== "" ? [{ type, [name]: text }] : [];
}

function frame(type: string, members: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

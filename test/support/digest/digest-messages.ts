/** Step 2 of the digest for messages. */
import { readError } from "./error-class.ts";
import { addCitation, at, type Digest, list, noteOrder, number, parseArguments, text } from "./facts.ts";
import type { ParsedReply } from "./parse-reply.ts";

interface Block {
  readonly start: unknown;
  text: string;
  thinking: string;
  signature: string;
  pieces: string;
  readonly citations: unknown[];
}

const finishes: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
  pause_turn: "pause",
  compaction: "pause",
};

/** @returns whether a stop sequence ended the message: then tool calls do not make it `tool_calls` */
export function digestMessages(reply: ParsedReply, digest: Digest): boolean {
  digest.choices = 1;
  const blocks = new Map<unknown, Block>();
  const usage: Record<string, unknown> = {};
  let stop: unknown = at(reply.body, "stop_reason");
  if (reply.events === undefined) {
    if (at(reply.body, "type") === "error") digest.error = readError(reply.body);
    Object.assign(usage, at(reply.body, "usage"));
    list(at(reply.body, "content")).forEach((block, index) => {
      blocks.set(index, { ...openBlock(block), citations: [...list(at(block, "citations"))] });
    });
  }
  for (const { json } of reply.events ?? []) {
    const type = at(json, "type");
    if (type === "error") digest.error ??= readError(json);
    if (type === "message_start") mergeUsage(usage, at(json, "message", "usage"));
    if (type === "content_block_start") blocks.set(at(json, "index"), openBlock(at(json, "content_block")));
    if (type === "content_block_delta") extend(blocks.get(at(json, "index")), at(json, "delta"));
    if (type === "message_delta") {
      stop = at(json, "delta", "stop_reason") ?? stop;
      mergeUsage(usage, at(json, "usage"));
    }
  }
  for (const block of blocks.values()) readBlock(digest, block);
  if (typeof stop === "string") digest.finish = finishes[stop] ?? "other";
  readUsage(digest, usage);
  return stop === "stop_sequence";
}

function openBlock(start: unknown): Block {
  const signature = text(at(start, "signature"));
  return {
    start,
    text: text(at(start, "text")),
    thinking: text(at(start, "thinking")),
    signature,
    pieces: "",
    citations: [],
  };
}

function extend(block: Block | undefined, delta: unknown): void {
  if (block === undefined) return;
  block.text += text(at(delta, "text"));
  block.thinking += text(at(delta, "thinking"));
  block.signature += text(at(delta, "signature"));
  block.pieces += text(at(delta, "partial_json"));
  const citation = at(delta, "citation");
  if (citation !== undefined) block.citations.push(citation);
}

function readBlock(digest: Digest, block: Block): void {
  const type = text(at(block.start, "type"));
  for (const citation of block.citations) {
    addCitation(digest, at(citation, "url") ?? at(citation, "source"), at(citation, "title"));
  }
  if (type === "text" && block.text !== "") noteOrder(digest, "text");
  if (type === "tool_use") noteOrder(digest, "tool");
  if (type === "text") digest.text += block.text;
  else if (type === "thinking") {
    digest.reasoning += block.thinking;
    if (block.signature !== "") digest.signatures.push(block.signature);
  } else if (type === "redacted_thinking") digest.signatures.push(text(at(block.start, "data")));
  else if (type === "tool_use") {
    const args = block.pieces === "" ? (at(block.start, "input") ?? {}) : parseArguments(block.pieces);
    digest.tools.push({ id: text(at(block.start, "id")) || null, name: text(at(block.start, "name")), args });
  } else digest.server_tools.push(type);
}

function mergeUsage(usage: Record<string, unknown>, later: unknown): void {
  for (const [name, value] of Object.entries(later ?? {})) if (value !== null) usage[name] = value;
}

function readUsage(digest: Digest, usage: Record<string, unknown>): void {
  if (Object.keys(usage).length === 0) return;
  const written = number(usage["cache_creation_input_tokens"]);
  const read = number(usage["cache_read_input_tokens"]);
  const thinking = at(usage, "output_tokens_details", "thinking_tokens");
  digest.usage = {
    input: number(usage["input_tokens"]) + written + read,
    output: number(usage["output_tokens"]),
    cache_read: read,
    cache_write: written,
    reasoning: typeof thinking === "number" ? thinking : null,
  };
}

/** Step 2 of the digest for the responses API. */
import { createHash } from "node:crypto";
import { readError } from "./error-class.ts";
import { addCitation, at, type Digest, list, noteOrder, number, parseArguments, text } from "./facts.ts";
import type { ParsedReply } from "./parse-reply.ts";

export function digestResponses(reply: ParsedReply, digest: Digest): void {
  digest.choices = 1;
  let response: unknown = reply.body;
  let items: readonly unknown[] = list(at(reply.body, "output"));
  if (reply.events !== undefined) {
    const done = new Map<number, unknown>();
    const open = new Map<number, { item: unknown; pieces: string }>();
    let sequence = -1;
    for (const { name, json } of reply.events) {
      const type = text(at(json, "type")) || text(name);
      const index = number(at(json, "output_index"));
      if (type === "error") digest.error ??= readError(json);
      if (type === "response.output_item.added") open.set(index, { item: at(json, "item"), pieces: "" });
      if (type === "response.output_item.done") done.set(index, at(json, "item"));
      const opened = open.get(index);
      if (type.endsWith(".delta") && opened !== undefined) opened.pieces += text(at(json, "delta"));
      if (/^response\.(completed|incomplete|failed|done)$/.test(type)) response = at(json, "response");
      const number_ = at(json, "sequence_number");
      if (typeof number_ === "number" && number_ < sequence) digest.warnings.push("sequence_number falls");
      if (typeof number_ === "number") sequence = number_;
    }
    for (const [index, { item, pieces }] of open) if (!done.has(index)) done.set(index, rebuilt(item, pieces));
    items = [...done.entries()].sort(([left], [right]) => left - right).map(([, item]) => item);
    if (response === undefined && digest.error === null) digest.warnings.push("no terminal event");
  }
  for (const item of items) readItem(digest, item);
  readEnd(digest, response);
}

/** An item that was cut before it was done, from its deltas. */
function rebuilt(item: unknown, pieces: string): unknown {
  const type = at(item, "type");
  const known = typeof item === "object" && item !== null ? item : {};
  if (type === "message") return { ...known, content: [{ type: "output_text", text: pieces }] };
  if (type === "reasoning") return { ...known, summary: [{ text: pieces }] };
  if (type === "custom_tool_call") return { ...known, input: pieces };
  return { ...known, arguments: pieces };
}

function readItem(digest: Digest, item: unknown): void {
  const type = text(at(item, "type"));
  const sealed = at(item, "encrypted_content");
  if (typeof sealed === "string" && sealed !== "") digest.signatures.push(sealed);
  if (type === "message") {
    readMessage(digest, item);
    return;
  }
  if (type === "reasoning") {
    const texts = list(at(item, "content")).length > 0 ? list(at(item, "content")) : list(at(item, "summary"));
    for (const part of texts) digest.reasoning += text(at(part, "text"));
    return;
  }
  if (type === "function_call" || type === "custom_tool_call") {
    const args = type === "function_call" ? parseArguments(at(item, "arguments")) : { $custom: at(item, "input") };
    noteOrder(digest, "tool");
    digest.tools.push({ id: text(at(item, "call_id")) || null, name: text(at(item, "name")), args });
    return;
  }
  digest.server_tools.push(type);
  const result = at(item, "result");
  if (type === "image_generation_call" && typeof result === "string") {
    const sha256 = createHash("sha256").update(Buffer.from(result, "base64")).digest("hex");
    digest.media.push({ mime: `image/${text(at(item, "output_format")) || "png"}`, sha256 });
  }
}

function readMessage(digest: Digest, item: unknown): void {
  for (const part of list(at(item, "content"))) {
    if (text(at(part, "text")) !== "" || text(at(part, "refusal")) !== "") noteOrder(digest, "text");
    if (at(part, "type") === "output_text") digest.text += text(at(part, "text"));
    if (at(part, "type") === "refusal") digest.refusal += text(at(part, "refusal"));
    for (const note of list(at(part, "annotations"))) addCitation(digest, at(note, "url"), at(note, "title"));
  }
}

function readEnd(digest: Digest, response: unknown): void {
  const status = at(response, "status");
  const error = at(response, "error");
  if (status === "failed" || (typeof error === "object" && error !== null)) digest.error ??= readError(response);
  const reason = at(response, "incomplete_details", "reason");
  if (status === "completed") digest.finish = "stop";
  if (status === "incomplete") {
    const isLength = reason === "max_output_tokens" || reason === "max_tokens";
    digest.finish = isLength ? "length" : reason === "content_filter" ? "content_filter" : "other";
  }
  const usage = at(response, "usage");
  if (typeof usage !== "object" || usage === null) return;
  const reasoning = at(usage, "output_tokens_details", "reasoning_tokens");
  digest.usage = {
    input: number(at(usage, "input_tokens")),
    output: number(at(usage, "output_tokens")),
    cache_read: number(at(usage, "input_tokens_details", "cached_tokens")),
    cache_write: 0,
    reasoning: typeof reasoning === "number" ? reasoning : null,
  };
}

/** Step 2 of the digest for chat completions. */
import { createHash } from "node:crypto";
import { readError } from "./error-class.ts";
import { addCitation, at, type Digest, list, noteOrder, number, parseArguments, text } from "./facts.ts";
import type { ParsedReply } from "./parse-reply.ts";

interface OpenCall {
  readonly index: unknown;
  id: string;
  name: string;
  pieces: string;
  /** Free text of a custom tool; undefined for a function. */
  custom?: string;
}

const finishes: Readonly<Record<string, string>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
};

export function digestChat(reply: ParsedReply, digest: Digest): void {
  const chunks = reply.events?.map((event) => event.json) ?? [reply.body];
  const calls: OpenCall[] = [];
  const choices = new Set<unknown>();
  const audio: string[] = [];
  for (const chunk of chunks) {
    const error = at(chunk, "error");
    if (error !== undefined && error !== null) digest.error ??= readError(chunk);
    for (const url of list(at(chunk, "citations"))) addCitation(digest, url, null);
    readUsage(digest, at(chunk, "usage") ?? at(chunk, "x_groq", "usage"));
    for (const choice of list(at(chunk, "choices"))) {
      const index = at(choice, "index") ?? 0;
      choices.add(index);
      if (index !== 0) continue;
      const finish = at(choice, "finish_reason");
      if (typeof finish === "string") digest.finish = finishes[finish] ?? "other";
      readMessage(digest, at(choice, "delta") ?? at(choice, "message"), calls, audio, reply.events === undefined);
    }
  }
  digest.choices = Math.max(1, choices.size);
  digest.tools = calls.map(({ id, name, pieces, custom }) => ({
    id: id || null,
    name,
    args: custom === undefined ? parseArguments(pieces) : { $custom: custom },
  }));
  const sound = audio.join("");
  if (sound !== "") digest.media.push({ mime: "audio", sha256: sha256(sound) });
  if (reply.events !== undefined && !reply.hasDone) digest.warnings.push("no [DONE]");
}

function sha256(base64: string): string {
  return createHash("sha256").update(Buffer.from(base64, "base64")).digest("hex");
}

function readMessage(digest: Digest, message: unknown, calls: OpenCall[], audio: string[], isBody: boolean): void {
  const content = at(message, "content");
  const before = digest.text + digest.refusal;
  digest.text += text(content);
  for (const part of list(content)) {
    if (at(part, "type") === "text") digest.text += text(at(part, "text"));
    for (const thought of list(at(part, "thinking"))) digest.reasoning += text(at(thought, "text"));
  }
  digest.reasoning += text(at(message, "reasoning_content") ?? at(message, "reasoning"));
  digest.refusal += text(at(message, "refusal"));
  if (digest.text + digest.refusal !== before) noteOrder(digest, "text");
  for (const note of list(at(message, "annotations"))) {
    addCitation(digest, at(note, "url_citation", "url"), at(note, "url_citation", "title"));
  }
  for (const image of list(at(message, "images"))) readImage(digest, text(at(image, "image_url", "url")));
  const known = calls.length;
  for (const call of list(at(message, "tool_calls"))) readCall(calls, call, isBody);
  const legacy = at(message, "function_call");
  if (legacy !== undefined && legacy !== null) readCall(calls, { index: "legacy", function: legacy }, isBody);
  for (let call = known; call < calls.length; call += 1) noteOrder(digest, "tool");
  audio.push(text(at(message, "audio", "data")));
}

/** Convention of several servers for produced images: data URLs beside the text. */
function readImage(digest: Digest, url: string): void {
  const data = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  if (data !== null) digest.media.push({ mime: data[1] ?? "", sha256: sha256(data[2] ?? "") });
  else if (url !== "") digest.media.push({ mime: "image", url });
}

function readCall(calls: OpenCall[], piece: unknown, isBody: boolean): void {
  const index = at(piece, "index");
  const id = text(at(piece, "id"));
  let open = isBody || index === undefined ? undefined : calls.findLast((call) => call.index === index);
  if (open === undefined || (id !== "" && open.id !== "" && id !== open.id)) {
    open = { index, id: "", name: "", pieces: "" };
    calls.push(open);
  }
  if (id !== "") open.id = id;
  open.name += text(at(piece, "function", "name") ?? at(piece, "custom", "name"));
  const input = at(piece, "custom", "input");
  if (input !== undefined) open.custom = (open.custom ?? "") + text(input);
  const pieces = at(piece, "function", "arguments");
  open.pieces += typeof pieces === "object" && pieces !== null ? JSON.stringify(pieces) : text(pieces);
}

function readUsage(digest: Digest, usage: unknown): void {
  if (typeof usage !== "object" || usage === null) return;
  const input = number(at(usage, "prompt_tokens"));
  const completion = number(at(usage, "completion_tokens"));
  const reasoning = at(usage, "completion_tokens_details", "reasoning_tokens");
  const isApart = number(reasoning) > 0 && at(usage, "total_tokens") === input + completion + number(reasoning);
  digest.usage = {
    input,
    output: isApart ? completion + number(reasoning) : completion,
    cache_read: number(at(usage, "prompt_tokens_details", "cached_tokens") ?? at(usage, "prompt_cache_hit_tokens")),
    cache_write: 0,
    reasoning: typeof reasoning === "number" ? reasoning : null,
  };
}

/** Step 2 of the digest for generateContent. */
import { createHash } from "node:crypto";
import { readError } from "./error-class.ts";
import { addCitation, at, type Digest, list, noteOrder, number, type ToolFact, text } from "./facts.ts";
import type { ParsedReply } from "./parse-reply.ts";

const filtered = new Set([
  "SAFETY",
  "RECITATION",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "LANGUAGE",
  "IMAGE_SAFETY",
  "MODEL_ARMOR",
]);

export function digestGemini(reply: ParsedReply, digest: Digest): void {
  const frames = reply.events?.map((event) => event.json) ?? (Array.isArray(reply.body) ? reply.body : [reply.body]);
  const usage: Record<string, unknown> = {};
  const candidates = new Set<unknown>();
  const calls = new CallReader(digest.tools);
  for (const frame of frames) {
    if (at(frame, "error") !== undefined) digest.error ??= readError(frame);
    if (at(frame, "promptFeedback", "blockReason") !== undefined) digest.finish = "content_filter";
    Object.assign(usage, at(frame, "usageMetadata"));
    for (const candidate of list(at(frame, "candidates"))) {
      const index = at(candidate, "index") ?? 0;
      candidates.add(index);
      if (index === 0) readCandidate(digest, candidate, calls);
    }
  }
  digest.choices = candidates.size;
  readUsage(digest, usage);
}

function readCandidate(digest: Digest, candidate: unknown, calls: CallReader): void {
  const finish = at(candidate, "finishReason");
  if (typeof finish === "string") {
    const other = finish === "MAX_TOKENS" ? "length" : filtered.has(finish) ? "content_filter" : "other";
    digest.finish = finish === "STOP" ? "stop" : other;
  }
  for (const part of list(at(candidate, "content", "parts"))) readPart(digest, part, calls);
  for (const chunk of list(at(candidate, "groundingMetadata", "groundingChunks"))) {
    const source = at(chunk, "web") ?? at(chunk, "maps") ?? at(chunk, "retrievedContext");
    addCitation(digest, at(source, "uri"), at(source, "title"));
  }
  const cited = at(candidate, "citationMetadata");
  for (const source of [...list(at(cited, "citationSources")), ...list(at(cited, "citations"))]) {
    addCitation(digest, at(source, "uri"), at(source, "title"));
  }
}

function readPart(digest: Digest, part: unknown, calls: CallReader): void {
  if (at(part, "thought") === true) digest.reasoning += text(at(part, "text"));
  else {
    if (text(at(part, "text")) !== "") noteOrder(digest, "text");
    digest.text += text(at(part, "text"));
  }
  const signature = at(part, "thoughtSignature");
  if (typeof signature === "string" && signature !== "") digest.signatures.push(signature);
  const call = at(part, "functionCall");
  if (typeof at(call, "name") === "string") noteOrder(digest, "tool");
  if (call !== undefined) calls.read(call);
  for (const kind of ["executableCode", "codeExecutionResult"])
    if (at(part, kind) !== undefined) digest.server_tools.push(kind);
  const data = at(part, "inlineData");
  if (data !== undefined) {
    const sha256 = createHash("sha256")
      .update(Buffer.from(text(at(data, "data")), "base64"))
      .digest("hex");
    digest.media.push({ mime: text(at(data, "mimeType")), sha256 });
  }
  const file = at(part, "fileData");
  if (file !== undefined) digest.media.push({ mime: text(at(file, "mimeType")), url: text(at(file, "fileUri")) });
}

/** Function calls, whole or in Vertex's pieces (`partialArgs` addressed by a path of one member). */
class CallReader {
  readonly #tools: ToolFact[];
  #open: Record<string, unknown> | undefined;

  constructor(tools: ToolFact[]) {
    this.#tools = tools;
  }

  read(call: unknown): void {
    const name = at(call, "name");
    if (typeof name === "string") {
      const args = at(call, "args");
      this.#open = { ...(typeof args === "object" ? args : {}) };
      this.#tools.push({ id: text(at(call, "id")) || null, name, args: this.#open });
    }
    for (const partial of list(at(call, "partialArgs"))) {
      const path = text(at(partial, "jsonPath")).replace(/^\$\./, "");
      if (this.#open === undefined) continue;
      const piece = at(partial, "stringValue");
      if (typeof piece === "string") this.#open[path] = text(this.#open[path]) + piece;
      else this.#open[path] = at(partial, "numberValue") ?? at(partial, "boolValue") ?? this.#open[path] ?? null;
    }
  }
}

function readUsage(digest: Digest, usage: Record<string, unknown>): void {
  if (!["promptTokenCount", "candidatesTokenCount", "totalTokenCount"].some((name) => name in usage)) return;
  const thoughts = usage["thoughtsTokenCount"];
  digest.usage = {
    input: number(usage["promptTokenCount"]) + number(usage["toolUsePromptTokenCount"]),
    output: number(usage["candidatesTokenCount"]) + number(thoughts),
    cache_read: number(usage["cachedContentTokenCount"]),
    cache_write: 0,
    reasoning: typeof thoughts === "number" ? thoughts : null,
  };
}

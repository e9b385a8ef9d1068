/** Writes output items of the responses format, whole or streamed (docs/design/responses.md 4). */

import type { ClientRunTool } from "#proxy/formats/responses/translate/client-run/client-run-tools";
import { argumentsObject } from "#proxy/json/json-text";
import type { JsonObject } from "#proxy/json/json-value";
import type { Citation, TokenLogprob } from "#proxy/neutral/reply";

export type ItemStatus = "in_progress" | "completed" | "incomplete";

export function outputText(
  text: string,
  annotations: readonly JsonObject[],
  logprobs: readonly JsonObject[],
): JsonObject {
  return { type: "output_text", text, annotations, logprobs };
}

export function refusalPart(refusal: string): JsonObject {
  return { type: "refusal", refusal };
}

export function messageItem(id: string, status: ItemStatus, content: readonly JsonObject[]): JsonObject {
  return { type: "message", id, status, role: "assistant", content };
}

/** @param envelope the provider's state, sealed; absent while the item is open */
export function reasoningItem(id: string, text: string, envelope?: string): JsonObject {
  return {
    type: "reasoning",
    id,
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    ...(envelope === undefined ? {} : { encrypted_content: envelope }),
  };
}

/** A call as the client declared its tool. */
export interface CallIdentity {
  readonly id: string;
  readonly callId: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly tool: "function" | "custom";
  /** Set where the client runs it under a type of its own. */
  readonly run?: ClientRunTool | undefined;
}

export function callItem(call: CallIdentity, given: string, status: ItemStatus): JsonObject {
  if (call.run !== undefined) {
    const members = call.run.membersOf(argumentsObject(given) ?? {});
    return { type: `${call.run.type}_call`, id: call.id, call_id: call.callId, ...members, status };
  }
  const named = {
    id: call.id,
    call_id: call.callId,
    name: call.name,
    ...(call.namespace === undefined ? {} : { namespace: call.namespace }),
  };
  return call.tool === "custom"
    ? { type: "custom_tool_call", ...named, input: given, status }
    : { type: "function_call", ...named, arguments: given, status };
}

/** @param result base64; null while the item is open */
export function imageItem(id: string, mime: string, result: string | null): JsonObject {
  const status = result === null ? "in_progress" : "completed";
  return { type: "image_generation_call", id, status, output_format: mime.slice("image/".length), result };
}

/** @param queries none where the provider keeps them to itself: the schema asks for an action all the same */
export function searchItem(
  id: string,
  status: "in_progress" | "completed" | "failed",
  queries: readonly string[],
): JsonObject {
  return { type: "web_search_call", id, status, action: { type: "search", query: queries[0] ?? "", queries } };
}

export interface CodeRun {
  readonly id: string;
  readonly containerId: string;
  readonly code: string;
  readonly output: string | undefined;
}

export function codeItem({ id, containerId, code, output }: CodeRun, status: ItemStatus): JsonObject {
  const outputs = output === undefined ? null : [{ type: "logs", logs: output }];
  return { type: "code_interpreter_call", id, status, container_id: containerId, code, outputs };
}

/**
 * A source of a text.
 * @param offset where the citation's block begins in the text of its part; @param length of the block so far: a citation
 *   without offsets holds for the whole block
 */
export function urlCitation(citation: Citation, offset: number, length: number): JsonObject {
  return {
    type: "url_citation",
    url: citation.url,
    title: citation.title ?? "",
    start_index: offset + (citation.start ?? 0),
    end_index: offset + (citation.end ?? length),
  };
}

export function logprobEntry(entry: TokenLogprob): JsonObject {
  return { ...token(entry), top_logprobs: entry.top.map(token) };
}

function token(entry: Omit<TokenLogprob, "top">): JsonObject {
  const bytes = entry.bytes ?? [...Buffer.from(entry.token)];
  return { token: entry.token, logprob: entry.logprob, bytes };
}

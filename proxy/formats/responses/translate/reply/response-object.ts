/**
 * Builds the response object around the output: every member that a strict client decodes, echoed from the client's
 * body (docs/design/responses.md 4).
 *
 * Members that the request left out have the values that the API itself gives them. `usage` is null until the end.
 */

import type { ReplyContext } from "#proxy/formats/translator";
import { asObject, isObject, type JsonObject, member } from "#proxy/json/json-value";

export interface ResponseState {
  readonly id: string;
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly incompleteReason?: string | undefined;
  readonly error?: JsonObject | undefined;
  readonly output: readonly unknown[];
  readonly usage: JsonObject | null;
  /** As the upstream named it. */
  readonly serviceTier?: string | undefined;
}

export function responseObject(state: ResponseState, context: ReplyContext): JsonObject {
  const { clientBody: body, conversation, nowSeconds } = context;
  return {
    id: state.id,
    object: "response",
    created_at: nowSeconds,
    status: state.status,
    completed_at: state.status === "completed" ? nowSeconds : null,
    background: false,
    error: state.error ?? null,
    incomplete_details: state.incompleteReason === undefined ? null : { reason: state.incompleteReason },
    instructions: member(body, "instructions") ?? null,
    max_output_tokens: conversation.outputCap ?? null,
    max_tool_calls: integer(body, "max_tool_calls") ?? null,
    model: conversation.model,
    output: state.output,
    parallel_tool_calls: conversation.parallelTools ?? true,
    previous_response_id: text(body, "previous_response_id") ?? null,
    prompt_cache_key: conversation.promptCacheKey ?? null,
    reasoning: echoReasoning(body),
    safety_identifier: conversation.safetyIdentifier ?? null,
    service_tier: tierOf(state, conversation.serviceTier),
    // What is not kept cannot be gone on from, whatever the client asked.
    store: context.onResponse !== undefined && conversation.store !== false,
    temperature: conversation.sampling.temperature ?? 1,
    top_p: conversation.sampling.topP ?? 1,
    presence_penalty: conversation.sampling.presencePenalty ?? 0,
    frequency_penalty: conversation.sampling.frequencyPenalty ?? 0,
    top_logprobs: conversation.sampling.topLogprobs ?? 0,
    text: echoText(body),
    tool_choice: member(body, "tool_choice") ?? "auto",
    tools: echoTools(body),
    truncation: member(body, "truncation") === "auto" ? "auto" : "disabled",
    usage: state.usage,
    metadata: conversation.metadata ?? {},
    // A string or nothing: the published schema knows no null here.
    ...(conversation.user === undefined ? {} : { user: conversation.user }),
  };
}

function text(body: JsonObject, name: string): string | undefined {
  const value = member(body, name);
  return typeof value === "string" ? value : undefined;
}

function integer(body: JsonObject, name: string): number | undefined {
  const value = member(body, name);
  return typeof value === "number" && Number.isInteger(value) ? value : undefined;
}

function echoReasoning(body: JsonObject): JsonObject {
  const reasoning = asObject(member(body, "reasoning")) ?? {};
  const { generate_summary, ...rest } = reasoning;
  return { ...rest, effort: reasoning["effort"] ?? null, summary: reasoning["summary"] ?? generate_summary ?? null };
}

function echoText(body: JsonObject): JsonObject {
  const given = asObject(member(body, "text")) ?? {};
  const format = asObject(given["format"]) ?? { type: "text" };
  const isSchema = format["type"] === "json_schema";
  return {
    format: isSchema
      ? { ...format, description: format["description"] ?? null, strict: format["strict"] ?? false }
      : format,
    verbosity: given["verbosity"] ?? "medium",
  };
}

/** Function tools with all their members: clients decode them as required. */
function echoTools(body: JsonObject): readonly unknown[] {
  const tools = member(body, "tools") ?? [];
  const list: readonly unknown[] = Array.isArray(tools) ? tools : [tools];
  return list.map((tool) => {
    if (!isObject(tool)) return tool;
    if (tool["type"] === "mcp") {
      // Its credentials are the client's own, and a response is kept and logged in more places than a request.
      const { authorization: _token, headers: _headers, ...shown } = tool;
      return shown;
    }
    if ((tool["type"] ?? "function") !== "function") return tool;
    const { description, parameters, strict } = tool;
    return {
      ...tool,
      type: "function",
      description: description ?? null,
      parameters: parameters ?? null,
      strict: strict ?? null,
    };
  });
}

/** Tiers that the format knows. What another provider calls its usual tier is `default`. */
const tiers = new Set(["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"]);

function tierOf({ serviceTier, status }: ResponseState, asked: string | undefined): string {
  if (serviceTier !== undefined && serviceTier !== "auto") return tiers.has(serviceTier) ? serviceTier : "default";
  if (status === "in_progress") return asked !== undefined && tiers.has(asked) ? asked : "auto";
  return "default";
}

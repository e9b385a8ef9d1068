/**
 * Reads a responses client's body as a conversation (docs/design/responses.md 2, 3 and 5;
 * docs/design/translation.md 3 and 4).
 */

import {
  listOf,
  notCarried,
  optionalFlag,
  optionalNumber,
  optionalObject,
  optionalText,
  present,
  requiredText,
  wrongType,
  wrongValue,
} from "#proxy/formats/responses/translate/request/body-fields";
import { isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { Conversation, Effort, OutputFormat, ReasoningOptions, Sampling, Turn } from "#proxy/neutral/conversation";
import { isSet, unmappedIn } from "#proxy/neutral/losses/unmapped-members";
import { readCacheOptions, unmappedCacheOptions } from "#proxy/neutral/prompt-cache-options";
import { readItems } from "./read-items.ts";
import { readToolChoice, readTools } from "./read-tools.ts";
import { unmappedInBody } from "./unmapped-items.ts";

/** State that the provider would hold; without it the call means something else. */
const refused = ["previous_response_id", "conversation", "prompt"];

/** Everything read below, and what says nothing to a provider of another format. */
const known = new Set([
  ...refused,
  ...["model", "input", "instructions", "stream", "stream_options", "background", "tools", "tool_choice"],
  ...["parallel_tool_calls", "max_output_tokens", "temperature", "top_p", "top_k", "seed", "stop"],
  ...["presence_penalty", "frequency_penalty", "top_logprobs", "include", "reasoning", "text", "metadata", "user"],
  ...["safety_identifier", "service_tier", "store", "prompt_cache_key", "prompt_cache_retention", "truncation"],
  ...["prompt_cache_options", "context_management"],
]);

/** @throws GatewayError naming the client's field */
export function readRequest(body: JsonObject): Conversation {
  for (const name of refused) {
    const value = present(body, name);
    if (value !== undefined && !(Array.isArray(value) && value.length === 0)) notCarried(name);
  }
  if (body["background"] === true) notCarried("background");
  const text = optionalObject(body, "text", "text") ?? {};
  return {
    model: requiredText(body, "model", "model"),
    stream: body["stream"] === true,
    turns: [...readInstructions(body), ...readInput(body)],
    tools: readTools(body),
    toolChoice: readToolChoice(body),
    parallelTools: optionalFlag(body, "parallel_tool_calls", "parallel_tool_calls"),
    sampling: readSampling(body),
    outputCap: optionalNumber(body, "max_output_tokens", "max_output_tokens"),
    reasoning: readReasoningOptions(body),
    outputFormat: readOutputFormat(text),
    verbosity: optionalText(text, "verbosity", "text.verbosity"),
    user: readUser(body),
    safetyIdentifier: optionalText(body, "safety_identifier", "safety_identifier"),
    metadata: readMetadata(body),
    promptCacheKey: optionalText(body, "prompt_cache_key", "prompt_cache_key"),
    promptCacheRetention: optionalText(body, "prompt_cache_retention", "prompt_cache_retention"),
    promptCacheOptions: readCacheOptions(body["prompt_cache_options"]),
    serviceTier: optionalText(body, "service_tier", "service_tier"),
    store: optionalFlag(body, "store", "store"),
    unmapped: readUnmapped(body),
    ...(Number(body["top_logprobs"]) > 0 && !includesLogprobs(body) ? { clientSpelling: countedLogprobs } : {}),
  };
}

function readInstructions(body: JsonObject): readonly Turn[] {
  const value = present(body, "instructions");
  if (value === undefined || value === "") return [];
  if (typeof value === "string") {
    return [{ role: "system", parts: [{ kind: "text", text: value, where: "instructions" }] }];
  }
  return Array.isArray(value) ? readItems(value, "instructions") : wrongType("instructions", "a string");
}

/** A text, items, or one item alone (docs/design/interface.md 2.1). */
function readInput(body: JsonObject): readonly Turn[] {
  const value = present(body, "input");
  if (value === undefined) return [];
  if (typeof value === "string") return [{ role: "user", parts: [{ kind: "text", text: value, where: "input" }] }];
  if (Array.isArray(value)) return readItems(value, "input");
  return isObject(value) ? readItems([value], "input") : wrongType("input", "a string or an array");
}

/** A count says that they are wanted. */
const countedLogprobs = { logprobs: "top_logprobs" } as const;

function includesLogprobs(body: JsonObject): boolean {
  return listOf(body, "include", "include").includes("message.output_text.logprobs");
}

/**
 * Sampling that the API itself does not know is what clients of protocol A may still say
 * (docs/design/interface.md 2.2).
 */
function readSampling(body: JsonObject): Sampling {
  const number = (name: string): number | undefined => optionalNumber(body, name, name);
  const topLogprobs = number("top_logprobs");
  return {
    temperature: number("temperature"),
    topP: number("top_p"),
    topK: number("top_k"),
    seed: number("seed"),
    presencePenalty: number("presence_penalty"),
    frequencyPenalty: number("frequency_penalty"),
    stop: readStop(body),
    logprobs: includesLogprobs(body) || (topLogprobs ?? 0) > 0 ? true : undefined,
    topLogprobs,
  };
}

function readStop(body: JsonObject): readonly string[] | undefined {
  const value = present(body, "stop");
  if (value === undefined) return undefined;
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.map((text) => (typeof text === "string" ? text : wrongType("stop", "a string or an array of strings")));
}

const efforts = ["minimal", "low", "medium", "high", "xhigh", "max"] as const;

function isEffort(value: string): value is Effort {
  return efforts.some((effort) => effort === value);
}

function readReasoningOptions(body: JsonObject): ReasoningOptions | undefined {
  const reasoning = optionalObject(body, "reasoning", "reasoning");
  if (reasoning === undefined) return undefined;
  const effort = optionalText(reasoning, "effort", "reasoning.effort");
  const summary =
    optionalText(reasoning, "summary", "reasoning.summary") ??
    optionalText(reasoning, "generate_summary", "reasoning.generate_summary");
  const shown = summary === undefined ? {} : { show: true, summary };
  if (effort === undefined) return summary === undefined ? undefined : { mode: "auto", ...shown };
  if (effort === "none") return { mode: "off", ...shown };
  if (!isEffort(effort)) return wrongValue("reasoning.effort", `expected none or one of ${efforts.join(", ")}.`);
  return { mode: "on", effort, ...shown };
}

function readOutputFormat(text: JsonObject): OutputFormat | undefined {
  const format = optionalObject(text, "format", "text.format");
  switch (format?.["type"]) {
    case undefined:
    case "text":
      return undefined;
    case "json_object":
      return { kind: "json" };
    case "json_schema":
      break;
    default:
      return wrongValue("text.format.type", "expected text, json_object or json_schema.");
  }
  if (format === undefined) return undefined;
  const schema = optionalObject(format, "schema", "text.format.schema");
  return {
    kind: "schema",
    name: optionalText(format, "name", "text.format.name"),
    schema: schema ?? wrongType("text.format.schema", "an object"),
    strict: optionalFlag(format, "strict", "text.format.strict"),
    description: optionalText(format, "description", "text.format.description"),
    where: "text.format",
  };
}

/** A text, or an object that holds one (docs/design/interface.md 2.1). */
function readUser(body: JsonObject): string | undefined {
  const user = present(body, "user");
  if (user === undefined || typeof user === "string") return user;
  if (!isObject(user)) return wrongType("user", "a string or an object");
  const named = ["id", "user_id", "name"].map((name) => present(user, name)).find((it) => typeof it === "string");
  return typeof named === "string" ? named : JSON.stringify(user);
}

function readMetadata(body: JsonObject): Readonly<Record<string, string>> | undefined {
  const metadata = optionalObject(body, "metadata", "metadata");
  if (metadata === undefined) return undefined;
  const entries = Object.entries(metadata).filter(([, value]) => value !== null);
  // Defines own members only: `__proto__` is a name like any other.
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

/** Values of `include` that are carried, or that every response of the gateway holds anyway. */
const includable = new Set<unknown>(["reasoning.encrypted_content", "message.output_text.logprobs"]);

/**
 * Compaction only saves context: without it the model sees more, and nothing that the client did not send.
 * @throws GatewayError for other ways to manage it: of those nobody knows what the call would mean without
 */
function wantsCompaction(body: JsonObject): boolean {
  const value = present(body, "context_management");
  if (!isSet(value)) return false;
  const isCompaction = Array.isArray(value) && value.every((entry) => member(entry, "type") === "compaction");
  return isCompaction || notCarried("context_management");
}

const knownReasoning = new Set(["effort", "summary", "generate_summary"]);
const knownText = new Set(["format", "verbosity"]);
const knownFormat = new Set(["type", "name", "description", "schema", "strict"]);

function readUnmapped(body: JsonObject): readonly string[] {
  const unmapped = Object.keys(body).filter((name) => !known.has(name) && isSet(body[name]));
  if (wantsCompaction(body)) unmapped.push("context_management");
  if (body["truncation"] === "auto") unmapped.push("truncation");
  if (listOf(body, "include", "include").some((value) => !includable.has(value))) unmapped.push("include");
  return [
    ...unmapped,
    ...unmappedIn(body["reasoning"], knownReasoning, "reasoning"),
    ...unmappedIn(body["text"], knownText, "text"),
    ...unmappedIn(member(body["text"], "format"), knownFormat, "text.format"),
    ...unmappedCacheOptions(body["prompt_cache_options"]),
    ...unmappedInBody(body),
  ];
}

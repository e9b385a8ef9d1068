/**
 * Reads a client's chat completions body as a conversation (docs/design/chat-completions.md 2,
 * docs/design/translation.md 3). `CallFormat.readCall` has checked types and ranges.
 */
import { asList, asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { Conversation, OutputFormat, Sampling } from "#proxy/neutral/conversation";
import { isSet } from "#proxy/neutral/losses/unmapped-members";
import { readCacheOptions, unmappedCacheOptions } from "#proxy/neutral/prompt-cache-options";
import { readCacheHint } from "./read-content.ts";
import { readMessages } from "./read-messages.ts";
import { isUnknownEffort, readReasoningOptions, reasoningMembers } from "./read-reasoning-options.ts";
import { readToolChoice, readTools } from "./read-tools.ts";
import { missing, unsupported, wrongType, wrongValue } from "./refusals.ts";
import { unmappedInBody } from "./unmapped-parts.ts";

/** @throws GatewayError naming the client's field */
export function readRequest(body: JsonObject): Conversation {
  refuseState(body);
  const usesLegacyFunctions = asList(body["functions"]).length > 0;
  const cap = numberOf(body["max_completion_tokens"]);
  const capIsVisibleText = cap === undefined && numberOf(body["max_tokens"]) !== undefined;
  return {
    model: asText(body["model"]),
    stream: body["stream"] === true,
    turns: readMessages(asList(body["messages"])),
    tools: readTools(body),
    toolChoice: readToolChoice(body),
    // The older form of responses has room for one call.
    parallelTools: usesLegacyFunctions ? false : flagOf(body["parallel_tool_calls"]),
    sampling: readSampling(body),
    outputCap: cap ?? numberOf(body["max_tokens"]),
    outputCapIsVisibleText: capIsVisibleText ? true : undefined,
    reasoning: readReasoningOptions(body),
    outputFormat: readOutputFormat(body["response_format"]),
    verbosity: textOf(body["verbosity"]),
    modalities: readModalities(body["modalities"]),
    audioOutput: readAudioOutput(body["audio"]),
    user: readUser(body["user"]),
    safetyIdentifier: textOf(body["safety_identifier"]),
    metadata: readMetadata(body["metadata"]),
    promptCacheKey: textOf(body["prompt_cache_key"]),
    promptCacheRetention: textOf(body["prompt_cache_retention"]),
    promptCacheOptions: readCacheOptions(body["prompt_cache_options"]),
    automaticCache: isObject(body["cache_control"]) ? readCacheHint(body) : undefined,
    serviceTier: textOf(body["service_tier"]),
    store: flagOf(body["store"]),
    usesLegacyFunctions: usesLegacyFunctions ? true : undefined,
    unmapped: unmappedMembers(body),
    clientSpelling: readSpelling(body, capIsVisibleText),
  };
}

/** The older spellings of two fields. */
function readSpelling(body: JsonObject, isOlderCap: boolean): Conversation["clientSpelling"] {
  const isOlderChoice = !isSet(body["tool_choice"]) && isSet(body["function_call"]);
  if (!isOlderCap && !isOlderChoice) return undefined;
  return {
    ...(isOlderCap ? { outputCap: "max_tokens" } : {}),
    ...(isOlderChoice ? { toolChoice: "function_call" } : {}),
  };
}

/** Members of other formats and vendors whose loss would make another call of it. */
const stateMembers = [
  "previous_response_id",
  "conversation",
  "background",
  "prompt",
  "mcp_servers",
  "cachedContent",
  "cached_content",
  "context_management",
  "container",
  "thread",
];

function refuseState(body: JsonObject): void {
  for (const name of stateMembers) if (isSet(body[name])) throw unsupported(name);
  const moderation = body["moderation"];
  // Asked to block, a call must not run unmoderated.
  if (isObject(moderation) && JSON.stringify(moderation).includes('"block"')) throw unsupported("moderation");
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function flagOf(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function readSampling(body: JsonObject): Sampling {
  return {
    temperature: numberOf(body["temperature"]),
    topP: numberOf(body["top_p"]),
    topK: numberOf(body["top_k"]),
    seed: numberOf(body["seed"]),
    presencePenalty: numberOf(body["presence_penalty"]),
    frequencyPenalty: numberOf(body["frequency_penalty"]),
    stop: readStop(body["stop"]),
    candidates: numberOf(body["n"]),
    logitBias: readLogitBias(body["logit_bias"]),
    logprobs: flagOf(body["logprobs"]),
    topLogprobs: numberOf(body["top_logprobs"]),
  };
}

function readStop(stop: unknown): readonly string[] | undefined {
  if (typeof stop === "string") return [stop];
  if (!Array.isArray(stop)) return undefined;
  return stop.map((sequence: unknown, index) => {
    if (typeof sequence !== "string") throw wrongType(`stop[${index}]`, "a string");
    return sequence;
  });
}

function readLogitBias(bias: unknown): Record<string, number> | undefined {
  if (!isObject(bias)) return undefined;
  const read: Record<string, number> = Object.create(null);
  for (const [token, value] of Object.entries(bias)) {
    if (typeof value !== "number") throw wrongType(`logit_bias.${token}`, "a number");
    read[token] = value;
  }
  return read;
}

function readOutputFormat(format: unknown): OutputFormat | undefined {
  if (!isObject(format)) return undefined;
  const type = format["type"];
  if (type === "text" || type === undefined || type === null) return undefined;
  if (type === "json_object") return { kind: "json" };
  if (type !== "json_schema")
    throw wrongValue("response_format.type", 'must be "text", "json_object" or "json_schema"');
  const wanted = format["json_schema"];
  if (!isObject(wanted)) throw missing("response_format.json_schema");
  const schema = wanted["schema"];
  // Without one there is nothing to hold to but that it be JSON.
  if (schema === undefined || schema === null) return { kind: "json" };
  if (!isObject(schema)) throw wrongType("response_format.json_schema.schema", "an object");
  return {
    kind: "schema",
    name: textOf(wanted["name"]),
    schema,
    strict: flagOf(wanted["strict"]),
    description: textOf(wanted["description"]),
    where: "response_format.json_schema",
  };
}

function readModalities(modalities: unknown): Conversation["modalities"] {
  if (!Array.isArray(modalities) || modalities.length === 0) return undefined;
  return modalities.map((modality: unknown, index) => {
    if (modality === "text" || modality === "audio" || modality === "image") return modality;
    throw wrongValue(`modalities[${index}]`, 'must be "text", "audio" or "image"');
  });
}

function readAudioOutput(audio: unknown): Conversation["audioOutput"] {
  if (!isObject(audio)) return undefined;
  const voice = audio["voice"];
  return { voice: textOf(isObject(voice) ? voice["id"] : voice), format: textOf(audio["format"]) };
}

/** A text, or an object (docs/design/interface.md 2.1) of which the part that names somebody counts. */
function readUser(user: unknown): string | undefined {
  if (!isObject(user)) return textOf(user);
  for (const name of ["id", "user_id", "name"]) {
    const named = Object.hasOwn(user, name) ? textOf(user[name]) : undefined;
    if (named !== undefined) return named;
  }
  return JSON.stringify(user);
}

function readMetadata(metadata: unknown): Record<string, string> | undefined {
  if (!isObject(metadata)) return undefined;
  const read: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(metadata)) {
    read[name] = typeof value === "string" ? value : JSON.stringify(value);
  }
  return read;
}

/** Members that are read, or that only concern how the response travels. */
const known: ReadonlySet<string> = new Set([
  ...["model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls", "functions"],
  ...["function_call", "web_search_options", "temperature", "top_p", "top_k", "seed", "presence_penalty", "stop"],
  ...["frequency_penalty", "n", "logit_bias", "logprobs", "top_logprobs", "max_completion_tokens", "max_tokens"],
  ...["response_format", "verbosity", "modalities", "audio", "user", "safety_identifier", "metadata", "store"],
  ...["prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "cache_control", "service_tier"],
  ...reasoningMembers,
]);

/** Numbers that lost their type to keep their digits are no numbers any more. */
const numbers = ["seed", "top_k", "temperature", "top_p", "n", "max_tokens", "max_completion_tokens", "top_logprobs"];

function unmappedMembers(body: JsonObject): string[] {
  const unmapped = Object.keys(body).filter((name) => !known.has(name) && isSet(body[name]));
  if (isUnknownEffort(body)) unmapped.push("reasoning_effort");
  return [
    ...unmapped,
    ...unmappedCacheOptions(body["prompt_cache_options"]),
    ...unmappedInBody(body),
    ...speakers(asList(body["messages"])),
    ...numbers.filter((name) => isObject(body[name])),
  ];
}

/** No other format has names of speakers; that of a function is read with its result. */
function speakers(messages: readonly unknown[]): string[] {
  return messages.flatMap((message, index) => {
    const isResult = ["tool", "function"].includes(asText(member(message, "role")));
    return !isResult && asText(member(message, "name")) !== "" ? [`messages[${index}].name`] : [];
  });
}

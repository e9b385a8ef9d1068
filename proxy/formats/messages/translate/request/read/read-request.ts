/**
 * Reads a messages client's body as a conversation (docs/design/messages.md 2).
 *
 * The body has passed `readCall`, so types and ranges of the common members hold. Features that need the vendor's own
 * state are refused, and members that other formats have no word for are named in `unmapped`.
 */
import { asList, asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { Conversation, OutputFormat } from "#proxy/neutral/conversation";
import { isSet, unmappedIn } from "#proxy/neutral/losses/unmapped-members";
import { setOwn } from "#proxy/neutral/schema/subschemas";
import { readCache } from "./read-text.ts";
import { readThinking } from "./read-thinking.ts";
import { readToolChoice, readTools } from "./read-tools.ts";
import { readTurns } from "./read-turns.ts";
import { objectAt, optionalNumber, refuseUnsupported, refuseValue } from "./refusals.ts";
import { unmappedInBody } from "./unmapped-blocks.ts";

/** State and services of the vendor's own, without which the call would mean something else. */
const refused = ["container", "thread", "mcp_servers", "compaction", "fallbacks", "fallback_credit_token"];

const read = new Set([
  "model",
  "messages",
  "system",
  "max_tokens",
  "stream",
  "temperature",
  "top_p",
  "top_k",
  "stop_sequences",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
  "output_format",
  "metadata",
  "user",
  "cache_control",
  "service_tier",
  "safety_identifier",
  "store",
  "context_management",
  // Of the SDK and of resellers: words about the transport, not about the call.
  "betas",
  "anthropic_beta",
  "anthropic_version",
]);

/** @throws GatewayError naming the client's field */
export function readRequest(body: JsonObject): Conversation {
  for (const name of refused) if (isSet(body[name])) refuseUnsupported(name);
  const unmapped = unmappedInBody(body);
  readContextManagement(body["context_management"], unmapped);
  for (const name of Object.keys(body)) {
    if (!read.has(name) && isSet(body[name]) && !isDefault(name, body[name])) unmapped.push(name);
  }
  const { user, metadata } = readMetadata(body, unmapped);
  const { toolChoice, parallelTools } = readToolChoice(body);
  const reasoning = readThinking(body);
  // Without thinking there is none to measure.
  if (reasoning?.mode === "off" && isSet(member(body["output_config"], "effort")))
    unmapped.push("output_config.effort");
  return {
    model: typeof body["model"] === "string" ? body["model"] : "",
    stream: body["stream"] === true,
    turns: readTurns(body),
    tools: readTools(body),
    toolChoice,
    parallelTools,
    sampling: {
      temperature: optionalNumber(body["temperature"]),
      topP: optionalNumber(body["top_p"]),
      topK: optionalNumber(body["top_k"]),
      stop: readStop(body["stop_sequences"]),
    },
    outputCap: optionalNumber(body["max_tokens"]),
    reasoning,
    outputFormat: readOutputFormat(body, unmapped),
    user,
    metadata,
    safetyIdentifier: optionalText(body["safety_identifier"]),
    automaticCache: readCache(body),
    serviceTier: readTier(body["service_tier"]),
    store: typeof body["store"] === "boolean" ? body["store"] : undefined,
    unmapped,
  };
}

/**
 * Edits that only save context: without them the model sees more, and nothing that the client did not send. A client
 * that wants to be given the summary, to go on with it, would wait in vain; of others nobody knows what the call would
 * mean without.
 */
const savesContext = /^(?:clear_thinking|clear_tool_uses|compact)_/;

function readContextManagement(value: unknown, unmapped: string[]): void {
  if (!isSet(value)) return;
  const { edits, ...others } = objectAt(value, "context_management");
  const isDispensable = asList(edits).every(
    (edit) => savesContext.test(asText(member(edit, "type"))) && member(edit, "pause_after_compaction") !== true,
  );
  if (!isDispensable || Object.values(others).some(isSet)) refuseUnsupported("context_management");
  if (isSet(edits)) unmapped.push("context_management");
}

function isDefault(name: string, value: unknown): boolean {
  return name === "speed" && value === "standard";
}

function readStop(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  return asList(value).map((sequence, index) =>
    typeof sequence === "string" ? sequence : refuseValue(`stop_sequences.${index}`, "must be a string"),
  );
}

const knownFormat: ReadonlySet<string> = new Set(["type", "schema"]);

/** `output_format` is the older, beta spelling of `output_config.format`. */
function readOutputFormat(body: JsonObject, unmapped: string[]): OutputFormat | undefined {
  const config = body["output_config"];
  if (isObject(config)) {
    for (const [name, value] of Object.entries(config)) {
      if (name !== "effort" && name !== "format" && isSet(value)) unmapped.push(`output_config.${name}`);
    }
  }
  const isNew = isSet(member(config, "format"));
  const path = isNew ? "output_config.format" : "output_format";
  const format = isNew ? member(config, "format") : body["output_format"];
  if (!isSet(format)) return undefined;
  const { type, schema } = objectAt(format, path);
  if (type !== "json_schema") return refuseValue(`${path}.type`, "must be 'json_schema'");
  unmapped.push(...unmappedIn(format, knownFormat, path));
  return { kind: "schema", schema: objectAt(schema, `${path}.schema`) };
}

/** `user` is a common field of the gateway's interface; `metadata.user_id` is this format's own. */
function readMetadata(body: JsonObject, unmapped: string[]): Pick<Conversation, "user" | "metadata"> {
  if (!isObject(body["metadata"])) return { user: readUser(body["user"]) };
  const { user_id: userId, ...others } = body["metadata"];
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(others)) {
    if (typeof value === "string") setOwn(metadata, name, value);
    else if (isSet(value)) unmapped.push(`metadata.${name}`);
  }
  const user = optionalText(userId) ?? readUser(body["user"]);
  return { user, metadata: Object.keys(metadata).length === 0 ? undefined : metadata };
}

function readUser(user: unknown): string | undefined {
  if (!isObject(user)) return optionalText(user);
  const named = ["id", "user_id", "name"].map((name) => optionalText(member(user, name)));
  return named.find((name) => name !== undefined) ?? JSON.stringify(user);
}

function optionalText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** In the words that all formats share: `standard_only` keeps a call off the paid priority. */
function readTier(value: unknown): string | undefined {
  return value === "standard_only" ? "default" : optionalText(value);
}

/**
 * Reads a generateContent body as a conversation (`ClientTranslator.readRequest`): lenient about spelling as Google and
 * docs/design/interface.md 2.6 are, strict about content of unknown kinds.
 */

import type { ChatEndpoint } from "#proxy/formats/format";
import { generationNames } from "#proxy/formats/generate-content/native/spellings";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import type { Conversation, TextPart, Tool, Turn } from "#proxy/neutral/conversation";
import { either, listOf, notCarried, unmappedMembers, wrongType, wrongValue } from "./members.ts";
import { readContents } from "./read-contents.ts";
import { readGeneration } from "./read-generation.ts";
import { readPart } from "./read-part.ts";
import { modeWhere, readToolChoice, readTools } from "./read-tools.ts";

/** State at Google, without which the call would mean something else. */
const upstreamState = ["cachedContent", "continuationToken"] as const;

const knownMembers = new Set<string>([
  ...generationNames,
  ...["model", "stream", "contents", "systemInstruction", "tools", "toolConfig", "safetySettings", "generationConfig"],
  ...["serviceTier", "store", "metadata", "user", "safetyIdentifier"],
]);

export function readRequest(body: JsonObject, endpoint: ChatEndpoint): Conversation {
  for (const name of upstreamState) if (either(body, name) !== undefined) throw notCarried(name);
  const unmapped = unmappedMembers(body, knownMembers, "");
  const { choice, isStrict } = readToolChoice(body, unmapped);
  const tools = readTools(body, unmapped);
  const turns = [...readSystem(body, unmapped), ...readContents(body, unmapped)];
  return {
    model: endpoint.modelInPath ?? "",
    stream: endpoint.geminiStream !== undefined,
    turns,
    tools: isStrict ? tools.map(strictly) : tools,
    toolChoice: choice,
    ...readGeneration(body, unmapped),
    user: readUser(either(body, "user")),
    safetyIdentifier: textOrNothing(either(body, "safetyIdentifier")),
    metadata: readMetadata(either(body, "metadata")),
    serviceTier: readServiceTier(either(body, "serviceTier")),
    store: typeof body["store"] === "boolean" ? body["store"] : undefined,
    safetySettings: listOf(body, "safetySettings", ""),
    unmapped,
  };
}

function strictly(tool: Tool): Tool {
  return tool.kind === "function" ? { ...tool, strict: true, strictWhere: modeWhere } : tool;
}

/** A text, a content, a part, or a list of parts; the role does not count. */
function readSystem(body: JsonObject, unmapped: string[]): Turn[] {
  const value = either(body, "systemInstruction");
  if (value === undefined) return [];
  const where = "systemInstruction";
  const inner = isObject(value) ? either(value, "parts") : undefined;
  const at = inner === undefined ? where : `${where}.parts`;
  const listed = inner ?? (isObject(value) && Object.hasOwn(value, "role") ? [] : value);
  const parts = (Array.isArray(listed) ? listed : [listed]).map((part, index) => {
    const path = Array.isArray(listed) ? `${at}[${index}]` : at;
    return textPart(readPart(part, path, unmapped), path);
  });
  const spoken = parts.filter(({ text }) => text !== "");
  return spoken.length === 0 ? [] : [{ role: "system", parts: spoken }];
}

function textPart(part: ReturnType<typeof readPart>, where: string): TextPart {
  if (part.kind === "text") return part;
  throw wrongValue(where, "must be text.");
}

/** Texts and objects are both allowed (docs/design/interface.md 2.1). */
function readUser(value: unknown): string | undefined {
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string") return value;
  if (!isObject(value)) throw wrongType("user", "a string or an object");
  return typeof value["id"] === "string" ? value["id"] : JSON.stringify(value);
}

function readMetadata(value: unknown): Readonly<Record<string, string>> | undefined {
  if (!isObject(value)) return undefined;
  const texts = Object.entries(value).map(([name, member]): [string, string] => [
    name,
    typeof member === "string" ? member : JSON.stringify(member),
  ]);
  return Object.fromEntries(texts);
}

/** In OpenAI's words; Google's standard is the default there. */
function readServiceTier(value: unknown): string | undefined {
  const tier = textOrNothing(value)?.toLowerCase();
  return tier === "standard" ? "default" : tier;
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

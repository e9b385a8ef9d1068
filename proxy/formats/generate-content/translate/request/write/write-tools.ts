/**
 * Writes tools and the tool choice as `tools` and `toolConfig` (docs/design/translation.md 5.1, 5.2 and 11.3).
 */
import { isObject, type JsonObject } from "#proxy/json/json-value";
import type { Conversation, FunctionTool, HostedTool, Tool, ToolChoice } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import { toGoogleJsonSchema } from "#proxy/neutral/schema/to-google-json-schema";
import { toGoogleSchema } from "#proxy/neutral/schema/to-google-schema";
import { allowedTools } from "#proxy/neutral/tools/allowed-tools";
import { choiceAmong } from "#proxy/neutral/tools/choice-among";
import { customToolAsFunction } from "#proxy/neutral/tools/custom-tools";
import { freeChoice } from "#proxy/neutral/tools/free-choice";
import { type HostedAbility, keepTools, nothingHosted } from "#proxy/neutral/tools/hosted-tools";
import type { ToolNames } from "#proxy/neutral/tools/tool-names";
import { uniqueTools } from "#proxy/neutral/tools/unique-tools";
import type { GeminiTraits } from "#proxy/neutral/traits/gemini-models";
import type { WriteOptions } from "./write-options.ts";

/** Tools that Google runs, by what they do. */
const hostedNames = { "web-search": "googleSearch", code: "codeExecution", "web-fetch": "urlContext" } as const;
const carriedHosted: HostedAbility = { kinds: new Set(["web-search", "code", "web-fetch"]), searchOptions: new Set() };

export interface WrittenTools {
  readonly tools?: readonly JsonObject[];
  readonly toolConfig?: JsonObject;
}

/**
 * @param hasServerTools the contents hold what Google's own tools did: every request of such a conversation says so
 * @throws GatewayError naming a tool that Google cannot run
 */
export function writeTools(conversation: Conversation, options: WriteOptions, hasServerTools: boolean): WrittenTools {
  const { target, traits, losses, names } = options;
  const { toolChoice } = conversation;
  const listed = uniqueTools(conversation.tools, losses);
  const hasOwn = listed.some(({ kind }) => kind !== "hosted");
  const carried = hasOwn && !traits.mixesBuiltInTools ? nothingHosted : carriedHosted;
  const choiceField = target.fieldName("toolChoice");
  // Names are allowed only where calls are checked or forced, and never keep the model from a tool of Google's.
  const heldBack = toolChoice?.type === "auto" && !traits.takesValidatedMode ? "none" : "own";
  const kept = allowedTools(keepTools(listed, carried, losses), toolChoice, { heldBack, losses, choiceField });
  const functions = kept.own.map((tool) => (tool.kind === "custom" ? customToolAsFunction(tool) : tool));
  const declarations = functions.map((tool) => writeDeclaration(tool, traits, names, losses));
  // Only functions know a mode in which none is called; history needs no tool that the provider runs.
  const hosted = toolChoice?.type === "none" ? [] : writeHosted(kept.hosted);
  const tools: JsonObject[] = [...(declarations.length > 0 ? [{ functionDeclarations: declarations }] : []), ...hosted];
  const isMixed = hasServerTools || (declarations.length > 0 && hosted.length > 0);
  const invocations = isMixed ? { includeServerSideToolInvocations: true } : {};
  if (tools.length === 0) return isMixed ? { toolConfig: invocations } : {};
  const lose = (): void => losses.drop(choiceField);
  const choice = freeChoice(choiceAmong(new Set(functions.map(({ name }) => name)), toolChoice, lose), traits, lose);
  const written = declarations.length === 0 ? undefined : writeChoice(choice, functions, traits, names);
  const calling = isMixed && declarations.length > 0 ? checkedMode(written) : written;
  const toolConfig = { ...(calling === undefined ? {} : { functionCallingConfig: calling }), ...invocations };
  return { tools, ...(Object.keys(toolConfig).length === 0 ? {} : { toolConfig }) };
}

/** Beside tools that Google runs there is no unchecked mode (ai.google.dev, Tool combination). */
function checkedMode(calling: JsonObject | undefined): JsonObject {
  return calling === undefined || calling["mode"] === "AUTO" ? { ...calling, mode: "VALIDATED" } : calling;
}

function writeDeclaration(tool: FunctionTool, traits: GeminiTraits, names: ToolNames, losses: Losses): JsonObject {
  if (tool.cache !== undefined && tool.where !== undefined) losses.drop(`${tool.where}.cache_control`);
  if (tool.strict === true && !traits.takesValidatedMode) losses.drop(`${tool.where ?? "tools"}.strict`);
  return {
    name: names.toUpstream(tool.name),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    ...writeParameters(tool.schema, traits),
  };
}

/**
 * A function without arguments must not name any: some models refuse an empty object
 * (docs/design/generate-content.md 3.4).
 */
function writeParameters(schema: JsonObject | undefined, traits: GeminiTraits): JsonObject {
  if (schema === undefined || takesNothing(schema)) return {};
  if (traits.takesJsonSchema) return { parametersJsonSchema: toGoogleJsonSchema(schema) };
  const parameters = toGoogleSchema(schema);
  return parameters["type"] === "OBJECT" && parameters["properties"] === undefined ? {} : { parameters };
}

function takesNothing(schema: JsonObject): boolean {
  const { properties, additionalProperties } = schema;
  if (isObject(properties) && Object.keys(properties).length > 0) return false;
  if (isObject(additionalProperties)) return false;
  return !["$ref", "anyOf", "oneOf", "allOf", "patternProperties"].some((keyword) => Object.hasOwn(schema, keyword));
}

function writeHosted(hosted: readonly HostedTool[]): JsonObject[] {
  const written: JsonObject[] = [];
  const seen = new Set<string>();
  for (const { tool } of hosted) {
    if (tool !== "web-search" && tool !== "code" && tool !== "web-fetch") continue;
    const name = hostedNames[tool];
    if (seen.has(name)) continue;
    seen.add(name);
    written.push({ [name]: {} });
  }
  return written;
}

function writeChoice(
  choice: ToolChoice | undefined,
  functions: readonly Tool[],
  traits: GeminiTraits,
  names: ToolNames,
): JsonObject | undefined {
  const isStrict = functions.some((tool) => tool.kind === "function" && tool.strict === true);
  const validated = traits.takesValidatedMode ? "VALIDATED" : "AUTO";
  const allowed = (only: readonly string[]) => ({ allowedFunctionNames: only.map((name) => names.toUpstream(name)) });
  switch (choice?.type) {
    case undefined:
      return isStrict && traits.takesValidatedMode ? { mode: "VALIDATED" } : undefined;
    case "none":
      return { mode: "NONE" };
    case "named":
      return { mode: "ANY", ...allowed([choice.name]) };
    case "required":
      return { mode: "ANY", ...(choice.only === undefined ? {} : allowed(choice.only)) };
    case "auto":
      // Names are allowed only where calls are checked; elsewhere the other tools were left out.
      if (choice.only !== undefined && traits.takesValidatedMode) return { mode: "VALIDATED", ...allowed(choice.only) };
      return { mode: isStrict ? validated : "AUTO" };
    default:
      return choice satisfies never;
  }
}

/** Reads a client's `tools` and `toolConfig` (docs/design/generate-content.md 3, docs/design/translation.md 5). */
import { asList, isObject, type JsonObject } from "#proxy/json/json-value";
import type { FunctionTool, HostedTool, Tool, ToolChoice } from "#proxy/neutral/conversation";
import { fromGoogleSchema } from "#proxy/neutral/schema/from-google-schema";
import { hostedToolKind } from "#proxy/neutral/tools/hosted-tools";
import { either, listOf, objectOf, textOf, unmappedMembers, wrongType, wrongValue } from "./members.ts";

const declarationMembers = new Set(["name", "description", "parameters", "parametersJsonSchema"]);

/** Settings of provider-run tools that have a neutral place. */
const hostedMembers = new Set(["excludeDomains"]);

/** @throws GatewayError naming the tool */
export function readTools(body: JsonObject, unmapped: string[]): Tool[] {
  const value = either(body, "tools");
  if (value === undefined) return [];
  const isList = Array.isArray(value);
  const listed: readonly unknown[] = isList ? value : [value];
  return listed.flatMap((tool, index) => {
    const where = isList ? `tools[${index}]` : "tools";
    if (!isObject(tool)) throw wrongType(where, "an object");
    return readTool(tool, where, unmapped);
  });
}

function readTool(tool: JsonObject, where: string, unmapped: string[]): Tool[] {
  const declared = listOf(tool, "functionDeclarations", where) ?? [];
  const tools: Tool[] = declared.map((declaration, index) => {
    const at = `${where}.functionDeclarations[${index}]`;
    if (!isObject(declaration)) throw wrongType(at, "an object");
    return readDeclaration(declaration, at, unmapped);
  });
  for (const [type, settings] of Object.entries(tool)) {
    if (type === "functionDeclarations" || type === "function_declarations" || settings === null) continue;
    tools.push(readHosted(type, settings, `${where}.${type}`));
    if (isObject(settings)) unmapped.push(...unmappedMembers(settings, hostedMembers, `${where}.${type}`));
  }
  return tools;
}

function readDeclaration(declaration: JsonObject, where: string, unmapped: string[]): FunctionTool {
  const name = textOf(declaration, "name", where);
  if (name === undefined || name === "") throw wrongValue(`${where}.name`, "must name the function.");
  unmapped.push(...unmappedMembers(declaration, declarationMembers, where));
  const description = textOf(declaration, "description", where);
  const parameters = objectOf(declaration, "parameters", where);
  const schema = objectOf(declaration, "parametersJsonSchema", where) ?? (parameters && fromGoogleSchema(parameters));
  return {
    kind: "function",
    name,
    where,
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { schema }),
  };
}

function readHosted(type: string, settings: unknown, where: string): HostedTool {
  const tool = hostedToolKind("GenerateContent", type);
  if (tool === undefined) throw wrongValue(where, "is not a known tool.");
  const excluded = isObject(settings) ? either(settings, "excludeDomains") : undefined;
  const blockedDomains = asList(excluded).filter((domain) => typeof domain === "string");
  return { kind: "hosted", tool, type, where, ...(blockedDomains.length > 0 ? { search: { blockedDomains } } : {}) };
}

export interface ReadChoice {
  readonly choice: ToolChoice | undefined;
  /** Arguments must keep to the schemas (`VALIDATED`). */
  readonly isStrict: boolean;
}

/** Where a client chooses among its tools, and holds calls to their schemas. */
const choiceWhere = "toolConfig.functionCallingConfig";
export const modeWhere = `${choiceWhere}.mode`;

const none: ReadChoice = { choice: undefined, isStrict: false };

/** Modes may be numbers in protobuf's JSON. */
const modeByNumber = ["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"] as const;

/** @throws GatewayError naming the member */
export function readToolChoice(body: JsonObject, unmapped: string[]): ReadChoice {
  const config = objectOf(body, "toolConfig", "");
  if (config === undefined) return none;
  unmapped.push(...unmappedMembers(config, new Set(["functionCallingConfig"]), "toolConfig"));
  const calling = objectOf(config, "functionCallingConfig", "toolConfig");
  if (calling === undefined) return none;
  const where = choiceWhere;
  unmapped.push(...unmappedMembers(calling, new Set(["mode", "allowedFunctionNames"]), where));
  const names = (listOf(calling, "allowedFunctionNames", where) ?? []).map((name, index) => {
    if (typeof name === "string") return name;
    throw wrongType(`${where}.allowedFunctionNames[${index}]`, "a string");
  });
  const read = choiceOf(either(calling, "mode"), names, where);
  // Google wants a mode beside them.
  if (read.choice === undefined && names.length > 0) unmapped.push(`${where}.allowedFunctionNames`);
  return read;
}

function choiceOf(value: unknown, names: readonly string[], where: string): ReadChoice {
  const mode = typeof value === "number" ? modeByNumber[value] : value;
  const only = names.length > 0 ? { only: names } : {};
  const [first, ...more] = names;
  switch (mode) {
    case undefined:
    case "MODE_UNSPECIFIED":
      return none;
    case "AUTO":
      return { choice: { type: "auto", ...only }, isStrict: false };
    case "VALIDATED":
      return { choice: { type: "auto", ...only }, isStrict: true };
    case "NONE":
      return { choice: { type: "none" }, isStrict: false };
    case "ANY":
      if (first !== undefined && more.length === 0) return { choice: { type: "named", name: first }, isStrict: false };
      return { choice: { type: "required", ...only }, isStrict: false };
    default:
      throw wrongValue(`${where}.mode`, "must be AUTO, ANY, NONE or VALIDATED.");
  }
}

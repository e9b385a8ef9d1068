/** Reads tools, the older functions, and the tool choice (docs/design/chat-completions.md 2 and 4). */
import { asList, asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { FunctionTool, HostedTool, Tool, ToolChoice } from "#proxy/neutral/conversation";
import { hostedToolKind } from "#proxy/neutral/tools/hosted-tools";
import { readCacheHint } from "./read-content.ts";
import { missing, wrongType, wrongValue } from "./refusals.ts";

/** @throws GatewayError naming a tool that is of no known shape */
export function readTools(body: JsonObject): Tool[] {
  const listed = body["tools"];
  // One tool that should have been a list (docs/design/interface.md 2.4).
  const tools = isObject(listed) ? [listed] : asList(listed);
  const functions = asList(body["functions"]);
  return [
    ...tools.map((tool, index) => readTool(tool, isObject(listed) ? "tools" : `tools[${index}]`)),
    ...functions.map((tool, index) => readFunction(tool, `functions[${index}]`, undefined)),
    ...readSearchOptions(body["web_search_options"]),
  ];
}

function readTool(tool: unknown, where: string): Tool {
  if (!isObject(tool)) throw wrongType(where, "an object");
  const type = tool["type"];
  if (type === undefined || type === null || type === "function") {
    // Without `function` the members may stand on the tool itself, as in the responses format.
    const described = tool["function"] ?? (typeof tool["name"] === "string" ? tool : undefined);
    if (described === undefined) throw missing(`${where}.function`);
    return readFunction(described, described === tool ? where : `${where}.function`, tool);
  }
  if (type === "custom") return readCustom(tool, where);
  if (typeof type !== "string") throw wrongType(`${where}.type`, "a string");
  return { kind: "hosted", tool: hostedKind(type), type, where, ...searchOf(type, tool) };
}

function readFunction(described: unknown, where: string, tool: JsonObject | undefined): FunctionTool {
  if (!isObject(described)) throw wrongType(where, "an object");
  const parameters = described["parameters"];
  if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
    throw wrongType(`${where}.parameters`, "an object");
  }
  const strict = described["strict"];
  return {
    kind: "function",
    name: requireName(described, where),
    description: optionalText(described["description"]),
    schema: isObject(parameters) ? parameters : undefined,
    strict: typeof strict === "boolean" ? strict : undefined,
    cache: readCacheHint(tool ?? {}) ?? readCacheHint(described),
    where,
  };
}

function readCustom(tool: JsonObject, where: string): Tool {
  const custom = tool["custom"] ?? (typeof tool["name"] === "string" ? tool : undefined);
  if (!isObject(custom)) throw missing(`${where}.custom`);
  const format = custom["format"];
  return {
    kind: "custom",
    name: requireName(custom, custom === tool ? where : `${where}.custom`),
    description: optionalText(custom["description"]),
    format: isObject(format) ? flatGrammar(format) : undefined,
    where,
  };
}

/** This format nests a grammar's members in `grammar`; the neutral form has them as the responses format does. */
function flatGrammar(format: JsonObject): JsonObject {
  const grammar = format["grammar"];
  if (!isObject(grammar)) return format;
  return { type: "grammar", syntax: grammar["syntax"], definition: grammar["definition"] };
}

function requireName(described: JsonObject, where: string): string {
  const name = described["name"];
  if (typeof name === "string" && name !== "") return name;
  if (name === undefined || name === null || name === "") throw missing(`${where}.name`);
  throw wrongType(`${where}.name`, "a string");
}

function optionalText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Other vendors' tools in this format's list; OpenRouter puts its own name before them. */
function hostedKind(type: string): HostedTool["tool"] {
  return hostedToolKind("ChatCompletions", type.slice(type.indexOf(":") + 1)) ?? "other";
}

function searchOf(type: string, tool: JsonObject): Pick<HostedTool, "search"> {
  return hostedKind(type) === "web-search" ? { search: readSearch(tool) } : {};
}

function readSearchOptions(options: unknown): HostedTool[] {
  if (options === undefined || options === null) return [];
  if (!isObject(options)) throw wrongType("web_search_options", "an object");
  const where = "web_search_options";
  return [{ kind: "hosted", tool: "web-search", type: where, where, search: readSearch(options) }];
}

function readSearch(options: JsonObject): NonNullable<HostedTool["search"]> {
  const domains = asList(member(options["filters"], "allowed_domains"));
  const location = options["user_location"];
  const approximate = member(location, "approximate") ?? location;
  const userLocation = isObject(approximate) ? textsOf(approximate) : {};
  const contextSize = asText(options["search_context_size"]);
  return {
    ...(domains.length > 0 ? { allowedDomains: domains.map(asText) } : {}),
    ...(contextSize !== "" ? { contextSize } : {}),
    ...(Object.keys(userLocation).length > 0 ? { userLocation } : {}),
  };
}

function textsOf(place: JsonObject): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const name of ["city", "country", "region", "timezone"]) {
    const value = asText(place[name]);
    if (value !== "") texts[name] = value;
  }
  return texts;
}

/**
 * `tool_choice`, or the older `function_call`.
 * @throws GatewayError for a choice of no known shape, and for a tool that only the provider could run
 */
export function readToolChoice(body: JsonObject): ToolChoice | undefined {
  const choice = body["tool_choice"];
  if (choice !== undefined && choice !== null) return readChoice(choice, "tool_choice");
  const legacy = body["function_call"];
  if (legacy === undefined || legacy === null) return undefined;
  const name = member(legacy, "name");
  if (typeof name === "string" && name !== "") return { type: "named", name };
  return readChoice(legacy, "function_call");
}

function readChoice(choice: unknown, where: string): ToolChoice {
  const word = typeof choice === "string" ? choice : member(choice, "type");
  switch (word) {
    case "auto":
    case "none":
    case "required":
      return { type: word };
    // Word of several compatible servers.
    case "any":
      return { type: "required" };
    case "function":
    case "custom":
    case "tool":
      return { type: "named", name: chosenName(choice, word, where) };
    case "allowed_tools":
      return readAllowedTools(member(choice, "allowed_tools") ?? choice, `${where}.allowed_tools`);
    default:
      throw wrongValue(where, 'must be "none", "auto", "required" or name a tool');
  }
}

function chosenName(choice: unknown, word: string, where: string): string {
  const holder = member(choice, word);
  const name = member(holder, "name") ?? member(choice, "name");
  if (typeof name === "string" && name !== "") return name;
  throw missing(`${where}.${word}.name`);
}

function readAllowedTools(allowed: unknown, where: string): ToolChoice {
  const mode = member(allowed, "mode") ?? "auto";
  if (mode !== "auto" && mode !== "required") throw wrongValue(`${where}.mode`, 'must be "auto" or "required"');
  const only = asList(member(allowed, "tools")).map((tool, index) => {
    const type = asText(member(tool, "type"));
    return chosenName(tool, type === "" ? "function" : type, `${where}.tools[${index}]`);
  });
  return { type: mode, only };
}

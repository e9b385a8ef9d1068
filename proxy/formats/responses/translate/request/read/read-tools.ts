/** Reads tools and the tool choice (docs/design/responses.md 5). */

import { type ClientRunTool, clientRunTool } from "#proxy/formats/responses/translate/client-run/client-run-tools";
import { clientRunTools, listsInItems } from "#proxy/formats/responses/translate/client-run/tool-lists";
import {
  listOf,
  notCarried,
  optionalFlag,
  optionalObject,
  optionalText,
  present,
  requiredText,
  wrongType,
  wrongValue,
} from "#proxy/formats/responses/translate/request/body-fields";
import { asList, asObject, asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { CustomTool, FunctionTool, HostedTool, Tool, ToolChoice } from "#proxy/neutral/conversation";
import { hostedToolKind } from "#proxy/neutral/tools/hosted-tools";

/** How a tool of a namespace is called where there are none. */
export function namespacedName(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}__${name}`;
}

/** @throws GatewayError naming a tool of unknown type or shape */
export function readTools(body: JsonObject): readonly Tool[] {
  const run = clientRunTools(body);
  const read = (tool: unknown, where: string): readonly Tool[] => readTool(tool, where, undefined, run);
  const value = present(body, "tools");
  // One tool alone may stand without its list (docs/design/interface.md 2.4).
  const top = isObject(value)
    ? read(value, "tools")
    : listOf(body, "tools", "tools").flatMap((tool, index) => read(tool, `tools[${index}]`));
  const lists = listsInItems(body);
  if (lists.length === 0) return top;
  const inItems = lists.flatMap(({ tools, where }) => tools.flatMap((tool, index) => read(tool, `${where}[${index}]`)));
  return [...top, ...withoutKnown(inItems, top)];
}

/** A search finds the same tool again, and an item may repeat what stands at the top: the first one counts. */
function withoutKnown(tools: readonly Tool[], top: readonly Tool[]): readonly Tool[] {
  const known = new Set(top.map(keyOf));
  return tools.filter((tool) => {
    const key = keyOf(tool);
    if (known.has(key)) return false;
    known.add(key);
    return true;
  });
}

function keyOf(tool: Tool): string {
  return tool.kind === "hosted" ? `hosted ${tool.type}` : `own ${tool.name}`;
}

function readTool(
  tool: unknown,
  where: string,
  namespace: string | undefined,
  run: ReadonlyMap<string, ClientRunTool>,
): readonly Tool[] {
  if (!isObject(tool)) return wrongType(where, "an object");
  const type = optionalText(tool, "type", `${where}.type`) ?? "function";
  const own = clientRunTool(tool);
  if (own !== undefined && run.get(own.type) === own) return [readClientRun(own, tool, where)];
  if (type === "function") return [readFunction(tool, where, namespace)];
  if (type === "custom") return [readCustom(tool, where, namespace)];
  if (type === "namespace" && namespace === undefined) {
    const name = requiredText(tool, "name", `${where}.name`);
    return listOf(tool, "tools", `${where}.tools`).flatMap((inner, index) =>
      readTool(inner, `${where}.tools[${index}]`, name, run),
    );
  }
  const kind = hostedToolKind("Responses", type);
  if (kind === undefined) return wrongValue(`${where}.type`, "the gateway does not know this type of tool.");
  const hosted: HostedTool = { kind: "hosted", tool: kind, type, where };
  return [kind === "web-search" ? { ...hosted, search: readSearch(tool) } : hosted];
}

/** A search among the client's tools may say how it is asked. */
function readClientRun(run: ClientRunTool, tool: JsonObject, where: string): FunctionTool {
  return {
    kind: "function",
    name: run.type,
    description: optionalText(tool, "description", `${where}.description`) ?? run.description,
    schema: optionalObject(tool, "parameters", `${where}.parameters`) ?? run.schema,
    where,
  };
}

function readFunction(tool: JsonObject, where: string, namespace: string | undefined): FunctionTool {
  return {
    kind: "function",
    name: namespacedName(namespace, requiredText(tool, "name", `${where}.name`)),
    description: optionalText(tool, "description", `${where}.description`),
    schema: optionalObject(tool, "parameters", `${where}.parameters`),
    strict: optionalFlag(tool, "strict", `${where}.strict`),
    where,
  };
}

function readCustom(tool: JsonObject, where: string, namespace: string | undefined): CustomTool {
  return {
    kind: "custom",
    name: namespacedName(namespace, requiredText(tool, "name", `${where}.name`)),
    description: optionalText(tool, "description", `${where}.description`),
    format: optionalObject(tool, "format", `${where}.format`),
    where,
  };
}

function readSearch(tool: JsonObject): NonNullable<HostedTool["search"]> {
  const domains = member(tool["filters"], "allowed_domains");
  const location = asObject(tool["user_location"]);
  const contextSize = tool["search_context_size"];
  return {
    ...(Array.isArray(domains) ? { allowedDomains: domains.filter((domain) => typeof domain === "string") } : {}),
    ...(typeof contextSize === "string" ? { contextSize } : {}),
    ...(location === undefined ? {} : { userLocation: textMembers(location) }),
  };
}

const locationMembers = ["city", "region", "country", "timezone"] as const;

function textMembers(location: JsonObject): Readonly<Record<string, string>> {
  const texts = locationMembers.map((name) => [name, asText(member(location, name))] as const);
  return Object.fromEntries(texts.filter(([, text]) => text !== ""));
}

/** @throws GatewayError for a choice that names a tool which only its own provider can run */
export function readToolChoice(body: JsonObject): ToolChoice | undefined {
  const choice = present(body, "tool_choice");
  if (choice === undefined) return undefined;
  if (choice === "auto" || choice === "none" || choice === "required") return { type: choice };
  if (!isObject(choice)) return wrongValue("tool_choice", "expected auto, none, required or an object.");
  switch (choice["type"]) {
    case "function":
    case "custom":
      return { type: "named", name: requiredName(choice, "tool_choice.name") };
    case "allowed_tools":
      return {
        type: choice["mode"] === "required" ? "required" : "auto",
        only: asList(choice["tools"]).map((tool, index) => {
          const where = `tool_choice.tools[${index}]`;
          if (!isObject(tool)) return wrongType(where, "an object");
          const type = asText(tool["type"]);
          return clientRunTools(body).has(type) ? type : requiredName(tool, where);
        }),
      };
    default: {
      const name = asText(choice["type"]);
      return clientRunTools(body).has(name) ? { type: "named", name } : notCarried("tool_choice");
    }
  }
}

/** A choice among provider-run tools names a type and no tool. */
function requiredName(choice: JsonObject, where: string): string {
  const name = optionalText(choice, "name", `${where}.name`) ?? notCarried(where);
  return namespacedName(optionalText(choice, "namespace", `${where}.namespace`), name);
}

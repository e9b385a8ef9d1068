/** Reads tools and the tool choice in a messages client's body (docs/design/messages.md 5). */
import { asList, asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { HostedTool, Tool, ToolChoice } from "#proxy/neutral/conversation";
import { hostedToolKind } from "#proxy/neutral/tools/hosted-tools";
import { knownClientTool } from "./client-tools.ts";
import { readCache } from "./read-text.ts";
import { objectAt, optionalTextAt, refuseValue, textAt } from "./refusals.ts";

/** @throws GatewayError for tools of unknown type */
export function readTools(body: JsonObject): Tool[] {
  return asList(body["tools"]).map((value, index) => readTool(objectAt(value, `tools.${index}`), `tools.${index}`));
}

function readTool(tool: JsonObject, where: string): Tool {
  const type = optionalTextAt(tool["type"], `${where}.type`) ?? "custom";
  const strict = typeof tool["strict"] === "boolean" ? tool["strict"] : undefined;
  if (type === "custom") {
    const schema = tool["input_schema"] ?? undefined;
    return {
      kind: "function",
      name: toolName(tool, where),
      description: optionalTextAt(tool["description"], `${where}.description`),
      schema: schema === undefined ? undefined : objectAt(schema, `${where}.input_schema`),
      strict,
      cache: readCache(tool),
      where,
    };
  }
  const known = knownClientTool(type);
  if (known !== undefined) {
    const name = toolName(tool, where);
    return { kind: "function", name, ...known, strict, cache: readCache(tool), where };
  }
  // Types with a date are the vendor's, also those that are not known yet.
  const hosted = hostedToolKind("Messages", type) ?? (/_\d{8}$/.test(type) ? "other" : undefined);
  if (hosted === undefined) return refuseValue(`${where}.type`, `is not a known tool: ${JSON.stringify(type)}`);
  const search = hosted === "web-search" ? readSearch(tool) : undefined;
  return { kind: "hosted", tool: hosted, type, where, search };
}

function toolName(tool: JsonObject, where: string): string {
  const name = textAt(tool["name"], `${where}.name`);
  return name === "" ? refuseValue(`${where}.name`, "must not be empty") : name;
}

function readSearch(tool: JsonObject): HostedTool["search"] {
  const location = tool["user_location"];
  const maxUses = tool["max_uses"];
  return {
    allowedDomains: textList(tool["allowed_domains"]),
    blockedDomains: textList(tool["blocked_domains"]),
    maxUses: typeof maxUses === "number" ? maxUses : undefined,
    userLocation: isObject(location) ? readLocation(location) : undefined,
  };
}

function readLocation(location: JsonObject): Record<string, string> {
  const read: Record<string, string> = {};
  for (const name of ["city", "region", "country", "timezone"]) {
    const value = location[name];
    if (typeof value === "string") read[name] = value;
  }
  return read;
}

function textList(value: unknown): readonly string[] | undefined {
  const texts = asList(value).filter((item) => typeof item === "string");
  return texts.length === 0 ? undefined : texts;
}

/** @throws GatewayError for choices of unknown type */
export function readToolChoice(body: JsonObject): {
  readonly toolChoice?: ToolChoice | undefined;
  readonly parallelTools?: boolean | undefined;
} {
  const choice = body["tool_choice"];
  if (!isObject(choice)) return {};
  const parallelTools = member(choice, "disable_parallel_tool_use") === true ? false : undefined;
  switch (choice["type"]) {
    case "auto":
    case "none":
      return { toolChoice: { type: choice["type"] }, parallelTools };
    case "any":
      return { toolChoice: { type: "required" }, parallelTools };
    case "tool":
      return { toolChoice: { type: "named", name: textAt(choice["name"], "tool_choice.name") }, parallelTools };
    default:
      return refuseValue("tool_choice.type", `is not a known choice: ${JSON.stringify(asText(choice["type"]))}`);
  }
}

/**
 * Finds the places where a body of the responses format offers tools: at the top, in `additional_tools` items (Codex
 * puts all of its tools there, docs/design/agents.md 2), and in the results of a search among the client's tools.
 */
import { asList, asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import { type ClientRunTool, clientRunTool } from "./client-run-tools.ts";

export interface ToolList {
  readonly tools: readonly unknown[];
  /** Path of the list in the client's body. */
  readonly where: string;
  /** By a search among the client's tools. */
  readonly isFound: boolean;
}

/** Item types that carry tools and are no part of the conversation. */
const carriers = new Set<unknown>(["additional_tools", "tool_search_output"]);

/** Lists within items, in their order. */
export function listsInItems(body: JsonObject): readonly ToolList[] {
  const input = body["input"];
  const items = isObject(input) ? [input] : asList(input);
  return items.flatMap((item, index) => {
    if (!carriers.has(member(item, "type"))) return [];
    const where = Array.isArray(input) ? `input[${index}].tools` : "input.tools";
    const isFound = member(item, "type") === "tool_search_output";
    return [{ tools: asList(member(item, "tools")), where, isFound }];
  });
}

/** All tools that a body offers, wherever; a tool alone may stand without its list. */
export function offeredTools(body: JsonObject): readonly unknown[] {
  const top = body["tools"];
  return [...(isObject(top) ? [top] : asList(top)), ...listsInItems(body).flatMap(({ tools }) => tools)];
}

/** Client-run tools by their functions' names; none whose name another tool of the client has. */
export function clientRunTools(body: JsonObject): ReadonlyMap<string, ClientRunTool> {
  const offered = offeredTools(body);
  const found = new Map<string, ClientRunTool>();
  for (const tool of offered) {
    const run = clientRunTool(tool);
    if (run !== undefined) found.set(run.type, run);
  }
  if (found.size === 0) return found;
  for (const tool of offered) {
    const type = asText(member(tool, "type")) || "function";
    if (type === "function" || type === "custom") found.delete(asText(member(tool, "name")));
  }
  return found;
}

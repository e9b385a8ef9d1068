/**
 * Wraps custom tools, which accept free text, for upstreams that know functions only: a function with one string member
 * `input` (docs/design/translation.md 5.1). A writer wraps definitions and history and names the tools in
 * `ReplyAdaptation.customTools`, by which the reply's calls become free text again.
 */

import { argumentsObject } from "#proxy/json/json-text";
import { member } from "#proxy/json/json-value";
import type { CallPart, CustomTool, FunctionTool } from "#proxy/neutral/conversation";

/** The tool as a function; a grammar becomes words, for a model can keep to what it is told. */
export function customToolAsFunction(tool: CustomTool): FunctionTool {
  const hint = grammarHint(tool);
  return {
    kind: "function",
    name: tool.name,
    description: tool.description,
    schema: {
      type: "object",
      properties: { input: { type: "string", ...(hint === undefined ? {} : { description: hint }) } },
      required: ["input"],
      additionalProperties: false,
    },
    where: tool.where,
  };
}

/** Grammar of a tool: `{type: "grammar", grammar: {syntax, definition}}`, or flat as the responses format has it. */
function grammarHint({ format }: CustomTool): string | undefined {
  if (format?.["type"] !== "grammar") return undefined;
  const grammar = member(format, "grammar") ?? format;
  const definition = member(grammar, "definition");
  if (typeof definition !== "string") return undefined;
  const syntax = member(grammar, "syntax");
  return `Text that follows this ${typeof syntax === "string" ? `${syntax} ` : ""}grammar:\n${definition}`;
}

/** Arguments of a wrapped call as JSON text. */
export function customArguments(text: string): string {
  return JSON.stringify({ input: text });
}

/** JSON text of a call's arguments for an upstream without custom tools. */
export function functionArguments(call: Pick<CallPart, "tool" | "arguments">): string {
  return call.tool === "custom" ? customArguments(call.arguments) : call.arguments;
}

/** The free text of a wrapped call; arguments of another shape stay as they are, for the client to judge. */
export function customText(args: string): string {
  const input = member(argumentsObject(args), "input");
  return typeof input === "string" ? input : args;
}

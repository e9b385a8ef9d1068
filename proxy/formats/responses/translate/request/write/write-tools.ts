/** Writes tools and the tool choice (docs/design/translation.md 5.1 and 5.2). */
import { type JsonObject, member } from "#proxy/json/json-value";
import type { Conversation, CustomTool, FunctionTool, HostedTool } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import { toolSchema } from "#proxy/neutral/schema/complete-schema";
import { strictFlag } from "#proxy/neutral/schema/strict-schema";
import { allowedTools } from "#proxy/neutral/tools/allowed-tools";
import { choiceAmong } from "#proxy/neutral/tools/choice-among";
import { customToolAsFunction } from "#proxy/neutral/tools/custom-tools";
import { freeChoice } from "#proxy/neutral/tools/free-choice";
import { type HostedAbility, hostedNames, keepTools } from "#proxy/neutral/tools/hosted-tools";
import { loseKeyword } from "#proxy/neutral/tools/schema-field";
import { strictField } from "#proxy/neutral/tools/strict-field";
import type { ToolNames } from "#proxy/neutral/tools/tool-names";
import { uniqueTools } from "#proxy/neutral/tools/unique-tools";
import type { ResponsesTraits } from "#proxy/neutral/traits/responses-traits";

const carriedHosted: HostedAbility = {
  kinds: new Set(["web-search", "code", "image-generation"]),
  searchOptions: new Set(["allowedDomains", "contextSize", "userLocation"]),
};

export interface ToolWriting {
  readonly names: ToolNames;
  readonly traits: ResponsesTraits;
  /** Whether the target knows tools that take free text. */
  readonly hasCustomTools: boolean;
  readonly losses: Losses;
  /** How the client spells its choice among the tools. */
  readonly choiceField: string;
  /** And the schema of one. */
  readonly schemaField: string;
}

/** Members `tools`, `tool_choice` and `parallel_tool_calls`; none of them without a tool. */
export function writeTools(conversation: Conversation, writing: ToolWriting): JsonObject {
  const listed = uniqueTools(conversation.tools, writing.losses);
  const kept = keepTools(listed, carriedHosted, writing.losses);
  const { own, hosted } = allowedTools(kept, conversation.toolChoice, { ...writing, heldBack: "all" });
  const tools = [...own.map((tool) => writeOwn(tool, writing)), ...hosted.map(writeHosted)];
  if (tools.length === 0) return {};
  const choice = writeChoice(conversation, own, hosted, writing);
  return {
    tools,
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...(conversation.parallelTools === undefined ? {} : { parallel_tool_calls: conversation.parallelTools }),
  };
}

function writeOwn(tool: FunctionTool | CustomTool, writing: ToolWriting): JsonObject {
  if (tool.kind === "custom" && writing.hasCustomTools) {
    return {
      type: "custom",
      name: writing.names.toUpstream(tool.name),
      ...(tool.description === undefined ? {} : { description: tool.description }),
      ...(tool.format === undefined ? {} : { format: flatFormat(tool.format) }),
    };
  }
  const asFunction = tool.kind === "custom" ? customToolAsFunction(tool) : tool;
  const { name, description, schema, strict } = asFunction;
  const parameters = toolSchema(schema, {
    isChecked: writing.traits.checksLikeOpenAI,
    isStrict: strict === true,
    lose: loseKeyword(asFunction, writing.schemaField, writing.losses),
  });
  return {
    type: "function",
    name: writing.names.toUpstream(name),
    ...(description === undefined ? {} : { description }),
    parameters,
    // Left out, the API would try its strict mode and change the schema (docs/design/responses.md 5).
    strict: strictFlag(strict, parameters, () => writing.losses.drop(strictField(asFunction))) ?? false,
  };
}

/** Chat clients nest the grammar, here it is flat. */
function flatFormat(format: JsonObject): JsonObject {
  const grammar = member(format, "grammar");
  if (format["type"] !== "grammar" || grammar === undefined) return format;
  return { type: "grammar", syntax: member(grammar, "syntax"), definition: member(grammar, "definition") };
}

function writeHosted(tool: HostedTool): JsonObject {
  if (tool.tool === "code") return { type: "code_interpreter", container: { type: "auto" } };
  if (tool.tool === "image-generation") return { type: "image_generation" };
  const { allowedDomains, contextSize, userLocation } = tool.search ?? {};
  return {
    type: "web_search",
    ...(allowedDomains === undefined ? {} : { filters: { allowed_domains: allowedDomains } }),
    ...(contextSize === undefined ? {} : { search_context_size: contextSize }),
    ...(userLocation === undefined ? {} : { user_location: { type: "approximate", ...userLocation } }),
  };
}

function writeChoice(
  { toolChoice }: Conversation,
  own: readonly (FunctionTool | CustomTool)[],
  hosted: readonly HostedTool[],
  writing: ToolWriting,
): unknown {
  const hostedTypes = new Map(
    hosted.flatMap((tool) => hostedNames(tool).map((name) => [name, writeHosted(tool)["type"]])),
  );
  const offered = new Set([...own.map(({ name }) => name), ...hostedTypes.keys()]);
  const lose = (): void => writing.losses.drop(writing.choiceField);
  const choice = freeChoice(choiceAmong(offered, toolChoice, lose), writing.traits, lose);
  if (choice === undefined) return undefined;
  const named = (name: string): JsonObject => {
    const tool = own.find((one) => one.name === name);
    // One that the provider runs is chosen by its type alone.
    if (tool === undefined) return { type: hostedTypes.get(name) };
    const isCustom = writing.hasCustomTools && tool.kind === "custom";
    return { type: isCustom ? "custom" : "function", name: writing.names.toUpstream(name) };
  };
  if (choice.type === "named") return named(choice.name);
  if (choice.only === undefined || choice.type === "none") return choice.type;
  return { type: "allowed_tools", mode: choice.type, tools: choice.only.map(named) };
}

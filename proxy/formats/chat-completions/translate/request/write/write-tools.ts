/** Writes tools and the tool choice (docs/design/translation.md 5.1 and 5.2). */

import type { TranslationTarget } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { Conversation, CustomTool, FunctionTool, HostedTool, ToolChoice } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import { toolSchema } from "#proxy/neutral/schema/complete-schema";
import { strictFlag } from "#proxy/neutral/schema/strict-schema";
import { allowedTools } from "#proxy/neutral/tools/allowed-tools";
import { choiceAmong } from "#proxy/neutral/tools/choice-among";
import { customToolAsFunction } from "#proxy/neutral/tools/custom-tools";
import { freeChoice } from "#proxy/neutral/tools/free-choice";
import { type HostedAbility, keepTools, lastSearch, nothingHosted } from "#proxy/neutral/tools/hosted-tools";
import { loseKeyword } from "#proxy/neutral/tools/schema-field";
import { strictField } from "#proxy/neutral/tools/strict-field";
import type { ToolNames } from "#proxy/neutral/tools/tool-names";
import { uniqueTools } from "#proxy/neutral/tools/unique-tools";
import type { ChatTraits } from "#proxy/neutral/traits/chat-traits";
import { noMembers } from "./no-members.ts";
import { cacheControl } from "./write-content.ts";

export interface WrittenTools {
  /** Members of the body. */
  readonly members: JsonObject;
  /** Custom tools (client's names) that went as functions. */
  readonly wrapped: ReadonlySet<string>;
}

interface ToolWriting {
  readonly traits: ChatTraits;
  readonly names: ToolNames;
  readonly losses: Losses;
  readonly fieldName: TranslationTarget["fieldName"];
}

const search: HostedAbility = {
  kinds: new Set(["web-search"]),
  searchOptions: new Set(["contextSize", "userLocation"]),
};

const noTools: WrittenTools = { members: noMembers, wrapped: new Set() };

/**
 * @param fieldName how the client spells a field
 * @throws GatewayError naming a provider-run tool that this model has not, where the call relies on it
 */
export function writeTools(
  conversation: Conversation,
  traits: ChatTraits,
  names: ToolNames,
  losses: Losses,
  fieldName: TranslationTarget["fieldName"],
): WrittenTools {
  const choiceField = fieldName("toolChoice");
  const { toolChoice, parallelTools } = conversation;
  if (conversation.tools.length === 0) return noTools;
  const listed = uniqueTools(conversation.tools, losses);
  const kept = keepTools(listed, traits.takesSearchOptions ? search : nothingHosted, losses);
  // Compatible servers do not know a list of allowed tools, and no list holds a search back.
  const heldBack = traits.isOpenAI ? "own" : "none";
  const { own, hosted: searches } = allowedTools(kept, toolChoice, { heldBack, losses, choiceField });
  const isWrapped = (tool: FunctionTool | CustomTool): boolean => tool.kind === "custom" && !traits.takesCustomTools;
  const hosted = lastSearch(searches, losses);
  const lose = (): void => losses.drop(choiceField);
  const choice = (): ToolChoice | undefined =>
    freeChoice(choiceAmong(new Set(own.map(({ name }) => name)), toolChoice, lose), traits, lose);
  const members: JsonObject = {
    ...(hosted === undefined ? {} : { web_search_options: writeSearch(hosted) }),
    ...(own.length === 0
      ? {}
      : {
          tools: own.map((tool) => writeTool(tool, isWrapped(tool), { traits, names, losses, fieldName })),
          ...writeChoice(choice(), own, traits, names),
          ...(parallelTools === undefined ? {} : { parallel_tool_calls: parallelTools }),
        }),
  };
  return { members, wrapped: new Set(own.filter(isWrapped).map(({ name }) => name)) };
}

function writeTool(
  tool: FunctionTool | CustomTool,
  isWrapped: boolean,
  { traits, names, losses, fieldName }: ToolWriting,
): JsonObject {
  const name = names.toUpstream(tool.name);
  if (tool.kind === "custom" && !isWrapped) {
    return { type: "custom", custom: { name, ...described(tool), ...formatOf(tool) } };
  }
  const asFunction = tool.kind === "custom" ? customToolAsFunction(tool) : tool;
  const { schema, cache } = asFunction;
  const parameters = toolSchema(schema, {
    isChecked: traits.checksLikeOpenAI,
    isStrict: asFunction.strict === true,
    lose: loseKeyword(asFunction, fieldName("toolSchema"), losses),
  });
  const strict = strictFlag(asFunction.strict, parameters, () => losses.drop(strictField(asFunction)));
  const isLeftOut = schema === undefined && strict !== true;
  return {
    type: "function",
    function: {
      name,
      ...described(asFunction),
      ...(isLeftOut ? {} : { parameters }),
      ...(strict === undefined ? {} : { strict }),
    },
    ...(cache === undefined ? {} : cacheControl(cache, traits)),
  };
}

function described({ description }: { readonly description?: string | undefined }): JsonObject {
  return description === undefined ? {} : { description };
}

/** This format nests what the responses format has flat. */
function formatOf({ format }: CustomTool): JsonObject {
  if (format === undefined) return {};
  if (format["type"] !== "grammar" || format["grammar"] !== undefined) return { format };
  return { format: { type: "grammar", grammar: { syntax: format["syntax"], definition: format["definition"] } } };
}

function writeChoice(
  choice: ToolChoice | undefined,
  tools: readonly (FunctionTool | CustomTool)[],
  traits: ChatTraits,
  names: ToolNames,
): JsonObject {
  if (choice === undefined) return {};
  const custom = new Set(
    tools.filter(({ kind }) => kind === "custom" && traits.takesCustomTools).map(({ name }) => name),
  );
  const named = (name: string): JsonObject => {
    const type = custom.has(name) ? "custom" : "function";
    return { type, [type]: { name: names.toUpstream(name) } };
  };
  if (choice.type === "named") return { tool_choice: named(choice.name) };
  if (choice.only === undefined || choice.type === "none" || !traits.isOpenAI) return { tool_choice: choice.type };
  return {
    tool_choice: { type: "allowed_tools", allowed_tools: { mode: choice.type, tools: choice.only.map(named) } },
  };
}

function writeSearch({ search }: HostedTool): JsonObject {
  const { contextSize, userLocation } = search ?? {};
  return {
    ...(contextSize === undefined ? {} : { search_context_size: contextSize }),
    ...(userLocation === undefined ? {} : { user_location: { type: "approximate", approximate: userLocation } }),
  };
}

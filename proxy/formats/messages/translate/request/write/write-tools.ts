/** Writes tools and the tool choice (docs/design/translation.md 5.1 and 5.2). */
import type { Conversation, CustomTool, FunctionTool, HostedTool, ToolChoice } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import { currentSchema } from "#proxy/neutral/schema/current-schema";
import { objectRoot } from "#proxy/neutral/schema/object-root";
import { allowedTools } from "#proxy/neutral/tools/allowed-tools";
import { choiceAmong } from "#proxy/neutral/tools/choice-among";
import { customToolAsFunction } from "#proxy/neutral/tools/custom-tools";
import { freeChoice } from "#proxy/neutral/tools/free-choice";
import { type HostedAbility, keepTools, lastSearch, nothingHosted } from "#proxy/neutral/tools/hosted-tools";
import type { PropertyKeys } from "#proxy/neutral/tools/property-keys";
import { strictField } from "#proxy/neutral/tools/strict-field";
import type { ToolNames } from "#proxy/neutral/tools/tool-names";
import { uniqueTools } from "#proxy/neutral/tools/unique-tools";
import type { ClaudeTraits } from "#proxy/neutral/traits/claude-models";
import type { Block } from "./block.ts";
import { closeSchema } from "./closed-schema.ts";
import { cacheControl } from "./write-cache.ts";
import type { WrittenFormat } from "./write-format.ts";

/** What the model may be offered. */
export interface SelectedTools {
  readonly own: readonly (FunctionTool | CustomTool)[];
  readonly search: HostedTool | undefined;
}

export interface WrittenTools {
  readonly tools: readonly Block[];
  readonly choice: Block | undefined;
  /** The model must call a tool: older models cannot think then. */
  readonly isForced: boolean;
  /** Client's names of tools that went as functions with one text. */
  readonly customTools: ReadonlySet<string>;
}

export interface ToolsOptions {
  readonly traits: ClaudeTraits;
  readonly names: ToolNames;
  readonly keys: PropertyKeys;
  readonly outputTool: WrittenFormat["outputTool"];
  /** Names of the calls in the history. */
  readonly calledNames: ReadonlySet<string>;
  readonly losses: Losses;
  /** How the client spells its choice among the tools. */
  readonly choiceField: string;
}

/** How the provider's own search is called and chosen: no other tool may have that name beside it. */
export const searchName = "web_search";

const hostedByVendor: HostedAbility = {
  kinds: new Set(["web-search"]),
  searchOptions: new Set(["allowedDomains", "blockedDomains", "maxUses", "userLocation"]),
};

/**
 * Chosen before any name is written, for the provider's search keeps its name.
 * @param choiceField how the client spells its choice among the tools
 * @throws GatewayError for tools that only another provider can run
 */
export function selectTools(
  { tools, toolChoice }: Conversation,
  { isVendor }: ClaudeTraits,
  losses: Losses,
  choiceField: string,
): SelectedTools {
  const kept = keepTools(uniqueTools(tools, losses), isVendor ? hostedByVendor : nothingHosted, losses);
  const { own, hosted } = allowedTools(kept, toolChoice, { heldBack: "none", losses, choiceField });
  return { own, search: lastSearch(hosted, losses) };
}

export function writeTools(
  conversation: Conversation,
  { own, search }: SelectedTools,
  options: ToolsOptions,
): WrittenTools {
  const { outputTool, losses } = options;
  const customTools = new Set(own.filter(({ kind }) => kind === "custom").map(({ name }) => name));
  const tools = [
    ...own.map((tool) => writeTool(tool, options)),
    ...(search === undefined ? [] : [writeHosted(search)]),
  ];
  if (tools.length === 0 && outputTool === undefined) return { ...stubs(options), isForced: false, customTools };
  const ownNames = new Set(own.map(({ name }) => name));
  const offered = search === undefined ? ownNames : new Set([...ownNames, searchName]);
  const lose = (): void => losses.drop(options.choiceField);
  const chosen = tools.length === 0 ? undefined : choiceAmong(offered, conversation.toolChoice, lose);
  const toolChoice = freeChoice(chosen, options.traits, lose);
  const nameOf = (name: string): string => (ownNames.has(name) ? options.names.toUpstream(name) : name);
  if (outputTool !== undefined) {
    const { name, schema } = outputTool;
    const fitted = { ...outputTool, schema: options.keys.fitSchema(name, currentSchema(schema)) };
    return withOutputTool(tools, fitted, toolChoice, nameOf, customTools);
  }
  const choice = writeChoice({ ...conversation, toolChoice }, nameOf);
  return { tools, choice, isForced: choice?.["type"] === "any" || choice?.["type"] === "tool", customTools };
}

function writeTool(tool: FunctionTool | CustomTool, { names, keys, traits, losses }: ToolsOptions): Block {
  const declared = tool.kind === "custom" ? customToolAsFunction(tool) : tool;
  const schema = keys.fitSchema(declared.name, currentSchema(objectRoot(declared.schema)));
  const closed = declared.strict === true && traits.keepsSchemas && traits.isVendor ? closeSchema(schema) : undefined;
  // Without it the model is only told what the arguments should be.
  if (declared.strict === true && closed === undefined) losses.drop(strictField(declared));
  return {
    name: names.toUpstream(declared.name),
    ...(declared.description === undefined ? {} : { description: declared.description }),
    input_schema: closed ?? schema,
    ...(closed === undefined ? {} : { strict: true }),
    ...cacheControl(declared.cache, traits.isVendor),
  };
}

function writeHosted({ search }: HostedTool): Block {
  const { allowedDomains, blockedDomains, maxUses, userLocation } = search ?? {};
  return {
    type: "web_search_20250305",
    name: searchName,
    ...(maxUses === undefined ? {} : { max_uses: maxUses }),
    // Both together are refused.
    ...(allowedDomains === undefined ? {} : { allowed_domains: allowedDomains }),
    ...(blockedDomains === undefined || allowedDomains !== undefined ? {} : { blocked_domains: blockedDomains }),
    ...(userLocation === undefined ? {} : { user_location: { type: "approximate", ...userLocation } }),
  };
}

/** A history with calls needs its tools; the client who has none any more gets no call (pitfall 76). */
function stubs({ names, calledNames }: ToolsOptions): Pick<WrittenTools, "tools" | "choice"> {
  const tools = [...calledNames].map((name) => ({ name: names.toUpstream(name), input_schema: { type: "object" } }));
  return { tools, choice: tools.length === 0 ? undefined : { type: "none" } };
}

/** @param nameOf the name of a chosen tool for the upstream */
function writeChoice({ toolChoice, parallelTools }: Conversation, nameOf: (name: string) => string): Block | undefined {
  const single = parallelTools === false ? { disable_parallel_tool_use: true } : {};
  if (toolChoice === undefined) return parallelTools === false ? { type: "auto", ...single } : undefined;
  switch (toolChoice.type) {
    case "none":
      return { type: "none" };
    case "named":
      return { type: "tool", name: nameOf(toolChoice.name), ...single };
    case "required":
      return { type: "any", ...single };
    default:
      return { type: "auto", ...single };
  }
}

/** One call at most, so that there is one output (pitfall 83). */
function withOutputTool(
  tools: readonly Block[],
  outputTool: NonNullable<WrittenFormat["outputTool"]>,
  choice: ToolChoice | undefined,
  nameOf: (name: string) => string,
  customTools: ReadonlySet<string>,
): WrittenTools {
  const { name, description, schema } = outputTool;
  const all = [...tools, { name, description, input_schema: schema }];
  const isAlone = tools.length === 0 || choice?.type === "none";
  const named = choice?.type === "named" ? nameOf(choice.name) : name;
  const isNamed = isAlone || choice?.type === "named";
  const form = isNamed ? { type: "tool", name: isAlone ? name : named } : { type: "any" };
  return { tools: all, choice: { ...form, disable_parallel_tool_use: true }, isForced: true, customTools };
}

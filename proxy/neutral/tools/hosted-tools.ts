/**
 * Maps the tools that a provider runs itself across formats (docs/design/translation.md 11.3): the names that each
 * format has for them, and what happens to those that a target does not have.
 */

import type { CustomTool, FunctionTool, HostedTool, Tool } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import type { ChatWireFormat } from "#proxy/neutral/wire";

/** What a provider-run tool does, whatever it is called. */
export type HostedToolKind = HostedTool["tool"];

/** Names as a client writes them; dated ones by their beginning. First match counts. */
const names: Readonly<Record<ChatWireFormat, readonly (readonly [RegExp, HostedToolKind])[]>> = {
  ChatCompletions: [[/^web_search/, "web-search"]],
  Responses: [
    [/^web_search/, "web-search"],
    [/^code_interpreter$/, "code"],
    [/^file_search$/, "file-search"],
    [/^mcp$/, "mcp"],
    [/^image_generation$/, "image-generation"],
    [/^computer/, "computer"],
    [/^(?:local_shell|shell|apply_patch|tool_search|programmatic_tool_calling)$/, "other"],
  ],
  Messages: [
    [/^web_search/, "web-search"],
    [/^web_fetch/, "web-fetch"],
    [/^code_execution/, "code"],
    [/^mcp_toolset/, "mcp"],
    [/^computer/, "computer"],
    [/^(?:bash|text_editor|memory|tool_search|advisor)_/, "other"],
  ],
  GenerateContent: [
    [/^google_?search/i, "web-search"],
    [/^code_?execution$/i, "code"],
    [/^url_?context$/i, "web-fetch"],
    [/^file_?search$/i, "file-search"],
    [/^mcp_?servers$/i, "mcp"],
    [/^computer_?use$/i, "computer"],
    [/^(?:google_?maps|enterprise_?web_?search|retrieval)$/i, "other"],
  ],
};

/** @returns undefined for a name that is no provider-run tool of the format */
export function hostedToolKind(format: ChatWireFormat, type: string): HostedToolKind | undefined {
  return names[format].find(([pattern]) => pattern.test(type))?.[1];
}

/** What a client may want of a web search. */
export type SearchOption = keyof NonNullable<HostedTool["search"]>;

/** What a target can run of it. */
export interface HostedAbility {
  readonly kinds: ReadonlySet<HostedToolKind>;
  readonly searchOptions: ReadonlySet<SearchOption>;
}

export const nothingHosted: HostedAbility = { kinds: new Set(), searchOptions: new Set() };

/** What a client can be given back as a call, and what only the provider itself can run. */
export interface KeptTools {
  readonly own: readonly (FunctionTool | CustomTool)[];
  readonly hosted: readonly HostedTool[];
}

/**
 * Splits tools into the client's own and the provider-run ones that the target has too. One that it has not is dropped
 * where the client also brings tools of its own (coding agents always offer a search), else refused: a call that relies
 * on it alone would mean something else.
 * @param ability what the target's format can say
 * @throws GatewayError naming the tool
 */
export function keepTools(tools: readonly Tool[], ability: HostedAbility, losses: Losses): KeptTools {
  const own: (FunctionTool | CustomTool)[] = [];
  const hosted: HostedTool[] = [];
  const lost: HostedTool[] = [];
  for (const tool of tools) {
    if (tool.kind !== "hosted") own.push(tool);
    else if (ability.kinds.has(tool.tool)) hosted.push(tool);
    else lost.push(tool);
  }
  for (const tool of lost) {
    const field = tool.where ?? "tools";
    if (own.length > 0) losses.drop(field);
    else losses.refuse(field, `is a tool (${tool.type}) that the selected model's provider cannot run.`);
  }
  for (const tool of hosted) declareSearchOptions(tool, ability.searchOptions, losses);
  return { own, hosted };
}

/**
 * How a choice may name a tool that its provider runs: by its type, which has a date in the messages format alone, and a
 * search by what most call it.
 */
export function hostedNames({ tool, type }: HostedTool): readonly string[] {
  const name = type.replace(/_\d+$/, "");
  return tool === "web-search" && name !== "web_search" ? [name, "web_search"] : [name];
}

/** The search for a target that takes one: of several the last, as with tools of one name; the others are declared. */
export function lastSearch(hosted: readonly HostedTool[], losses: Losses): HostedTool | undefined {
  const searches = hosted.filter(({ tool }) => tool === "web-search");
  for (const { where } of searches.slice(0, -1)) losses.drop(where ?? "tools");
  return searches.at(-1);
}

function declareSearchOptions({ search, where }: HostedTool, carried: ReadonlySet<SearchOption>, losses: Losses): void {
  for (const option of searchOptions) {
    const value = search?.[option];
    // A medium context is what there is without a word.
    if (value === undefined || value === "medium" || carried.has(option)) continue;
    losses.drop(`${where ?? "tools"}.${spelling[option]}`);
  }
}

const searchOptions = ["allowedDomains", "blockedDomains", "maxUses", "contextSize", "userLocation"] as const;

const spelling: Readonly<Record<SearchOption, string>> = {
  allowedDomains: "allowed_domains",
  blockedDomains: "blocked_domains",
  maxUses: "max_uses",
  contextSize: "search_context_size",
  userLocation: "user_location",
};

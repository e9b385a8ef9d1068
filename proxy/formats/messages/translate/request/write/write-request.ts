/**
 * Writes a conversation as a messages body (docs/design/translation.md 3 to 7).
 *
 * The parts depend on each other in one order: names and the output format, then tools, then messages, then thinking
 * (which forced tools and a history without its thinking forbid), then sampling and the last message.
 */

import type { TranslationTarget, WrittenRequest } from "#proxy/formats/translator";
import type { Conversation } from "#proxy/neutral/conversation";
import { shortIdentifier } from "#proxy/neutral/ids/short-identifier";
import { declareLosses } from "#proxy/neutral/losses/declare-losses";
import type { Losses } from "#proxy/neutral/losses/losses";
import type { NeutralField } from "#proxy/neutral/losses/neutral-fields";
import { declaredNames } from "#proxy/neutral/tools/declared-names";
import { PropertyKeys } from "#proxy/neutral/tools/property-keys";
import { ToolNames } from "#proxy/neutral/tools/tool-names";
import { type ClaudeTraits, claudeTraitsOf } from "#proxy/neutral/traits/claude-models";
import { markName, marksOf } from "#proxy/neutral/turns/cache-marks";
import { type Block, bareText, isThinkingBlock, type Message } from "./block.ts";
import { cacheControl, limitCacheMarks } from "./write-cache.ts";
import { type WrittenFormat, writeFormat } from "./write-format.ts";
import { writeSampling } from "./write-sampling.ts";
import { type WrittenThinking, writeThinking } from "./write-thinking.ts";
import { searchName, selectTools, type WrittenTools, writeTools } from "./write-tools.ts";
import { type History, userMessage, writeTurns } from "./write-turns.ts";

/** Fields with a place in this format, or whose loss is declared here. */
const carried: readonly NeutralField[] = [
  "temperature",
  "topP",
  "topK",
  "stop",
  "outputCap",
  "reasoning",
  "outputFormat",
  "user",
  "automaticCache",
  "cacheMarks",
  "tools",
  "toolChoice",
  "parallelTools",
];

/** By whether the identifier of the end user is carried, or must not be, and whether the priority is. */
const carriedWith = {
  neither: new Set(carried),
  identifier: new Set<NeutralField>([...carried, "safetyIdentifier"]),
  tier: new Set<NeutralField>([...carried, "serviceTier"]),
  both: new Set<NeutralField>([...carried, "safetyIdentifier", "serviceTier"]),
} as const;

export function writeRequest(conversation: Conversation, target: TranslationTarget, losses: Losses): WrittenRequest {
  const traits = claudeTraitsOf(target);
  const lose = (field: NeutralField): void => losses.drop(target.fieldName(field));
  const calledNames = namesOfCalls(conversation);
  const ownNames = declaredNames(conversation);
  const choiceField = target.fieldName("toolChoice");
  const selected = selectTools(conversation, traits, losses, choiceField);
  const reserved = new Set(selected.search === undefined ? [] : [searchName]);
  const names = new ToolNames("anthropic", ownNames, reserved);
  const usedNames = new Set([...ownNames, ...calledNames].map((name) => names.toUpstream(name)));
  const keys = new PropertyKeys();
  const format = writeFormat(conversation.outputFormat, traits, usedNames, losses);
  const tools = writeTools(conversation, selected, {
    traits,
    names,
    keys,
    outputTool: format.outputTool,
    calledNames,
    losses,
    choiceField,
  });
  const history = writeTurns(conversation.turns, traits.takesLaterSystem, {
    names,
    keys,
    states: target.states,
    losses,
    takesTtl: traits.isVendor,
    takesThinking: traits.thinking !== "none",
  });
  const thinking = writeThinking(conversation, {
    traits,
    outputTokensMax: target.outputTokensMax,
    mustNotThink: tools.isForced || continuesWithoutThinking(history.messages),
  });
  if (thinking.losesReasoning) lose("reasoning");
  if (thinking.losesOutputCap) lose("outputCap");
  const mayContinue = traits.continuesPrefill && !thinking.isOn && format.format === undefined;
  const messages = endWithUser(history.messages, mayContinue, () => losses.drop(lastWhere(conversation)));
  const system = writeSystem(history, format);
  const isLimited = limitMarks(tools, system, messages, conversation);
  if (isLimited) for (const mark of marksOf(conversation)) losses.drop(markName(mark));
  const identity = writeIdentity(conversation, target, traits);
  declareLosses(conversation, identity.carried, target.fieldName, losses);
  return {
    body: {
      model: target.upstreamModel,
      max_tokens: thinking.maxTokens,
      ...(system === undefined ? {} : { system }),
      messages: messages.map(writeMessage),
      ...(tools.tools.length === 0 ? {} : { tools: tools.tools }),
      ...(tools.choice === undefined ? {} : { tool_choice: tools.choice }),
      ...writeSampling(conversation.sampling, traits, thinking.isOn, lose),
      ...writeThinkingMembers(thinking, format),
      ...cacheControl(conversation.automaticCache, traits.isVendor),
      ...identity.members,
      ...(conversation.stream ? { stream: true } : {}),
    },
    adaptation: {
      toolNames: names.changed,
      argumentKeys: keys.changed((name) => (name === format.outputTool?.name ? name : names.toUpstream(name))),
      customTools: tools.customTools,
      // Those that the provider runs have a type.
      mayPause: tools.tools.some(({ type }) => type !== undefined),
      ...format.adaptation,
    },
  };
}

function namesOfCalls({ turns }: Conversation): ReadonlySet<string> {
  return new Set(turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === "call" ? [part.name] : []))));
}

function writeThinkingMembers({ thinking, effort }: WrittenThinking, { format }: WrittenFormat): Block {
  const config = { ...(effort === undefined ? {} : { effort }), ...(format === undefined ? {} : { format }) };
  return {
    ...(thinking === undefined ? {} : { thinking }),
    ...(Object.keys(config).length === 0 ? {} : { output_config: config }),
  };
}

/** With a budget the vendor wants the message that tool results continue to begin with its thinking. */
function continuesWithoutThinking(messages: readonly Message[]): boolean {
  const last = messages.findLast(({ role }) => role === "assistant");
  return last?.blocks.some(({ type }) => type === "tool_use") === true && !isThinkingBlock(last.blocks[0]);
}

/** A message that the model cannot continue is followed by the request to do so (docs/design/translation.md 4.2). */
function endWithUser(messages: readonly Message[], mayContinue: boolean, declare: () => void): readonly Message[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return messages;
  if (mayContinue) return [...messages.slice(0, -1), { ...last, blocks: withoutSpaceAtEnd(last.blocks) }];
  declare();
  return [...messages, userMessage("Continue.")];
}

/** The vendor refuses a message to continue that ends in white space. */
function withoutSpaceAtEnd(blocks: readonly Block[]): readonly Block[] {
  const last = blocks.at(-1);
  const text = last?.["text"];
  return typeof text === "string" ? [...blocks.slice(0, -1), { ...last, text: text.trimEnd() }] : blocks;
}

function lastWhere({ turns }: Conversation): string {
  return turns.findLast(({ role }) => role === "assistant")?.parts.at(-1)?.where ?? "messages";
}

function writeSystem({ system }: History, { instruction }: WrittenFormat): string | readonly Block[] | undefined {
  const blocks = instruction === undefined ? system : [...system, { type: "text", text: instruction }];
  return blocks.length === 0 ? undefined : bareText(blocks);
}

function writeMessage({ role, blocks }: Message): Block {
  return { role, content: bareText(blocks) };
}

function limitMarks(
  { tools }: WrittenTools,
  system: string | readonly Block[] | undefined,
  messages: readonly Message[],
  { automaticCache }: Conversation,
): boolean {
  const ofSystem = typeof system === "string" ? [] : (system ?? []);
  const ofMessages = messages.flatMap(({ blocks }) => blocks.flatMap(withInnerBlocks));
  return limitCacheMarks([...tools, ...ofSystem, ...ofMessages], automaticCache === undefined ? 0 : 1);
}

/** Results hold blocks of their own, which stand before the result's end. */
function withInnerBlocks(block: Block): readonly Block[] {
  const inner: readonly Block[] = Array.isArray(block["content"]) ? block["content"] : [];
  return [...inner, block];
}

const userCharactersMax = 256;
/** `auto` may use the paid priority where the account has it. */
const tiers: ReadonlyMap<string, string> = new Map([
  ["auto", "auto"],
  ["default", "standard_only"],
  ["priority", "auto"],
]);

function writeIdentity(
  { user, safetyIdentifier, serviceTier }: Conversation,
  { channel }: TranslationTarget,
  { isVendor }: ClaudeTraits,
): { readonly members: Block; readonly carried: ReadonlySet<NeutralField> } {
  const isForwarded = channel.privacy.safetyIdentifier === "Forward";
  const id = user ?? (isForwarded ? safetyIdentifier : undefined);
  const tier = isVendor ? tiers.get(serviceTier ?? "") : undefined;
  // What the channel strips in any case is no loss of translation.
  const sendsIdentifier = !isForwarded || user === undefined;
  const withTier = sendsIdentifier ? carriedWith.both : carriedWith.tier;
  const withoutTier = sendsIdentifier ? carriedWith.identifier : carriedWith.neither;
  return {
    members: {
      ...(id === undefined || id === "" ? {} : { metadata: { user_id: shortIdentifier(id, userCharactersMax) } }),
      ...(tier === undefined ? {} : { service_tier: tier }),
    },
    carried: tier === undefined ? withoutTier : withTier,
  };
}

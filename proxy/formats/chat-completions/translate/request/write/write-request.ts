/**
 * Writes a conversation as a chat completions body (docs/design/translation.md 3). `UpstreamFormat.editBody` gets the
 * body next and handles the model's name, privacy and channel rules.
 */

import type { ReplyAdaptation, TranslationTarget, WrittenRequest } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import { cappedOutput } from "#proxy/neutral/capped-output";
import type { Conversation } from "#proxy/neutral/conversation";
import { openAIUserCharactersMax, shortIdentifier } from "#proxy/neutral/ids/short-identifier";
import { declareLosses } from "#proxy/neutral/losses/declare-losses";
import type { Losses } from "#proxy/neutral/losses/losses";
import type { NeutralField } from "#proxy/neutral/losses/neutral-fields";
import { callIds } from "#proxy/neutral/tools/call-ids";
import { declaredNames } from "#proxy/neutral/tools/declared-names";
import { ToolNames } from "#proxy/neutral/tools/tool-names";
import { type ChatTraits, chatTraitsOf } from "#proxy/neutral/traits/chat-traits";
import { markName, marksOf } from "#proxy/neutral/turns/cache-marks";
import { noMembers } from "./no-members.ts";
import { cacheControl } from "./write-content.ts";
import { writeMessages } from "./write-messages.ts";
import { writeOutputFormat } from "./write-output-format.ts";
import { writeReasoning } from "./write-reasoning.ts";
import { writeTools } from "./write-tools.ts";

/** More are refused by OpenAI. */
const stopMax = 4;

/** What every server of the format takes. */
const shared: readonly NeutralField[] = [
  ...(["temperature", "topP", "seed", "presencePenalty", "frequencyPenalty", "stop", "candidates"] as const),
  ...(["logitBias", "logprobs", "topLogprobs", "outputCap", "reasoning", "outputFormat", "user"] as const),
  ...(["tools", "toolChoice", "parallelTools", "modalities", "audioOutput", "mediaDetail"] as const),
  // Declared where they stand.
  "cacheMarks",
];
/** Strict servers refuse members that they do not know. */
const openAIOnly: readonly NeutralField[] = [
  ...(["metadata", "safetyIdentifier", "promptCacheKey", "promptCacheRetention", "promptCacheOptions"] as const),
  ...(["serviceTier", "store"] as const),
];

/** @throws GatewayError naming the client's field */
export function writeRequest(conversation: Conversation, target: TranslationTarget, losses: Losses): WrittenRequest {
  const traits = chatTraitsOf(target);
  declareLosses(conversation, carriedFields(traits), target.fieldName, losses);
  if (!traits.takesCacheControl) declareToolMarks(conversation, losses);
  const names = new ToolNames("openai", declaredNames(conversation));
  const tools = writeTools(conversation, traits, names, losses, target.fieldName);
  const format = writeOutputFormat(conversation, traits, losses);
  const reasoning = writeReasoning(conversation.reasoning, traits, {
    hasTools: tools.members["tools"] !== undefined,
    lose: () => losses.drop(target.fieldName("reasoning")),
  });
  const stop = splitStop(conversation, traits);
  const ids = callIds(conversation, traits);
  const writer = { traits, losses, names, ids, states: target.states };
  const { instructions } = format;
  const turns = instructions.length === 0 ? conversation.turns : [...instructions, ...conversation.turns];
  const body: Record<string, unknown> = { model: conversation.model, messages: writeMessages(turns, writer) };
  if (tools.members !== noMembers) Object.assign(body, tools.members);
  writeSampling(body, conversation, traits, reasoning, target, losses);
  if (stop.sent !== undefined) body["stop"] = stop.sent;
  if (reasoning !== noMembers) Object.assign(body, reasoning);
  if (format.members !== noMembers) Object.assign(body, format.members);
  const cap = cappedOutput(conversation.outputCap, [traits.outputTokensMax, target.outputTokensMax], () =>
    losses.drop(target.fieldName("outputCap")),
  );
  if (cap !== undefined) body[traits.capMember] = cap;
  writeModalities(body, conversation, traits, target, losses);
  writeIdentity(body, conversation, traits);
  if (conversation.automaticCache !== undefined) Object.assign(body, cacheControl(conversation.automaticCache, traits));
  if (traits.isOpenAI) Object.assign(body, writeOpenAIMembers(conversation, traits, target, losses));
  if (conversation.stream) Object.assign(body, { stream: true, stream_options: { include_usage: true } });
  return { body, adaptation: adaptationOf(names, tools.wrapped, format.unwrapMember, stop.emulated) };
}

/** Traits are few and shared: their fields are put together once. */
const carried = new WeakMap<ChatTraits, ReadonlySet<NeutralField>>();

function carriedFields(traits: ChatTraits): ReadonlySet<NeutralField> {
  let fields = carried.get(traits);
  if (fields === undefined) {
    fields = fieldsCarriedWith(traits);
    carried.set(traits, fields);
  }
  return fields;
}

function fieldsCarriedWith(traits: ChatTraits): ReadonlySet<NeutralField> {
  const more: NeutralField[] = traits.takesTopK ? ["topK"] : [];
  if (traits.takesCacheControl) more.push("automaticCache");
  if (traits.isOpenAI) more.push(...openAIOnly);
  if (traits.takesVerbosity) more.push("verbosity");
  return new Set([...shared, ...more]);
}

/** OpenAI's own marks stand on content alone. */
function declareToolMarks({ tools }: Conversation, losses: Losses): void {
  for (const mark of marksOf({ turns: [], tools })) losses.drop(markName(mark));
}

/** What OpenAI's reasoning models refuse is left out and declared. */
function writeSampling(
  body: Record<string, unknown>,
  { sampling }: Conversation,
  traits: ChatTraits,
  reasoning: JsonObject,
  { fieldName }: TranslationTarget,
  losses: Losses,
): void {
  const { temperature, topP, presencePenalty, frequencyPenalty, logitBias, logprobs, topLogprobs } = sampling;
  const isReasoning = reasoning["reasoning_effort"] !== "none";
  const isRefused = traits.sampling === "never" || (traits.sampling === "without-thinking" && isReasoning);
  const put = (name: string, field: NeutralField, value: unknown, isAccepted: boolean): void => {
    if (value === undefined) return;
    if (isAccepted) body[name] = value;
    else losses.drop(fieldName(field));
  };
  put("temperature", "temperature", isRefused ? unlessUsual(temperature, 1) : temperature, !isRefused);
  put("top_p", "topP", isRefused ? unlessUsual(topP, 1) : topP, !isRefused);
  put("logprobs", "logprobs", logprobs === false ? undefined : logprobs, !isRefused);
  // A count without its switch is refused by the provider.
  const count = logprobs !== true && topLogprobs === 0 ? undefined : topLogprobs;
  put("top_logprobs", "topLogprobs", count, logprobs === true && !isRefused);
  const isPlain = traits.sampling === "always";
  put("presence_penalty", "presencePenalty", isPlain ? presencePenalty : unlessUsual(presencePenalty, 0), isPlain);
  put("frequency_penalty", "frequencyPenalty", isPlain ? frequencyPenalty : unlessUsual(frequencyPenalty, 0), isPlain);
  put("logit_bias", "logitBias", logitBias, isPlain);
  put("top_k", "topK", traits.takesTopK ? sampling.topK : undefined, true);
  put("seed", "seed", sampling.seed, true);
  put("n", "candidates", sampling.candidates, true);
}

/** What is so without a word is no loss where the word is refused. */
function unlessUsual(value: number | undefined, usual: number): number | undefined {
  return value === usual ? undefined : value;
}

const noStop = { emulated: [] } as const;

/** Stop sequences beyond what the upstream takes are found in the reply by the gateway. */
function splitStop(
  { sampling }: Conversation,
  traits: ChatTraits,
): { sent?: readonly string[]; emulated: readonly string[] } {
  const { stop } = sampling;
  if (stop === undefined || stop.length === 0) return noStop;
  if (!traits.takesStop) return { emulated: stop };
  return { sent: stop.slice(0, stopMax), emulated: stop.slice(stopMax) };
}

/** Providers of other formats have a voice that speaks when none is named; here one must be. */
const voiceDefault = "alloy";

/** Sound comes with its words, in a form and a voice that must be named (docs/design/chat-completions.md 2). */
function writeModalities(
  body: Record<string, unknown>,
  { modalities, audioOutput, stream }: Conversation,
  traits: ChatTraits,
  { fieldName }: TranslationTarget,
  losses: Losses,
): void {
  if (modalities?.includes("image") === true && traits.isOpenAI) losses.refuse(fieldName("modalities"));
  const isHeard = modalities?.includes("audio") === true;
  if (!isHeard && audioOutput !== undefined) losses.drop(fieldName("audioOutput"));
  if (modalities === undefined || modalities.every((modality) => modality === "text")) return;
  body["modalities"] = isHeard && !modalities.includes("text") ? ["text", ...modalities] : modalities;
  if (!isHeard) return;
  // A file cannot be streamed: its head tells the length.
  const { voice = voiceDefault, format = stream ? "pcm16" : "wav" } = audioOutput ?? {};
  body["audio"] = { voice, format };
}

function writeIdentity(body: Record<string, unknown>, { user }: Conversation, traits: ChatTraits): void {
  if (user === undefined) return;
  body["user"] = traits.isOpenAI ? shortIdentifier(user, openAIUserCharactersMax) : user;
}

const tiers: Readonly<Record<string, string>> = { standard: "default", standard_only: "default" };
const knownTiers: ReadonlySet<string> = new Set(["auto", "default", "flex", "scale", "priority", "fast"]);

function writeOpenAIMembers(
  conversation: Conversation,
  traits: ChatTraits,
  { fieldName }: TranslationTarget,
  losses: Losses,
): JsonObject {
  const { serviceTier, metadata } = conversation;
  const tier = serviceTier === undefined || !Object.hasOwn(tiers, serviceTier) ? serviceTier : tiers[serviceTier];
  if (tier !== undefined && !knownTiers.has(tier)) losses.drop(fieldName("serviceTier"));
  return defined({
    verbosity: traits.takesVerbosity ? conversation.verbosity : undefined,
    metadata: metadata !== undefined && Object.keys(metadata).length > 0 ? metadata : undefined,
    safety_identifier: conversation.safetyIdentifier,
    prompt_cache_key: conversation.promptCacheKey,
    prompt_cache_retention: conversation.promptCacheRetention,
    prompt_cache_options: conversation.promptCacheOptions,
    service_tier: tier !== undefined && knownTiers.has(tier) ? tier : undefined,
    store: conversation.store,
  });
}

/** Without members that are undefined. */
function defined(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function adaptationOf(
  names: ToolNames,
  wrapped: ReadonlySet<string>,
  unwrapMember: string | undefined,
  stop: readonly string[],
): ReplyAdaptation {
  return {
    toolNames: names.changed.size > 0 ? names.changed : undefined,
    customTools: wrapped.size > 0 ? wrapped : undefined,
    unwrapMember,
    stop: stop.length > 0 ? stop : undefined,
  };
}

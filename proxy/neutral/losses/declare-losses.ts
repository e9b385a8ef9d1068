/**
 * Declares the fields of a conversation that a target's format cannot express: one list for all formats
 * (docs/design/translation.md 12).
 *
 * A writer names the fields that it carries; everything else that the client set is dropped or refused here, so that no
 * writer forgets one.
 */
import type { Conversation, Part } from "#proxy/neutral/conversation";
import { markName, marksOf } from "#proxy/neutral/turns/cache-marks";
import type { Losses } from "./losses.ts";
import { type NeutralField, neutralFields } from "./neutral-fields.ts";

/**
 * `true` for what the client set to something that matters. All in one place and not a function a field: most calls set
 * a few, and what is carried has its parts looked through for nothing.
 */
function fieldsSet(
  conversation: Conversation,
  carried: ReadonlySet<NeutralField>,
): Readonly<Record<NeutralField, boolean>> {
  const { sampling, tools, toolChoice, verbosity, metadata, serviceTier } = conversation;
  const { logitBias } = sampling;
  return {
    temperature: sampling.temperature !== undefined,
    topP: sampling.topP !== undefined,
    topK: sampling.topK !== undefined,
    seed: sampling.seed !== undefined,
    presencePenalty: (sampling.presencePenalty ?? 0) !== 0,
    frequencyPenalty: (sampling.frequencyPenalty ?? 0) !== 0,
    stop: (sampling.stop?.length ?? 0) > 0,
    candidates: (sampling.candidates ?? 1) > 1,
    logitBias: logitBias !== undefined && Object.keys(logitBias).length > 0,
    logprobs: sampling.logprobs === true,
    topLogprobs: (sampling.topLogprobs ?? 0) > 0,
    outputCap: conversation.outputCap !== undefined,
    reasoning: conversation.reasoning !== undefined,
    outputFormat: conversation.outputFormat !== undefined,
    verbosity: verbosity !== undefined && verbosity !== "medium",
    modalities: conversation.modalities?.some((modality) => modality !== "text") === true,
    audioOutput: conversation.audioOutput !== undefined,
    user: conversation.user !== undefined,
    safetyIdentifier: conversation.safetyIdentifier !== undefined,
    metadata: metadata !== undefined && Object.keys(metadata).length > 0,
    promptCacheKey: conversation.promptCacheKey !== undefined,
    promptCacheRetention: conversation.promptCacheRetention !== undefined,
    promptCacheOptions: conversation.promptCacheOptions !== undefined,
    automaticCache: conversation.automaticCache !== undefined,
    cacheMarks: !carried.has("cacheMarks") && marksOf(conversation).length > 0,
    serviceTier: serviceTier !== undefined && serviceTier !== "auto",
    store: conversation.store === true,
    mediaDetail: !carried.has("mediaDetail") && hasDetails(conversation),
    safetySettings: (conversation.safetySettings?.length ?? 0) > 0,
    tools: tools.length > 0,
    // Part of its tool, and declared where it stands.
    toolSchema: false,
    toolChoice: tools.length > 0 && toolChoice !== undefined && toolChoice.type !== "auto",
    // Clients of the older functions never said it.
    parallelTools: conversation.parallelTools === false && conversation.usesLegacyFunctions !== true,
  };
}

function hasDetails({ turns }: Conversation): boolean {
  return turns.some(({ parts }) => parts.flatMap(withContent).some(hasDetail));
}

function dropDetails({ turns }: Conversation, name: string, losses: Losses): void {
  for (const part of turns.flatMap(({ parts }) => parts).flatMap(withContent)) {
    if (hasDetail(part)) losses.drop(part.where === undefined ? name : `${part.where}.${name}`);
  }
}

function withContent(part: Part): readonly Part[] {
  return part.kind === "result" ? part.content : [part];
}

/** How closely a picture is to be looked at, as far as that is no provider's own choice. */
function hasDetail(part: Part): boolean {
  return part.kind === "media" && part.detail !== undefined && part.detail !== "auto";
}

/** Without these the reply would be another one, or cost another amount: refused whatever the channel's policy is. */
const essential: ReadonlySet<NeutralField> = new Set([
  "candidates",
  "modalities",
  "audioOutput",
  "outputFormat",
  "tools",
]);

/** How a reply shall sound matters only where it is to be heard. */
function isEssential(field: NeutralField, { modalities }: Conversation): boolean {
  return essential.has(field) && (field !== "audioOutput" || modalities?.includes("audio") === true);
}

const beside = new WeakMap<ReadonlySet<NeutralField>, readonly NeutralField[]>();

/** Fields that are not carried; found once for a set that a writer keeps. */
function fieldsBeside(carried: ReadonlySet<NeutralField>): readonly NeutralField[] {
  let fields = beside.get(carried);
  if (fields === undefined) {
    fields = neutralFields.filter((field) => !carried.has(field));
    beside.set(carried, fields);
  }
  return fields;
}

/**
 * @param carried the fields that the writer puts into its body: a set that is kept, not one made for the call
 * @param fieldName how the client spells a field
 * @throws GatewayError for what would change meaning, or for anything when the channel rejects
 */
export function declareLosses(
  conversation: Conversation,
  carried: ReadonlySet<NeutralField>,
  fieldName: (field: NeutralField) => string,
  losses: Losses,
): void {
  const isSet = fieldsSet(conversation, carried);
  for (const field of fieldsBeside(carried)) {
    if (!isSet[field]) continue;
    if (isEssential(field, conversation)) losses.refuse(fieldName(field));
    if (field === "mediaDetail") dropDetails(conversation, fieldName(field), losses);
    else if (field === "cacheMarks") for (const mark of marksOf(conversation)) losses.drop(markName(mark));
    else losses.drop(fieldName(field));
  }
  for (const field of conversation.unmapped) losses.drop(field);
  // What a provider's own tools did is encrypted for that provider; what the model made of it stands in its text. What
  // the gateway showed of it is no part of what anybody said.
  for (const { parts } of conversation.turns) {
    for (const part of parts) if (part.kind === "hosted" && part.isShown !== true) losses.drop(part.where ?? part.type);
  }
}

/**
 * Declares what a conversation says and a target's format cannot: one list for all formats
 * (`protocols/translation.md` section 12).
 *
 * A writer names the fields that it carries; everything else that the client set is dropped or refused here, so that no
 * writer forgets one.
 */
import type { Conversation, Part } from "./conversation.ts";
import type { Losses } from "./losses.ts";
import type { NeutralField } from "./translator.ts";

/** `true` when the client set it to something that matters. */
const isSet: Readonly<Record<NeutralField, (conversation: Conversation) => boolean>> = {
  temperature: ({ sampling }) => sampling.temperature !== undefined,
  topP: ({ sampling }) => sampling.topP !== undefined,
  topK: ({ sampling }) => sampling.topK !== undefined,
  seed: ({ sampling }) => sampling.seed !== undefined,
  presencePenalty: ({ sampling }) => (sampling.presencePenalty ?? 0) !== 0,
  frequencyPenalty: ({ sampling }) => (sampling.frequencyPenalty ?? 0) !== 0,
  stop: ({ sampling }) => (sampling.stop?.length ?? 0) > 0,
  candidates: ({ sampling }) => (sampling.candidates ?? 1) > 1,
  logitBias: ({ sampling: { logitBias } }) => logitBias !== undefined && Object.keys(logitBias).length > 0,
  logprobs: ({ sampling }) => sampling.logprobs === true,
  topLogprobs: ({ sampling }) => (sampling.topLogprobs ?? 0) > 0,
  outputCap: ({ outputCap }) => outputCap !== undefined,
  reasoning: ({ reasoning }) => reasoning !== undefined,
  answerFormat: ({ answerFormat }) => answerFormat !== undefined,
  verbosity: ({ verbosity }) => verbosity !== undefined && verbosity !== "medium",
  modalities: ({ modalities }) => modalities?.some((modality) => modality !== "text") === true,
  audioOutput: ({ audioOutput }) => audioOutput !== undefined,
  user: ({ user }) => user !== undefined,
  safetyIdentifier: ({ safetyIdentifier }) => safetyIdentifier !== undefined,
  metadata: ({ metadata }) => metadata !== undefined && Object.keys(metadata).length > 0,
  promptCacheKey: ({ promptCacheKey }) => promptCacheKey !== undefined,
  promptCacheRetention: ({ promptCacheRetention }) => promptCacheRetention !== undefined,
  automaticCache: ({ automaticCache }) => automaticCache !== undefined,
  cacheMarks: ({ turns, tools }) =>
    turns.some(({ parts }) => parts.some(({ cache }) => cache !== undefined)) ||
    tools.some((tool) => tool.kind === "function" && tool.cache !== undefined),
  serviceTier: ({ serviceTier }) => serviceTier !== undefined && serviceTier !== "auto",
  store: ({ store }) => store === true,
  mediaDetail: ({ turns }) => turns.some(({ parts }) => parts.flatMap(withContent).some(hasDetail)),
  safetySettings: ({ safetySettings }) => (safetySettings?.length ?? 0) > 0,
  tools: ({ tools }) => tools.length > 0,
  toolChoice: ({ toolChoice, tools }) => tools.length > 0 && toolChoice !== undefined && toolChoice.type !== "auto",
  // Clients of the older functions never said it.
  parallelTools: ({ parallelTools, usesLegacyFunctions }) => parallelTools === false && usesLegacyFunctions !== true,
};

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

/** Every field, once. */
export const neutralFields: readonly NeutralField[] = Object.keys(isSet).filter(isNeutralField);

function isNeutralField(field: string): field is NeutralField {
  return Object.hasOwn(isSet, field);
}

/** Without these the answer would be another one, or cost another amount: refused whatever the channel's policy is. */
const essential: ReadonlySet<NeutralField> = new Set([
  "candidates",
  "modalities",
  "audioOutput",
  "answerFormat",
  "tools",
]);

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
  for (const field of fieldsBeside(carried)) {
    if (!isSet[field](conversation)) continue;
    if (essential.has(field)) losses.refuse(fieldName(field));
    if (field === "mediaDetail") dropDetails(conversation, fieldName(field), losses);
    else losses.drop(fieldName(field));
  }
  for (const field of conversation.unread) losses.drop(field);
  // What a provider's own tools did is encrypted for that provider; what the model made of it stands in its text.
  for (const { parts } of conversation.turns) {
    for (const part of parts) if (part.kind === "hosted") losses.drop(part.where ?? part.type);
  }
}

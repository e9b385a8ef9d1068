/**
 * Writes a conversation as a responses body (docs/design/translation.md 3 to 7).
 *
 * Nothing is stored unless the client asks for it; reasoning comes back encrypted instead, so that the next turn can
 * carry it.
 */

import type { ReplyAdaptation, TranslationTarget, WrittenRequest } from "#proxy/formats/translator";
import { asList, type JsonObject, member } from "#proxy/json/json-value";
import type { Conversation, OutputFormat, Turn } from "#proxy/neutral/conversation";
import { openAIUserCharactersMax, shortIdentifier } from "#proxy/neutral/ids/short-identifier";
import { declareLosses } from "#proxy/neutral/losses/declare-losses";
import type { Losses } from "#proxy/neutral/losses/losses";
import type { NeutralField } from "#proxy/neutral/losses/neutral-fields";
import { completeSchema, hasRefusedRoot } from "#proxy/neutral/schema/complete-schema";
import { hasObjectRoot, wrapInObject, wrappedMember } from "#proxy/neutral/schema/object-root";
import { isStrictSchema, strictFlag } from "#proxy/neutral/schema/strict-schema";
import { callIds } from "#proxy/neutral/tools/call-ids";
import { declaredNames } from "#proxy/neutral/tools/declared-names";
import { ToolNames } from "#proxy/neutral/tools/tool-names";
import { type ResponsesTraits, responsesTraitsOf } from "#proxy/neutral/traits/responses-traits";
import { hasText, type MarkAbility, markName, marksOf, placeMarks } from "#proxy/neutral/turns/cache-marks";
import { pairResults } from "#proxy/neutral/turns/pair-results";
import { providerOf } from "#proxy/providers/providers";
import { writeItems } from "./write-items.ts";
import { takesSampling, writeReasoning, writeSampling } from "./write-sampling.ts";
import { writeTools } from "./write-tools.ts";

/** Stop sequences are carried by the gateway itself: it cuts the reply. */
const carried: ReadonlySet<NeutralField> = new Set<NeutralField>([
  "temperature",
  "topP",
  "stop",
  "logprobs",
  "topLogprobs",
  "outputCap",
  "reasoning",
  "outputFormat",
  "verbosity",
  "user",
  "safetyIdentifier",
  "metadata",
  "promptCacheKey",
  "promptCacheRetention",
  "mediaDetail",
  "serviceTier",
  "store",
  "tools",
  "toolChoice",
  "parallelTools",
  // Declared where they are left out.
  "promptCacheOptions",
  "cacheMarks",
]);

const carriedWithoutVerbosity: ReadonlySet<NeutralField> = new Set(
  [...carried].filter((field) => field !== "verbosity"),
);

/** OpenAI's own marks, on what the user or the system says; replies go as bare texts. */
const vendorMarks: MarkAbility = {
  takes: ({ isBreakpoint }) => isBreakpoint === true,
  hasPlace: (part, role) => {
    if (part.kind === "result") return hasText(part);
    return role !== "assistant" && (part.kind === "text" || part.kind === "media");
  },
  isBlank: (text) => text === "",
};
const noMarks: MarkAbility = { ...vendorMarks, takes: () => false };

/** @throws GatewayError naming the client's field */
export function writeRequest(conversation: Conversation, target: TranslationTarget, losses: Losses): WrittenRequest {
  const isVendor = providerOf(target.channel).vendor === "OpenAI";
  const traits = responsesTraitsOf(target);
  declareLosses(conversation, traits.takesVerbosity ? carried : carriedWithoutVerbosity, target.fieldName, losses);
  for (const mark of marksOf({ turns: [], tools: conversation.tools })) losses.drop(markName(mark));
  const names = new ToolNames("openai", declaredNames(conversation));
  const hasCustomTools = traits.takesCustomTools;
  const ids = callIds(conversation, traits);
  const writing = { states: target.states, losses, names, hasCustomTools, traits, ids };
  const { instructions, rest } = extractInstructions(
    placeMarks(conversation.turns, isVendor ? vendorMarks : noMarks, losses),
  );
  const systemRole = isVendor ? "developer" : "system";
  const input = writeItems(pairResults(rest), { ...writing, systemRole });
  const { format, unwrapMember } = writeFormat(conversation.outputFormat, traits, losses);
  const include = writeInclude(conversation, traits, isVendor);
  const verbosity = traits.takesVerbosity ? conversation.verbosity : undefined;
  const text = {
    ...(format === undefined ? {} : { format }),
    ...(verbosity === undefined ? {} : { verbosity }),
  };
  const body: JsonObject = {
    model: target.upstreamModel,
    ...(instructions === undefined ? {} : { instructions }),
    input: needsJsonWord(conversation, input) ? [jsonWord, ...input] : input,
    ...writeTools(conversation, {
      ...writing,
      choiceField: target.fieldName("toolChoice"),
      schemaField: target.fieldName("toolSchema"),
    }),
    ...writeSampling(conversation, traits, target, losses),
    ...writeReasoning(conversation, traits, target, losses),
    ...(Object.keys(text).length === 0 ? {} : { text }),
    ...writeIdentity(conversation, isVendor, target, losses),
    store: conversation.store ?? false,
    ...(include.length === 0 ? {} : { include }),
    ...(conversation.stream ? { stream: true } : {}),
  };
  return { body, adaptation: adaptationOf(conversation, names, hasCustomTools, unwrapMember) };
}

function adaptationOf(
  { tools, sampling }: Conversation,
  names: ToolNames,
  hasCustomTools: boolean,
  unwrapMember: string | undefined,
): ReplyAdaptation {
  const custom = tools.flatMap((tool) => (tool.kind === "custom" ? [tool.name] : []));
  return {
    ...(names.changed.size === 0 ? {} : { toolNames: names.changed }),
    ...(hasCustomTools || custom.length === 0 ? {} : { customTools: new Set(custom) }),
    ...(unwrapMember === undefined ? {} : { unwrapMember }),
    ...((sampling.stop?.length ?? 0) === 0 ? {} : { stop: sampling.stop }),
  };
}

/** One plain text in front is `instructions`; everything else keeps its own items (docs/design/translation.md 4.1). */
function extractInstructions(turns: readonly Turn[]): { instructions: string | undefined; rest: readonly Turn[] } {
  const first = turns.findIndex(({ role }) => role !== "system");
  const leading = turns.slice(0, first < 0 ? turns.length : first).flatMap(({ parts }) => parts);
  const texts = leading.flatMap((part) => (part.kind === "text" && part.text !== "" ? [part.text] : []));
  const isMarked = leading.some(({ cache }) => cache !== undefined);
  if (texts.length > 1 || isMarked) return { instructions: undefined, rest: turns };
  return { instructions: texts[0], rest: turns.slice(first < 0 ? turns.length : first) };
}

function writeFormat(
  format: OutputFormat | undefined,
  traits: ResponsesTraits,
  losses: Losses,
): { format?: JsonObject; unwrapMember?: string } {
  if (format === undefined) return {};
  if (format.kind === "json") return { format: { type: "json_object" } };
  if (format.kind === "enum") {
    const schema = wrapInObject({ type: "string", enum: format.values });
    return { format: { type: "json_schema", name: "response", schema, strict: true }, unwrapMember: wrappedMember };
  }
  const isWrapped = !hasObjectRoot(format.schema) || (traits.checksLikeOpenAI && hasRefusedRoot(format.schema));
  const lose = (): void => losses.drop(`${format.where ?? "text.format"}.strict`);
  const schema = completeSchema(isWrapped ? wrapInObject(format.schema) : format.schema);
  const written = {
    type: "json_schema",
    name: schemaName(format.name),
    ...(format.description === undefined ? {} : { description: format.description }),
    schema,
    strict: strictFlag(format.strict, schema, lose) ?? isStrictSchema(schema),
  };
  return isWrapped ? { format: written, unwrapMember: wrappedMember } : { format: written };
}

function schemaName(name: string | undefined): string {
  const cleaned = (name ?? "").replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
  return cleaned === "" ? "response" : cleaned;
}

/**
 * The API refuses `json_object` when no message of `input` speaks of JSON, whatever `instructions` say
 * (docs/design/translation.md 7.1).
 */
const jsonWord = { type: "message", role: "developer", content: "Answer in JSON." };

function needsJsonWord({ outputFormat }: Conversation, input: readonly JsonObject[]): boolean {
  return outputFormat?.kind === "json" && !input.some(speaksOfJson);
}

function speaksOfJson({ type, content }: JsonObject): boolean {
  if (type !== "message") return false;
  const texts = typeof content === "string" ? [content] : asList(content).map((part) => member(part, "text"));
  return texts.some((text) => typeof text === "string" && /json/i.test(text));
}

function writeInclude(conversation: Conversation, traits: ResponsesTraits, isVendor: boolean): readonly string[] {
  const wantsState = traits.thinks && (isVendor || conversation.reasoning !== undefined);
  const include = wantsState ? ["reasoning.encrypted_content"] : [];
  if (conversation.sampling.logprobs === true && takesSampling(traits, conversation.reasoning)) {
    include.push("message.output_text.logprobs");
  }
  return include;
}

/** Names of tiers that the format knows, by the neutral word or another format's. */
const tiers: Readonly<Record<string, string>> = {
  auto: "auto",
  default: "default",
  standard: "default",
  standard_only: "default",
  flex: "flex",
  priority: "priority",
  fast: "fast",
  scale: "scale",
};

function writeIdentity(
  conversation: Conversation,
  isVendor: boolean,
  target: TranslationTarget,
  losses: Losses,
): JsonObject {
  const { user, safetyIdentifier, metadata, promptCacheKey, promptCacheRetention, serviceTier } = conversation;
  const cacheOptions = isVendor ? conversation.promptCacheOptions : undefined;
  if (cacheOptions !== conversation.promptCacheOptions) losses.drop(target.fieldName("promptCacheOptions"));
  const tier = serviceTier !== undefined && Object.hasOwn(tiers, serviceTier) ? tiers[serviceTier] : undefined;
  if (serviceTier !== undefined && tier === undefined) losses.drop(target.fieldName("serviceTier"));
  return {
    ...(user === undefined ? {} : { user: isVendor ? shortIdentifier(user, openAIUserCharactersMax) : user }),
    ...(safetyIdentifier === undefined ? {} : { safety_identifier: safetyIdentifier }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(promptCacheKey === undefined ? {} : { prompt_cache_key: promptCacheKey }),
    ...(promptCacheRetention === undefined ? {} : { prompt_cache_retention: promptCacheRetention }),
    ...(cacheOptions === undefined ? {} : { prompt_cache_options: cacheOptions }),
    ...(tier === undefined ? {} : { service_tier: tier }),
  };
}

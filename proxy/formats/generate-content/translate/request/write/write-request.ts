/** Writes a conversation as a generateContent body (`UpstreamTranslator.writeRequest`); the path holds the model. */

import type { ReplyAdaptation, TranslationTarget, WrittenRequest } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { Conversation } from "#proxy/neutral/conversation";
import { declareLosses } from "#proxy/neutral/losses/declare-losses";
import type { Losses } from "#proxy/neutral/losses/losses";
import type { NeutralField } from "#proxy/neutral/losses/neutral-fields";
import { declaredNames } from "#proxy/neutral/tools/declared-names";
import { ToolNames } from "#proxy/neutral/tools/tool-names";
import { geminiTraitsOf } from "#proxy/neutral/traits/gemini-models";
import { providerOf } from "#proxy/providers/providers";
import { writeContents } from "./write-contents.ts";
import { writeGeneration } from "./write-generation.ts";
import { writeTools } from "./write-tools.ts";

const carried: ReadonlySet<NeutralField> = new Set([
  // Declared where they stand.
  "cacheMarks",
  ...(["temperature", "topP", "topK", "seed", "presencePenalty", "frequencyPenalty", "stop", "candidates"] as const),
  ...(["logprobs", "topLogprobs", "outputCap", "reasoning", "outputFormat", "modalities", "audioOutput"] as const),
  ...(["safetySettings", "tools", "toolChoice", "serviceTier", "mediaDetail"] as const),
]);

/** Google's words for OpenAI's tiers; neither Vertex AI nor compatible servers have them. */
const serviceTiers: Readonly<Record<string, string>> = { default: "standard", flex: "flex", priority: "priority" };

export function writeRequest(conversation: Conversation, target: TranslationTarget, losses: Losses): WrittenRequest {
  const traits = geminiTraitsOf(target);
  declareLosses(conversation, carried, target.fieldName, losses);
  const names = new ToolNames("google", declaredNames(conversation));
  const options = { target, traits, names, losses };
  const { generationConfig, surplusStop } = writeGeneration(conversation, options);
  const { systemInstruction, contents, hasServerTools } = writeContents(conversation, options);
  const { tools, toolConfig } = writeTools(conversation, options, hasServerTools);
  const serviceTier = writeServiceTier(conversation, target, losses);
  const body: JsonObject = {
    ...(systemInstruction === undefined ? {} : { systemInstruction }),
    contents,
    ...(tools === undefined ? {} : { tools }),
    ...(toolConfig === undefined ? {} : { toolConfig }),
    ...(conversation.safetySettings?.length ? { safetySettings: conversation.safetySettings } : {}),
    ...(generationConfig === undefined ? {} : { generationConfig }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
  };
  return { body, adaptation: adaptationOf(conversation, names, surplusStop) };
}

function writeServiceTier(
  { serviceTier }: Conversation,
  target: TranslationTarget,
  losses: Losses,
): string | undefined {
  if (serviceTier === undefined || serviceTier === "auto") return undefined;
  const tier = providerOf(target.channel).takesServiceTier ? own(serviceTiers, serviceTier) : undefined;
  if (tier === undefined) losses.drop(target.fieldName("serviceTier"));
  return tier;
}

function own(table: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function adaptationOf(
  conversation: Conversation,
  names: ToolNames,
  surplusStop: readonly string[] | undefined,
): ReplyAdaptation {
  const custom = conversation.tools.flatMap((tool) => (tool.kind === "custom" ? [tool.name] : []));
  return {
    refusesMalformedCall: true,
    ...(names.changed.size > 0 ? { toolNames: names.changed } : {}),
    ...(custom.length > 0 ? { customTools: new Set(custom) } : {}),
    ...(surplusStop === undefined ? {} : { stop: surplusStop }),
  };
}

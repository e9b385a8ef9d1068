/**
 * Writes sampling, length, thinking and the output format as `generationConfig`
 * (docs/design/translation.md 3, 6.1 and 7).
 */
import type { JsonObject } from "#proxy/json/json-value";
import { cappedOutput } from "#proxy/neutral/capped-output";
import type { Conversation, MediaPart } from "#proxy/neutral/conversation";
import type { NeutralField } from "#proxy/neutral/losses/neutral-fields";
import { describedSchema } from "#proxy/neutral/schema/described-schema";
import { toGoogleJsonSchema } from "#proxy/neutral/schema/to-google-json-schema";
import { toGoogleSchema } from "#proxy/neutral/schema/to-google-schema";
import type { GeminiTraits } from "#proxy/neutral/traits/gemini-models";
import type { WriteOptions } from "./write-options.ts";
import { writeThinking } from "./write-thinking.ts";

const temperatureMax = 2;
const logprobsMax = 20;
const int32Max = 2 ** 31 - 1;
/** Google takes five; the rest is looked for in the reply. */
const stopSequencesMax = 5;

export interface WrittenGeneration {
  readonly generationConfig?: JsonObject;
  /** Stop sequences that went beyond Google's number. */
  readonly surplusStop?: readonly string[];
}

export function writeGeneration(conversation: Conversation, options: WriteOptions): WrittenGeneration {
  const { traits, losses, target } = options;
  const { sampling } = conversation;
  const clamp = (field: NeutralField, value: number | undefined, min: number, max: number): number | undefined => {
    if (value === undefined || (value >= min && value <= max)) return value;
    losses.drop(target.fieldName(field));
    return Math.min(Math.max(value, min), max);
  };
  const ifAccepted = (field: NeutralField, value: number | undefined): number | undefined => {
    if (value === undefined || traits.takesSampling) return value;
    losses.drop(target.fieldName(field));
    return undefined;
  };
  const stop = sampling.stop?.filter((text) => text !== "") ?? [];
  const config = compact({
    maxOutputTokens: cappedOutput(conversation.outputCap, [traits.outputTokensMax, target.outputTokensMax], () =>
      losses.drop(target.fieldName("outputCap")),
    ),
    temperature: clamp("temperature", ifAccepted("temperature", sampling.temperature), 0, temperatureMax),
    topP: ifAccepted("topP", sampling.topP),
    topK: sampling.topK === undefined ? undefined : ifAccepted("topK", Math.round(sampling.topK)),
    candidateCount: sampling.candidates === 1 ? undefined : sampling.candidates,
    stopSequences: stop.length === 0 ? undefined : stop.slice(0, stopSequencesMax),
    presencePenalty: sampling.presencePenalty,
    frequencyPenalty: sampling.frequencyPenalty,
    seed: writeSeed(sampling.seed, options),
    responseLogprobs: sampling.logprobs === true ? true : undefined,
    logprobs: clamp("topLogprobs", countedLogprobs(conversation, options), 0, logprobsMax),
    ...writeOutputFormat(conversation, traits),
    responseModalities: writeModalities(conversation, traits),
    speechConfig: writeSpeech(conversation, options),
    mediaResolution: writeResolution(conversation, options),
    thinkingConfig: writeThinking(conversation.reasoning, options),
  });
  const surplusStop = stop.slice(stopSequencesMax);
  return {
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
    ...(surplusStop.length === 0 ? {} : { surplusStop }),
  };
}

function compact(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function writeSeed(seed: number | undefined, { losses, target }: WriteOptions): number | undefined {
  if (seed === undefined || (Number.isInteger(seed) && Math.abs(seed) <= int32Max)) return seed;
  losses.drop(target.fieldName("seed"));
  return undefined;
}

function writeOutputFormat({ outputFormat }: Conversation, traits: GeminiTraits): JsonObject {
  switch (outputFormat?.kind) {
    case undefined:
      return {};
    case "json":
      return { responseMimeType: "application/json" };
    case "enum":
      return { responseMimeType: "text/x.enum", responseSchema: { type: "STRING", enum: outputFormat.values } };
    case "schema": {
      const schema = describedSchema(outputFormat.schema, outputFormat.description);
      if (traits.takesJsonSchema) {
        return { responseMimeType: "application/json", responseJsonSchema: toGoogleJsonSchema(schema) };
      }
      const responseSchema = toGoogleSchema(schema, { ordersProperties: true });
      return { responseMimeType: "application/json", responseSchema };
    }
    default:
      return outputFormat satisfies never;
  }
}

function writeModalities({ modalities }: Conversation, traits: GeminiTraits): readonly string[] | undefined {
  const asked = modalities?.some((modality) => modality !== "text") === true;
  return asked ? modalities?.map((modality) => modality.toUpperCase()) : traits.defaultModalities;
}

/** A count without its switch says nothing, and is not sent. */
function countedLogprobs({ sampling }: Conversation, { losses, target }: WriteOptions): number | undefined {
  if (sampling.logprobs === true) return sampling.topLogprobs;
  if ((sampling.topLogprobs ?? 0) > 0) losses.drop(target.fieldName("topLogprobs"));
  return undefined;
}

/** Google replies with bare samples, which is what clients of chat call `pcm16`; a whole reply becomes a WAV file of them. */
function writeSpeech({ audioOutput, stream }: Conversation, { losses, target }: WriteOptions): JsonObject | undefined {
  const format = audioOutput?.format;
  const isGiven = format === undefined || format === "pcm16" || (format === "wav" && !stream);
  if (!isGiven) losses.drop(`${target.fieldName("audioOutput")}.format`);
  if (audioOutput?.voice === undefined) return undefined;
  return { voiceConfig: { prebuiltVoiceConfig: { voiceName: audioOutput.voice } } };
}

/** One resolution holds for the whole request, so it is said only when all images agree. */
function writeResolution({ turns }: Conversation, { losses, target }: WriteOptions): string | undefined {
  const images = turns.flatMap(({ parts }) =>
    parts.filter((part): part is MediaPart => part.kind === "media" && part.media === "image"),
  );
  const details = new Set(images.map(({ detail }) => detail ?? "auto"));
  const [detail] = details;
  if (details.size === 1 && detail === "low") return "MEDIA_RESOLUTION_LOW";
  if (details.size === 1 && detail === "high") return "MEDIA_RESOLUTION_HIGH";
  for (const image of images) {
    if (image.detail !== undefined && image.detail !== "auto") {
      losses.drop(`${image.where ?? "messages"}.${target.fieldName("mediaDetail")}`);
    }
  }
  return undefined;
}

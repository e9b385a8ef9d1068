/** Chooses how an upstream is asked to speak: as OpenAI-style servers are, or for content that is sound (Gemini-style). */
import type { Dialects } from "#proxy/endpoints/dialects/dialect";
import type { WireFormat } from "#proxy/snapshot/types.gen";
import { geminiSpeech } from "./gemini-dialect.ts";
import { openAISpeech } from "./open-ai-dialect.ts";
import type { SpeechCall } from "./read-speech.ts";
import type { SoundReading } from "./sound-reader.ts";

/** Formats of channels, the one first that keeps most of a call. */
export const speechFormats: readonly WireFormat[] = ["Speech", "GenerateContent"];

export function speechDialects(reading: SoundReading): Dialects<SpeechCall> {
  return {
    formatsFor: () => speechFormats,
    dialectOf: (_call, { format }) => (format === "GenerateContent" ? geminiSpeech : openAISpeech(reading)),
  };
}

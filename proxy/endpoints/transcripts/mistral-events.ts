/** Says the events of Mistral's transcripts (docs.mistral.ai, "Audio transcription") in those of OpenAI. Pure. */
import { transcriptUsage } from "#proxy/endpoints/dialects/audio-usage";
import { asText, type JsonObject } from "#proxy/json/json-value";
import { inputTokens, outputTokens } from "#proxy/settle/usage";

/**
 * @param segments how many came before
 * @returns undefined for an event that OpenAI has no word for; `own` for one that is none of Mistral's
 */
export function openAIEventOf(event: JsonObject, segments: number): JsonObject | undefined | "own" {
  switch (event["type"]) {
    case "transcription.text.delta":
      return { type: "transcript.text.delta", delta: asText(event["text"]) };
    case "transcription.segment":
      return {
        type: "transcript.text.segment",
        id: `seg_${segments}`,
        start: event["start"],
        end: event["end"],
        text: asText(event["text"]),
        speaker: asText(event["speaker_id"]),
      };
    case "transcription.done":
      return { type: "transcript.text.done", text: asText(event["text"]), ...usageOf(event["usage"]) };
    case "transcription.language":
      return undefined;
    default:
      return "own";
  }
}

function usageOf(told: unknown): JsonObject {
  const usage = transcriptUsage(told);
  if (usage === undefined) return {};
  const [input, output] = [inputTokens(usage), outputTokens(usage)];
  const details = { text_tokens: usage.input, audio_tokens: usage.audioInput };
  return {
    usage: {
      type: "tokens",
      input_tokens: input,
      output_tokens: output,
      total_tokens: input + output,
      input_token_details: details,
    },
  };
}

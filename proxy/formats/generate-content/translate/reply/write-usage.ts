/**
 * Writes usage in Google's terms (docs/design/translation.md 8.2). It leaves out counts of 0, as Google does.
 */
import type { JsonObject } from "#proxy/json/json-value";
import { inputTokens, outputTokens, type TokenUsage } from "#proxy/settle/usage";

export function writeUsage(usage: TokenUsage): JsonObject {
  const input = inputTokens(usage);
  const output = outputTokens(usage);
  const promptDetails = modalities(usage.audioInput, usage.imageInput);
  const candidateDetails = modalities(usage.audioOutput, usage.imageOutput);
  return {
    promptTokenCount: input,
    ...(usage.cacheRead > 0 ? { cachedContentTokenCount: usage.cacheRead } : {}),
    candidatesTokenCount: output - usage.reasoning,
    ...(usage.reasoning > 0 ? { thoughtsTokenCount: usage.reasoning } : {}),
    totalTokenCount: input + output,
    ...(promptDetails.length > 0 ? { promptTokensDetails: promptDetails } : {}),
    ...(candidateDetails.length > 0 ? { candidatesTokensDetails: candidateDetails } : {}),
  };
}

function modalities(audio: number, image: number): JsonObject[] {
  return [
    ...(audio > 0 ? [{ modality: "AUDIO", tokenCount: audio }] : []),
    ...(image > 0 ? [{ modality: "IMAGE", tokenCount: image }] : []),
  ];
}

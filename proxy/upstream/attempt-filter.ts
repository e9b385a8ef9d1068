/**
 * Creates the filter of a streamed reply: the upstream format's own, inside a stream translator where the formats
 * differ.
 */
import type { StreamFilter } from "#proxy/formats/format";
import type { AttemptOptions } from "./attempt-options.ts";

export function createAttemptFilter({
  translation,
  format,
  call,
  limits,
  estimateMissingUsage,
}: Pick<AttemptOptions, "translation" | "format" | "call" | "limits" | "estimateMissingUsage">): StreamFilter {
  const waitsForUsage = estimateMissingUsage !== undefined;
  const translating = translation?.createStreamFilter(limits.eventBytesMax, limits.replyBodyBytesMax, waitsForUsage);
  return translating ?? format.createStreamFilter(call, limits.eventBytesMax);
}

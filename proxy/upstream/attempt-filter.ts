/** The meter of a streamed answer: the upstream's format's own, within the translation to the client's where they differ. */
import type { StreamMeter } from "#proxy/formats/format";
import type { AttemptOptions } from "./attempt-options.ts";

export function createAttemptMeter({
  translation,
  format,
  call,
  limits,
  estimateUntold,
}: Pick<AttemptOptions, "translation" | "format" | "call" | "limits" | "estimateUntold">): StreamMeter {
  const waitsForUsage = estimateUntold !== undefined;
  const translating = translation?.createStreamMeter(limits.eventBytesMax, limits.replyBodyBytesMax, waitsForUsage);
  return translating ?? format.createStreamMeter(call, limits.eventBytesMax);
}

/** Counts what a call for pictures used, where its upstream does not say (docs/design/images.md 4). */
import { attachmentTokens } from "#proxy/admit/estimate-cost";
import type { SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import type { UnitCounter } from "#proxy/dispatch/reservations/settle-units";
import type { ImageCall } from "#proxy/endpoints/images/call/image-call";
import { countImages, type ImagesMade } from "#proxy/settle/image-price";
import { inputTokens, type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import { outputTokensAtMost, tokensOfImage, tokensOfPartial } from "./image-tokens.ts";

export function imageCounter({ call, services }: SettlementContext<ImageCall>): UnitCounter {
  const { prompt, sources, mask, asked, count } = call;
  const inputs = sources.length + (mask === undefined ? 0 : 1);
  const tokens = async (images: readonly ImagesMade[]): Promise<TokenUsage> => ({
    ...zeroUsage,
    input: prompt === "" ? 0 : await services.estimateTokens(prompt),
    imageInput: inputs * attachmentTokens,
    ...outputTokensOf(call, images),
  });
  const all = [{ ...asked, count }];
  return {
    parts: count,
    units: { images: all },
    tokens: (units) => tokens(units?.images ?? []),
    output: ({ units }) => ({ ...zeroUsage, ...outputTokensOf(call, units?.images ?? [{ ...asked, count }]) }),
    partial: async (filter) => {
      const told = filter?.units?.images ?? [];
      // The upstream was at work: nobody knows on how much of what was asked for.
      const images = countImages(told) === 0 ? all : told;
      const usage = filter?.usage;
      const counted = await tokens(images);
      if (filter === undefined || usage === undefined) return { usage: counted, units: { images } };
      const { input, imageInput } = inputTokens(usage) === 0 ? counted : usage;
      const imageOutput = Math.max(usage.imageOutput, filter.produced().imageTokens);
      return { usage: { ...usage, input, imageInput, imageOutput }, units: { images } };
    },
  };
}

function outputTokensOf(call: ImageCall, images: readonly ImagesMade[]): Pick<TokenUsage, "output" | "imageOutput"> {
  const count = countImages(images);
  if (call.isDrawnAsText) return outputTokensAtMost({ ...call, count });
  const whole = images.reduce((sum, image) => sum + image.count * tokensOfImage(image), 0);
  return { output: 0, imageOutput: whole * call.frames + count * call.partialImages * tokensOfPartial };
}

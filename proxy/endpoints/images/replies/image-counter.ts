/** Counts what a call for pictures used, where its upstream does not say (docs/design/images.md 4). */
import { attachmentTokens } from "#proxy/admit/estimate-cost";
import type { SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import type { UnitCounter } from "#proxy/dispatch/reservations/settle-units";
import type { ImageCall } from "#proxy/endpoints/images/call/image-call";
import { countImages, type ImagesMade } from "#proxy/settle/image-price";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import { outputTokensAtMost, tokensOfImage } from "./image-tokens.ts";

export function imageCounter({ call, route, services }: SettlementContext<ImageCall>): UnitCounter {
  const { prompt, sources, asked, count } = call;
  const read = async (): Promise<TokenUsage> => {
    const input = prompt === "" ? 0 : await services.estimateTokens(prompt);
    return { ...zeroUsage, input, imageInput: sources.length * attachmentTokens };
  };
  const tokens = async (images: readonly ImagesMade[]): Promise<TokenUsage> => ({
    ...(await read()),
    ...outputTokensOf(call, images),
  });
  return {
    parts: count,
    units: { images: [{ ...asked, count }] },
    tokens: (units) => tokens(units?.images ?? []),
    output: ({ units }) => ({ ...zeroUsage, ...outputTokensOf(call, units?.images ?? [{ ...asked, count }]) }),
    partial: async (filter) => {
      const told = filter?.units?.images ?? [];
      const isFree = countImages(told) === 0 && chargesImagesAlone(route.price);
      // The upstream was at work, and nothing else of the call costs anything.
      const images = isFree ? [{ ...asked, count: 1 }] : told;
      const counted = await tokens(images);
      const usage = filter?.usage;
      return {
        usage:
          usage === undefined ? counted : { ...usage, imageOutput: Math.max(usage.imageOutput, counted.imageOutput) },
        units: { images },
      };
    },
  };
}

function outputTokensOf(call: ImageCall, images: readonly ImagesMade[]): Pick<TokenUsage, "output" | "imageOutput"> {
  if (call.isDrawnAsText) return outputTokensAtMost({ ...call, count: countImages(images) });
  const imageOutput = images.reduce((sum, image) => sum + image.count * tokensOfImage(image), 0);
  return { output: 0, imageOutput: imageOutput * call.frames };
}

type Price = SettlementContext["route"]["price"];

function chargesImagesAlone(price: Price): boolean {
  return price?.images !== undefined && (price.request ?? price.input ?? price.imageInput) === undefined;
}

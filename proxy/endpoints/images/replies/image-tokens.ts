/**
 * Estimates the tokens of pictures that are made (PURE; docs/design/images.md 4): the most that they may come to before a
 * call, and what they came to where the upstream does not tell.
 */
import type { ImageKind } from "#proxy/settle/image-price";

/**
 * For 1,048,576 pixels: OpenAI, "Image generation", section "Cost and latency". What lies above `high` is not published; each
 * step up is taken for twice the one below. Vendors' own names count as `high`.
 */
const tokensByQuality: Readonly<Record<string, number>> = {
  low: 272,
  standard: 1_056,
  medium: 1_056,
  high: 4_160,
  hd: 4_160,
  xhigh: 8_320,
  max: 16_640,
};
const pixelsOfTable = 1_048_576;
/** The largest of the usual sizes, for one that the model chooses. */
const usualPixelsMax = 1_024 * 1_536;
/** 4K, the largest that any model makes. */
const pixelsMax = 4_096 * 4_096;

/** Each picture that is shown before the whole one: OpenAI, as above, section "Partial images cost". */
export const tokensOfPartial = 100;

/** Of a drawing that is text, at most; nothing is published. */
const tokensOfDrawing = 16_384;
/** Of a picture that the model is shown, at most: `input_fidelity: high` reads more than the usual 1,600. */
export const inputTokensOfImage = 6_240;

/** Of one of Google's pictures, whatever quality is asked for: Google, "Gemini API pricing", for 1K and at most (4K). */
export const usualGoogleTokens = 1_290;
export const googleTokensMax = 2_520;

/** Tokens of one picture with a size and quality as asked for or told; unknown ones at the dearest usual. */
export function tokensOfImage({ size, quality }: ImageKind): number {
  const known = quality !== undefined && Object.hasOwn(tokensByQuality, quality) ? quality : "high";
  const tokens = tokensByQuality[known] ?? 0;
  return Math.ceil((tokens * pixelsOf(size)) / pixelsOfTable);
}

function pixelsOf(size: string | undefined): number {
  const [width, height] = (size ?? "").split("x").map(Number);
  if (width === undefined || height === undefined || !(width * height > 0)) return usualPixelsMax;
  return Math.min(width * height, pixelsMax);
}

/** What is asked for, as far as it decides on tokens. */
export interface TokensAsked {
  readonly asked: ImageKind;
  readonly count: number;
  readonly frames: number;
  readonly partialImages: number;
  readonly isDrawnAsText: boolean;
}

/** The most that a call may produce: tokens of pictures, and of text for drawings that are text. */
export function outputTokensAtMost(call: TokensAsked): { readonly output: number; readonly imageOutput: number } {
  if (call.isDrawnAsText) return { output: call.count * tokensOfDrawing, imageOutput: 0 };
  const each = tokensOfImage(call.asked) * call.frames + tokensOfPartial * call.partialImages;
  return { output: 0, imageOutput: call.count * each };
}

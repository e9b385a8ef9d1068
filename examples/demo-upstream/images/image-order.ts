/** What the Images paths have in common: reading how many pictures of which kind are wanted, and writing them. */
import { type DemoCall, type DemoReply, jsonReply, namedEvent } from "#examples/demo-upstream/endpoint";
import { BadRequest } from "#examples/demo-upstream/format";
import { choice, isOn, wholeNumber } from "#examples/demo-upstream/http/read-option";
import { type JsonObject, text } from "#examples/demo-upstream/json-view";
import { drawPicture, type PictureFormat, type PictureSize } from "./picture.ts";

/** All that the gateway in front lets through; OpenAI takes 10. */
const countMax = 128;
/** As OpenAI's. */
const partialImagesMax = 3;
const sideMax = 2048;
const usualSize: PictureSize = { width: 1024, height: 1024 };
/** Tokens of a picture are its tiles of so many pixels: 1024 for 1024x1024. */
const pixelsPerToken = 1024;
/** Tokens of a picture that is sent, whatever its size. */
export const imageTokens = 256;

export interface ImageOrder {
  readonly model: string;
  readonly count: number;
  readonly size: PictureSize;
  readonly format: PictureFormat;
  readonly isTransparent: boolean;
  readonly isStream: boolean;
  readonly partialImages: number;
  readonly quality: string;
}

/** @throws BadRequest */
export function readImageOrder({ body, model }: DemoCall): ImageOrder {
  if (model === undefined) throw new BadRequest("model", "you must provide a model parameter");
  return {
    model,
    count: wholeNumber(body, "n", 1, countMax) ?? 1,
    size: readSize(text(body["size"]) ?? "auto"),
    format: choice(body, "output_format", ["png", "svg"], "png"),
    isTransparent: body["background"] === "transparent",
    isStream: isOn(body, "stream"),
    partialImages: wholeNumber(body, "partial_images", 0, partialImagesMax) ?? 0,
    quality: text(body["quality"]) ?? "auto",
  };
}

/** @throws BadRequest for a size that is not `<width>x<height>` or `auto` */
function readSize(size: string): PictureSize {
  if (size === "auto") return usualSize;
  const [, width, height] = /^(\d{1,4})x(\d{1,4})$/.exec(size) ?? [];
  const sides = { width: Number(width ?? 0), height: Number(height ?? 0) };
  if (Object.values(sides).every((side) => side >= 16 && side <= sideMax)) return sides;
  throw new BadRequest("size", `Invalid 'size': give <width>x<height>, each from 16 to ${sideMax}, or auto.`);
}

export function tokensOfPicture({ width, height }: PictureSize): number {
  return Math.ceil((width * height) / pixelsPerToken);
}

interface Shown {
  /** What every picture shows. */
  readonly caption: string;
  /** For the count of tokens. */
  readonly prompt: string;
  readonly imagesGiven: number;
  /** `image_generation` or `image_edit`: what events are called. */
  readonly eventPrefix: string;
}

/** Draws what was ordered, always as `b64_json`, as GPT image models do. */
export function writeImages(call: DemoCall, order: ImageOrder, shown: Shown): DemoReply {
  const { count, size, format, isTransparent, isStream } = order;
  const draw = (caption: string): string =>
    drawPicture({ ...size, text: caption, isTransparent }, format).bytes.toString("base64");
  const captions = Array.from({ length: count }, (_, index) =>
    count === 1 ? shown.caption : `${shown.caption}\n\n${index + 1} of ${count}`,
  );
  const common = {
    background: isTransparent ? "transparent" : "opaque",
    output_format: format,
    quality: order.quality,
    size: `${size.width}x${size.height}`,
  };
  if (!isStream) {
    const data = captions.map((caption) => ({ b64_json: draw(caption), revised_prompt: shown.prompt }));
    return jsonReply({ created: call.createdAt, ...common, data, usage: usage(order, shown, count) });
  }
  const event = (kind: string, fields: JsonObject): string =>
    namedEvent({ type: `${shown.eventPrefix}.${kind}`, created_at: call.createdAt, ...common, ...fields });
  // A partial image shows the first part of its text.
  const partial = (caption: string, index: number): string =>
    draw(caption.slice(0, Math.ceil((caption.length * (index + 1)) / (order.partialImages + 1))));
  const pieces = captions.flatMap((caption) => [
    ...Array.from({ length: order.partialImages }, (_, index) =>
      event("partial_image", { partial_image_index: index, b64_json: partial(caption, index) }),
    ),
    event("completed", { b64_json: draw(caption), usage: usage(order, shown, 1) }),
  ]);
  const error = {
    type: "error",
    error: { type: "server_error", code: null, message: "The demo upstream was asked to fail.", param: null },
  };
  return { kind: "streamed", contentType: "text/event-stream; charset=utf-8", pieces, errorPiece: namedEvent(error) };
}

function usage({ size }: ImageOrder, { prompt, imagesGiven }: Shown, pictures: number): object {
  const textTokens = Math.ceil(prompt.length / 4);
  const given = imagesGiven * imageTokens;
  const made = tokensOfPicture(size) * pictures;
  return {
    input_tokens: textTokens + given,
    input_tokens_details: { image_tokens: given, text_tokens: textTokens },
    output_tokens: made,
    output_tokens_details: { image_tokens: made, text_tokens: 0 },
    total_tokens: textTokens + given + made,
  };
}

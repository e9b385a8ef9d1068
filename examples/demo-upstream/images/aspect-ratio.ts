/** The size of a picture that Gemini and Imagen are asked for by its proportions (`16:9`) and its class (`1K`, `2K`). */
import { BadRequest } from "#examples/demo-upstream/format";
import { text } from "#examples/demo-upstream/json-view";
import type { PictureSize } from "./picture.ts";

const longSides: Readonly<Record<string, number>> = { "1K": 1024, "2K": 2048 };

/** @throws BadRequest for proportions beyond 4:1 and for classes that are not made here */
export function sizeOfAspect(aspectRatio: unknown, imageSize: unknown): PictureSize {
  const [, across, down] = /^(\d{1,2}):(\d{1,2})$/.exec(text(aspectRatio) ?? "1:1") ?? [];
  const ratio = Number(across) / Number(down);
  if (!(ratio >= 1 / 4 && ratio <= 4)) throw new BadRequest("aspectRatio", "aspectRatio: give one such as 16:9");
  const long = longSides[text(imageSize) ?? "1K"];
  if (long === undefined) throw new BadRequest("imageSize", "imageSize: this upstream makes 1K and 2K");
  return ratio >= 1
    ? { width: long, height: Math.round(long / ratio) }
    : { width: Math.round(long * ratio), height: long };
}

/** Reads what OpenAI-style replies and events tell of the pictures in them (docs/design/images.md 3 and 4). */
import { readUsage } from "#proxy/formats/chat-completions/native/read-usage";
import { asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { ImageKind, ImagesMade } from "#proxy/settle/image-price";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";

/** Whether an object carries a picture: its bytes or its address. */
export function isPicture(value: unknown): value is JsonObject {
  return isObject(value) && (asText(value["b64_json"]) !== "" || asText(value["url"]) !== "");
}

/** Size and quality as a reply or an event tells them. */
export function toldKind(value: JsonObject): ImageKind {
  return { size: textOf(value, "size"), quality: textOf(value, "quality") };
}

function textOf(value: JsonObject, name: string): string | undefined {
  const text = member(value, name);
  return typeof text === "string" ? text : undefined;
}

/**
 * Usage of a reply or an event. Older models do not say what their output tokens are: those of pictures, unless the
 * pictures are text.
 */
export function readImageUsage(value: unknown, isDrawnAsText: boolean): TokenUsage | undefined {
  const told = member(value, "usage");
  const usage = readUsage(told);
  if (usage === undefined || isDrawnAsText || isObject(member(told, "output_tokens_details"))) return usage;
  return { ...usage, output: 0, imageOutput: usage.imageOutput + usage.output };
}

/** Of several pictures, each with usage of its own. */
export function sumUsage(known: TokenUsage | undefined, more: TokenUsage | undefined): TokenUsage | undefined {
  if (known === undefined || more === undefined) return known ?? more;
  const sum: Record<keyof TokenUsage, number> = { ...zeroUsage };
  for (const name of Object.keys(sum) as (keyof TokenUsage)[]) sum[name] = known[name] + more[name];
  return sum;
}

/** Pictures of one kind together. */
export function countKinds(kinds: readonly ImageKind[]): readonly ImagesMade[] {
  const counted: ImagesMade[] = [];
  for (const { size, quality } of kinds) {
    const at = counted.findIndex((each) => each.size === size && each.quality === quality);
    const found = counted[at];
    if (found === undefined) counted.push({ size, quality, count: 1 });
    else counted[at] = { ...found, count: found.count + 1 };
  }
  return counted;
}

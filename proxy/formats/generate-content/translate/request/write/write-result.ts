/** Writes results of calls as `functionResponse` parts (docs/design/translation.md 5.5). */

import { parseJsonText } from "#proxy/json/json-text";
import type { JsonObject } from "#proxy/json/json-value";
import { isObject } from "#proxy/json/json-value";
import type { MediaPart, ResultPart } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import { writeMedia } from "./write-media.ts";

export interface WrittenResult {
  readonly part: JsonObject;
  /** Files for models whose results cannot hold them. */
  readonly besides: readonly JsonObject[];
}

/**
 * @param name of the call, in the upstream's spelling
 * @param id of the call; undefined where the upstream must see none
 */
export function writeResult(
  result: ResultPart,
  { name, id, takesParts, losses }: { name: string; id: string | undefined; takesParts: boolean; losses: Losses },
): WrittenResult {
  const media = result.content
    .filter((part): part is MediaPart => part.kind === "media")
    .map((part) => writeMedia(part, losses));
  const functionResponse: JsonObject = {
    ...(id === undefined ? {} : { id }),
    name,
    response: writeResponse(result),
    ...(takesParts && media.length > 0 ? { parts: media } : {}),
  };
  return { part: { functionResponse }, besides: takesParts ? [] : media };
}

/** Always an object: a list, a number or a text is put behind `output` (pitfall 74). */
function writeResponse({ content, isError }: ResultPart): JsonObject {
  const texts = content.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  const text = texts.join("\n");
  if (isError === true) return { error: text };
  if (texts.length === 1 && /^\s*\{/.test(text)) {
    const value = parsed(text);
    if (isObject(value)) return value;
  }
  return { output: text };
}

function parsed(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return undefined;
  }
}

/**
 * Removes `"usage":null` from the chunks of a stream whose client did not ask for usage.
 *
 * Providers put it on every chunk once usage was requested, so this runs per event: a search, a look at the
 * neighbouring bytes and one copy, without decoding. A key's bytes can never stand inside a JSON string, where its
 * quotes would be escaped.
 */

import { BodyEditor } from "../../http/body-editor.ts";
import { scanJsonObject } from "../../http/strict-json.ts";

const nullUsage = Buffer.from('usage":null');
const lead = Buffer.from('],"');
const comma = 44;
const closeBrace = 125;

/**
 * @returns the bytes without it; undefined when there is none, or none that stands where chunks have it (after the
 *   list of choices, last or before another member)
 */
export function withoutNullUsage(block: Buffer): Buffer | undefined {
  let at = block.indexOf(nullUsage);
  if (at < 0) return undefined;
  const kept: Buffer[] = [];
  let from = 0;
  while (at >= 0) {
    const end = at + nullUsage.length;
    const next = block[end];
    const isBehindList = block.compare(lead, 0, lead.length, Math.max(0, at - lead.length), at) === 0;
    if (!isBehindList || (next !== comma && next !== closeBrace)) return undefined;
    // The list's closing bracket stays.
    kept.push(block.subarray(from, at - lead.length + 1));
    from = end;
    at = block.indexOf(nullUsage, end);
  }
  kept.push(block.subarray(from));
  return Buffer.concat(kept);
}

/** Takes the member out of an event's JSON without touching another byte of it. */
export function withoutUsage(json: string): Buffer {
  const scanned = scanJsonObject(Buffer.from(json), eventBounds);
  const editor = new BodyEditor(scanned);
  editor.remove("usage");
  return Buffer.concat([dataField, editor.build(), blankLine]);
}

const eventBounds = { depthMax: 1_000, keysMax: 1_000_000 };
const dataField = Buffer.from("data: ");
const blankLine = Buffer.from("\n\n");

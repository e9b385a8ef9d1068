/**
 * Removes `"usage":null` from the chunks of a stream whose client did not ask for usage.
 *
 * Providers put it on every chunk once usage was requested, so this runs per event: a search, a check of the
 * neighbouring bytes and one copy, without decoding. A key's bytes never occur inside a JSON string, where its quotes
 * would be escaped.
 */

import { GatewayError } from "#proxy/errors";
import { BodyEditor } from "#proxy/json/body-editor";
import { scanJsonObject } from "#proxy/json/strict-json";

const nullUsage = Buffer.from('usage":null');
const quote = 34;
const comma = 44;
const closeBracket = 93;
const closeBrace = 125;

/**
 * @returns the bytes without it; undefined when there is none, or none that stands where chunks have it (after the
 *   list of choices or a text, last or before another member)
 */
export function withoutNullUsage(block: Buffer): Buffer | undefined {
  let at = block.indexOf(nullUsage);
  if (at < 0) return undefined;
  const kept = Buffer.allocUnsafe(block.length);
  let from = 0;
  let length = 0;
  while (at >= 0) {
    const end = at + nullUsage.length;
    if (!followsMember(block, at, end)) return undefined;
    // The end of the member before stays; comma and quote go.
    length += block.copy(kept, length, from, at - 2);
    from = end;
    at = block.indexOf(nullUsage, end);
  }
  length += block.copy(kept, length, from);
  return kept.subarray(0, length);
}

/** Whether the bytes before are `],"` or `","`, and the byte behind ends the member. */
function followsMember(block: Buffer, at: number, end: number): boolean {
  const next = block[end];
  const before = block[at - 3];
  const isLed = block[at - 1] === quote && block[at - 2] === comma && (before === closeBracket || before === quote);
  return isLed && (next === comma || next === closeBrace);
}

/** Takes the member out of an event's JSON without touching another byte of it. @param json an object */
export function withoutUsage(json: string): Buffer {
  return Buffer.concat([dataField, removeUsage(json), blankLine]);
}

/**
 * The strict reader is made for requests and refuses what a provider may send (lone surrogates of an emoji cut in two,
 * a member twice); such an event is written anew.
 */
function removeUsage(json: string): Buffer {
  try {
    const editor = new BodyEditor(scanJsonObject(Buffer.from(json), eventBounds));
    editor.remove("usage");
    return editor.build();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const value: unknown = JSON.parse(json);
    return Buffer.from(JSON.stringify(value, (key, member) => (key === "usage" ? undefined : member)));
  }
}

const eventBounds = { depthMax: 1_000, keysMax: 1_000_000 };
const dataField = Buffer.from("data: ");
const blankLine = Buffer.from("\n\n");

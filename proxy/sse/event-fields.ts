/**
 * Reads the fields of server-sent events, for the few events of a stream that the gateway must understand.
 *
 * It is as lenient as the providers' own parsers: with or without a space after the colon, any line ends, a byte order
 * mark, comments, unknown fields. Lines that are not fields are kept apart: Google sends a bare JSON error there.
 */

/** One event: `data` lines joined with a line feed. */
export interface EventFields {
  readonly name: string | undefined;
  /** Undefined when the event has no data line: a comment, a ping without data, an empty event. */
  readonly data: string | undefined;
  /** Lines that are neither field nor comment, joined with a line feed. */
  readonly stray: string | undefined;
}

const lineEnds = /\r\n|\n|\r/;
const fieldNames = new Set(["event", "data", "id", "retry"]);

/** Reads one event's bytes (line ends at its end are optional). */
export function readEventFields(bytes: Buffer): EventFields {
  let text = bytes.toString("utf8");
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  let name: string | undefined;
  let data: string | undefined;
  let stray: string | undefined;
  for (const line of text.split(lineEnds)) {
    if (line === "" || line.startsWith(":")) continue;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    if (!fieldNames.has(field)) {
      stray = stray === undefined ? line : `${stray}\n${line}`;
      continue;
    }
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") name = value;
    else if (field === "data") data = data === undefined ? value : `${data}\n${value}`;
  }
  return { name, data, stray };
}

/** Cuts a block of whole events into its events, each with the blank lines that follow it. Shares the memory. */
export function splitEvents(block: Buffer): Buffer[] {
  const events: Buffer[] = [];
  let start = 0;
  let position = 0;
  let lineIsBlank = true;
  let hasLine = false;
  while (position < block.length) {
    const byte = block[position];
    if (byte !== 10 && byte !== 13) {
      lineIsBlank = false;
      hasLine = true;
      position = nextLineEnd(block, position);
      continue;
    }
    position += byte === 13 && block[position + 1] === 10 ? 2 : 1;
    if (lineIsBlank && hasLine) {
      while (block[position] === 10 || block[position] === 13) position += 1;
      events.push(block.subarray(start, position));
      start = position;
      hasLine = false;
    }
    lineIsBlank = true;
  }
  if (start < block.length) events.push(block.subarray(start));
  return events;
}

function nextLineEnd(block: Buffer, from: number): number {
  const lineFeed = block.indexOf(10, from);
  const end = lineFeed < 0 ? block.length : lineFeed;
  const carriage = block.subarray(from, end).indexOf(13);
  return carriage < 0 ? end : from + carriage;
}

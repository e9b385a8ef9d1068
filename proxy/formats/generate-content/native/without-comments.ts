/**
 * Removes everything but data from a stream for Google's clients: several of their SDKs fail on a line that begins with
 * a colon, one on a blank line between events, and their patterns know no other field. The data itself keeps every
 * byte.
 */
import { splitEvents } from "#proxy/sse/event-fields";

const colon = 0x3a;
const space = 0x20;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = Buffer.from("\ufeff");
const dataField = Buffer.from("data:");
/** Behind the field's colon their patterns expect one. */
const plainStart = Buffer.from("data: ");
const otherFields = ["event", "id", "retry"].map((name) => Buffer.from(name));

/** @param block whole events @returns undefined when there is nothing to take out */
export function withoutComments(block: Buffer): Buffer | undefined {
  if (isPlain(block)) return undefined;
  const kept: Buffer[] = [];
  const start = startsWith(block, byteOrderMark) ? byteOrderMark.length : 0;
  for (const event of splitEvents(block.subarray(start))) {
    const lines = linesOf(event);
    const said = lines.filter((line) => !isBlank(line) && line[0] !== colon && !isOtherField(line));
    if (said.length === 0) continue;
    for (const line of said) kept.push(...spaced(line));
    // One blank line ends an event; alone it is none, and a second one is an event that says nothing.
    const end = lines.at(-1);
    if (end !== undefined && isBlank(end)) kept.push(end);
  }
  return Buffer.concat(kept);
}

/** Whether there are only lines `data: ...`, each with one blank line behind it. Searches natively. */
function isPlain(block: Buffer): boolean {
  let at = 0;
  while (at < block.length) {
    if (!startsWith(block.subarray(at), plainStart)) return false;
    const end = block.indexOf(lineFeed, at);
    if (end < 0) return false;
    const isReturned = block[end - 1] === carriageReturn;
    // A line may end with a return alone.
    if (block.subarray(at, isReturned ? end - 1 : end).includes(carriageReturn)) return false;
    at = end + 1;
    if (block[at] === carriageReturn) at += 1;
    if (block[at] !== lineFeed) return false;
    at += 1;
  }
  return true;
}

/** With their line ends. */
function linesOf(event: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  for (let at = 0; at < event.length; at += 1) {
    const byte = event[at];
    if (byte === carriageReturn && event[at + 1] === lineFeed) continue;
    if (byte !== lineFeed && byte !== carriageReturn) continue;
    lines.push(event.subarray(from, at + 1));
    from = at + 1;
  }
  if (from < event.length) lines.push(event.subarray(from));
  return lines;
}

function isBlank(line: Buffer): boolean {
  return line[0] === lineFeed || line[0] === carriageReturn;
}

function isOtherField(line: Buffer): boolean {
  return otherFields.some((name) => {
    if (!startsWith(line, name)) return false;
    const next = line[name.length];
    return next === undefined || next === colon || next === lineFeed || next === carriageReturn;
  });
}

function spaced(line: Buffer): Buffer[] {
  if (!startsWith(line, dataField) || line[dataField.length] === space) return [line];
  return [plainStart, line.subarray(dataField.length)];
}

function startsWith(line: Buffer, start: Buffer): boolean {
  return line.subarray(0, start.length).equals(start);
}

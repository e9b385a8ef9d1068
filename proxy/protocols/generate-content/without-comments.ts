/**
 * Takes comments and blank events out of a stream for Google's clients: several of their SDKs fail on a line that begins
 * with a colon, one on a blank line between events. Frames keep every byte.
 */
import { splitEvents } from "../../sse/event-fields.ts";

const colon = 0x3a;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** Lines that are comments, and blank ones behind the one that ends an event. */
const suspects = ["\n:", "\r:", "\n\n\n", "\n\n\r\n", "\n\r\n\n", "\n\r\n\r\n", "\r\r\r"].map((text) =>
  Buffer.from(text),
);

/** @param block whole events @returns undefined when there is nothing to take out */
export function withoutComments(block: Buffer): Buffer | undefined {
  const first = block[0];
  const isSuspect =
    first === colon || first === lineFeed || first === carriageReturn || suspects.some((text) => block.includes(text));
  if (!isSuspect) return undefined;
  const kept: Buffer[] = [];
  for (const event of splitEvents(block)) {
    const lines = linesOf(event).filter((line) => line[0] !== colon);
    // A blank line ends an event; alone it is none, and a second one says nothing.
    const said = lines.filter((line) => !isBlank(line));
    const end = lines.find(isBlank);
    if (said.length > 0) kept.push(...said, ...(end === undefined ? [] : [end]));
  }
  return Buffer.concat(kept);
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

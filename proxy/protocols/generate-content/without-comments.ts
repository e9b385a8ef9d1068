/**
 * Takes comments and blank events out of a stream for Google's clients: several of their SDKs fail on a line that begins
 * with a colon, one on a blank line between events. Frames keep every byte.
 */
import { splitEvents } from "../../sse/event-fields.ts";

const colon = 0x3a;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const commentLines = [Buffer.from("\n:"), Buffer.from("\r:")];

/** @param block whole events @returns undefined when there is nothing to take out */
export function withoutComments(block: Buffer): Buffer | undefined {
  const first = block[0];
  const isSuspect =
    first === colon ||
    first === lineFeed ||
    first === carriageReturn ||
    commentLines.some((begin) => block.includes(begin));
  if (!isSuspect) return undefined;
  const kept: Buffer[] = [];
  for (const event of splitEvents(block)) {
    const lines = linesOf(event).filter((line) => line[0] !== colon);
    // A blank line ends an event; alone it is none.
    if (lines.some((line) => !isBlank(line))) kept.push(...lines);
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

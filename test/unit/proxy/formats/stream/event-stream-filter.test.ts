/** Line ends of every spelling, cut anywhere: no event is lost and none is glued to its neighbour. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { createStreamFilter } from "#proxy/formats/messages/native/stream-filter";

const blankLines = ["\n\n", "\r\n\r\n", "\r\r", "\n\r\n", "\r\n\r", "\r\n\n", "\n\r"];

function event(number: number): string {
  return `event: ping\ndata: {"type":"ping","n":${number}}`;
}

/** The events a client reads, by the rules of the standard. */
function read(text: string): string[] {
  const events: string[] = [];
  let lines: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line !== "") lines.push(line);
    else if (lines.length > 0) {
      events.push(lines.join("\n"));
      lines = [];
    }
  }
  return events;
}

function pass(pieces: readonly Buffer[]): string {
  const filter = createStreamFilter(1024);
  return Buffer.concat(pieces.flatMap((piece) => [...filter.push(piece)])).toString();
}

describe("EventStreamFilter", () => {
  for (const first of blankLines) {
    it(`passes every event whatever cuts a stream with ${JSON.stringify(first)}`, () => {
      for (const second of blankLines) {
        const bytes = Buffer.from(`${event(1)}${first}${event(2)}${second}${event(3)}\n\n`);
        const expected = read(bytes.toString());
        for (let from = 0; from <= bytes.length; from += 1) {
          for (const length of [1, 2, 3, 9, 40]) {
            const to = Math.min(bytes.length, from + length);
            const text = pass([bytes.subarray(0, from), bytes.subarray(from, to), bytes.subarray(to)]);
            assert.deepEqual(read(text), expected, `cut at ${from} and ${to}, ${JSON.stringify(second)}`);
          }
        }
      }
    });
  }
});

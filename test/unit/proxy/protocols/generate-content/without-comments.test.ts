import assert from "node:assert/strict";
import { withoutComments } from "../../../../../proxy/protocols/generate-content/without-comments.ts";

const frame = 'data: {"candidates":[]}';

describe("withoutComments", () => {
  for (const [name, block, want] of [
    ["leaves frames alone", `${frame}\r\n\r\n${frame}\n\n`, undefined],
    ["takes a comment out", `: ping\n\n${frame}\n\n`, `${frame}\n\n`],
    ["takes a comment within an event out", `: ping\ndata: {}\n\n`, "data: {}\n\n"],
    ["takes a comment behind an event out", `${frame}\r\n\r\n: ping\r\n\r\n`, `${frame}\r\n\r\n`],
    ["leaves nothing of comments alone", ": a\n\n: b\n\n", ""],
    ["takes blank events out", `${frame}\r\n\r\n\r\n\r\n${frame}\r\n\r\n`, `${frame}\r\n\r\n${frame}\r\n\r\n`],
    ["takes single line ends out", `${frame}\n\n\n${frame}\n\n`, `${frame}\n\n${frame}\n\n`],
    ["reads lines that end with a return", `${frame}\r\r: ping\r\r${frame}\r\r`, `${frame}\r\r${frame}\r\r`],
    ["leaves a colon within a text alone", 'data: {"text":"a\\n:b"}\n\n', undefined],
  ] as const) {
    it(`CLIENTS 1: ${name}`, () => {
      assert.equal(withoutComments(Buffer.from(block))?.toString(), want);
    });
  }
});

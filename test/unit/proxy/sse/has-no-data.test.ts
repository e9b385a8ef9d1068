import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { hasNoData } from "#proxy/sse/has-no-data";

const rows: readonly (readonly [string, boolean])[] = [
  ["", true],
  ["\n\r\n", true],
  [": OPENROUTER PROCESSING\n\n", true],
  [":\r\n\r\n: data: no\r\r", true],
  ["event: ping\n\n", true],
  ["id: 7\nretry: 10\n\n", true],
  ["data: {}\n\n", false],
  ["event: ping\ndata: {}\n\n", false],
  [": a\r\rdata: {}\r\r", false],
  ['[{"candidates":[]}', false],
  ["eventual\n\n", false],
];

describe("events that say nothing", () => {
  for (const [block, want] of rows) {
    it(JSON.stringify(block), () => assert.equal(hasNoData(Buffer.from(block)), want));
  }
});

import assert from "node:assert/strict";
import { smallestCalls, translationOf } from "#test/support/translation/pure-translation";

/** What only one of filter and reader takes for the end of a reply; found by the fuzzer. */
const halfEnds = [
  {
    name: "an end without the response that it ends",
    stream:
      'event:\ndata:{"type":".delta","sequence_number":2}\n\ndata:{"type":"response.completed","x":{"y":[{"z":0}]},"n":4}',
  },
];

describe("StreamTranslator", () => {
  for (const { name, stream } of halfEnds) {
    for (const client of ["ChatCompletions", "Messages", "GenerateContent"] as const) {
      it(`never tells ${client} clients that a reply is whole that is not: ${name}`, () => {
        const filter = translationOf("Responses", client, smallestCalls[client], true).createStreamFilter(1 << 20);
        const said = Buffer.concat([...filter.push(Buffer.from(stream)), ...filter.end()]).toString("utf8");
        assert.equal(filter.isComplete, false);
        assert.match(filter.violation ?? "", /before it was complete/);
        assert.doesNotMatch(said, /\[DONE\]|message_stop/);
      });
    }
  }
});

/** A reply of Google's without a candidate is none, unless it says that the prompt was refused. */
import assert from "node:assert/strict";
import { InvalidReply } from "#proxy/neutral/reply";
import { dataOf, replayed } from "#test/support/translation/own-format-exchange";

describe("a whole reply of generateContent without candidates, told as a stream", () => {
  for (const reply of [
    { usageMetadata: { promptTokenCount: 1 } },
    { candidates: [], promptFeedback: {} },
    { promptFeedback: { blockReason: null } },
    { promptFeedback: { blockReason: "BLOCK_REASON_UNSPECIFIED" } },
    { candidates: [null] },
    { candidates: ["none"] },
  ]) {
    it(`is refused: ${JSON.stringify(reply)}`, () =>
      assert.throws(() => replayed("GenerateContent", reply), new InvalidReply("the reply has no candidate")));
  }

  it("is told where the prompt was refused", () => {
    const reply = { promptFeedback: { blockReason: "SAFETY" } };
    assert.deepEqual(dataOf(replayed("GenerateContent", reply)), [reply]);
  });
});

import assert from "node:assert/strict";
import { readReply } from "#proxy/formats/responses/translate/reply/read-reply";
import { InvalidReply } from "#proxy/neutral/reply";
import { added, call, created, delta, streamOf } from "#test/support/translation/responses-events";
import { readStream } from "#test/support/translation/responses-exchange";

describe("responses: a whole reply whose call is cut", () => {
  const half = { ...call, arguments: '{"a":' };
  const cutFor = (reason: string) => ({
    id: "resp_1",
    status: "incomplete",
    incomplete_details: { reason },
    output: [half],
  });

  for (const [reason, finish] of [
    ["max_output_tokens", "length"],
    ["content_filter", "content-filter"],
  ] as const) {
    it(`by ${reason} is read as its stream is`, () => {
      const response = cutFor(reason);
      assert.equal(readReply(response).candidates[0]?.finish.reason, finish);
      const events = readStream(
        streamOf([
          created,
          added(0, call),
          delta(0, half.arguments, "function_call_arguments"),
          { type: "response.incomplete", response },
        ]),
      );
      const [said] = events.filter((event) => event.type === "finish");
      assert.deepEqual(said?.type === "finish" && said.finish, { reason: finish });
    });
  }

  it("by nothing is no reply", () => {
    assert.throws(() => readReply({ ...cutFor(""), status: "completed", incomplete_details: null }), InvalidReply);
  });
});

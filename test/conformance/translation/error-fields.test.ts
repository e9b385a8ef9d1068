/** An upstream's refusal names its own fields: a client of another format is told of a field only where it sent it. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useTranslationRig } from "#test/support/conformance/translation-rig";

describe("fields in an upstream's refusal", () => {
  const rig = useTranslationRig();
  const refusing = (param: string): void =>
    rig().upstream.replyWith({
      status: 400,
      body: JSON.stringify({
        error: { message: "Invalid value.", type: "invalid_request_error", param, code: "invalid_value" },
      }),
    });

  for (const row of [
    { param: "max_output_tokens", name: "are not told where the client has another name for it", told: null },
    { param: "input[0].content", name: "are not told by the path of another format", told: null },
    { param: "temperature", name: "are told where the client sent them by this name", told: "temperature" },
  ]) {
    it(`${row.name}: ${row.param}`, async () => {
      refusing(row.param);
      const body = { max_completion_tokens: 20, temperature: 1 };
      const answer = await rig().call("openai-chat", "openai-responses", false, body);
      assert.equal(answer.status, 400);
      assert.equal(Object(answer.json()).error.param, row.told);
    });
  }

  it("stand in no message for other clients", async () => {
    refusing("max_output_tokens");
    const answer = await rig().call("anthropic-messages", "openai-responses", true);
    assert.equal(Object(answer.json()).error.message, "Invalid value.");
  });

  it("are told to a client of the upstream's own format", async () => {
    refusing("max_output_tokens");
    const answer = await rig().call("openai-responses", "openai-responses", false);
    assert.equal(Object(answer.json()).error.param, "max_output_tokens");
  });
});

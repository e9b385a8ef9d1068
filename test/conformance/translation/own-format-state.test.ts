/**
 * A channel of the client's own format that answers whole though the client streams: the provider's state reaches the
 * client as the provider wrote it, and with the next turn the provider again.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useCapture } from "../../support/conformance/capture.ts";
import { callFormOf } from "../../support/conformance/chat-calls.ts";
import { channelManifest, keyManifest, routeManifest } from "../../support/conformance/manifests.ts";

const usage = { input_tokens: 5, output_tokens: 7 };
const message = { id: "msg_1", type: "message", role: "assistant", model: "m", stop_reason: "tool_use", usage };
const thought = { type: "thinking", thinking: "let me see", signature: "c2lnbmF0dXJl" };
const response = { id: "resp_1", object: "response", status: "completed", model: "m", usage };
const counts = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
const part = { functionCall: { name: "f", args: {} }, thoughtSignature: "c2lnbmF0dXJl" };

describe("state of a whole answer to a client that streams", () => {
  const capture = useCapture((origin) => [keyManifest("main"), channelManifest("demo", origin), routeManifest("demo")]);

  for (const { form, answer, body = {} } of [
    {
      form: "anthropic-messages",
      answer: { ...message, content: [thought, { type: "tool_use", id: "toolu_1", name: "f", input: {} }] },
      body: { max_tokens: 4_096, thinking: { type: "enabled", budget_tokens: 1_024 } },
    },
    {
      form: "openai-responses",
      answer: {
        ...response,
        output: [
          { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "c2lnbmF0dXJl" },
          { type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: "{}", status: "completed" },
        ],
      },
      body: { store: false },
    },
    {
      form: "gemini",
      answer: {
        candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
        usageMetadata: counts,
      },
    },
  ] as const) {
    it(`is the provider's own: ${form}`, async () => {
      capture().upstream.replyWith({ body: JSON.stringify(answer) });
      const { answer: got } = await capture().send({ form: callFormOf(form), model: "demo", stream: true, body });
      assert.equal(got.status, 200, got.body.toString());
      assert.match(got.body.toString(), /"(?:signature|encrypted_content|thoughtSignature)":"c2lnbmF0dXJl"/);
      assert.doesNotMatch(got.body.toString(), /tg1\./);
    });
  }
});

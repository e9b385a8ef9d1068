/** An upstream that drops its model's call as malformed answers with success: alone that must not pass for an answer. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { callFormOf } from "#test/support/conformance/chat-calls";
import { httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import type { DigestProtocol } from "#test/support/digest/facts";
import { FakeUpstream } from "#test/support/fake-upstream";

const malformed = {
  content: {},
  finishReason: "MALFORMED_FUNCTION_CALL",
  finishMessage: "Malformed function call: f(",
};
const said = (part: object) => ({ content: { role: "model", parts: [part] } });

describe("a call that the model malformed", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    upstream = await FakeUpstream.start();
    gateway = await InProcessGateway.start({
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        channelManifest("gemini", upstream.origin, { provider: "Gemini", formats: [{ type: "GenerateContent" }] }),
        routeManifest("m", {
          targets: ["gemini-3-pro", "gemini-3-flash"].map((name) => ({
            name,
            channelRef: { name: "gemini" },
            upstreamModel: name,
          })),
        }),
      ),
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  async function ask(protocol: DigestProtocol, stream: boolean, candidates: readonly object[], output = 0) {
    upstream.forget();
    const frames = candidates.map((candidate) => ({
      candidates: [candidate],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: output },
    }));
    upstream.replyWith(
      stream
        ? {
            headers: { "content-type": "text/event-stream" },
            body: frames.map((frame) => `data: ${JSON.stringify(frame)}\r\n\r\n`).join(""),
          }
        : { body: JSON.stringify(frames[0]) },
    );
    const form = callFormOf(protocol);
    const answer = await httpCall({
      origin: gateway.origin,
      path: form.path("m", stream),
      headers: form.headers("main"),
      body: JSON.stringify(form.body("m", stream)),
    });
    return { status: answer.status, text: answer.body.toString(), attempts: upstream.requests.length };
  }

  for (const protocol of ["openai-chat", "openai-responses", "anthropic-messages"] as const) {
    for (const stream of [true, false]) {
      it(`is no answer to ${protocol}, and asked for elsewhere, ${stream ? "streamed" : "whole"}`, async () => {
        const { status, attempts, text } = await ask(protocol, stream, [malformed]);
        assert.deepEqual([status, attempts], [502, 2], text);
      });
    }
  }

  it("is billed and not asked for again where something was generated", async () => {
    const { status, attempts } = await ask("anthropic-messages", false, [malformed], 7);
    assert.deepEqual([status, attempts], [502, 1]);
  });

  it("breaks a stream that has only thought", async () => {
    const { text } = await ask("anthropic-messages", true, [said({ text: "hm", thought: true }), malformed]);
    assert.match(text, /^event: error$/m);
    assert.doesNotMatch(text, /message_stop/);
  });

  for (const stream of [true, false]) {
    it(`takes nothing from what was said beside it, ${stream ? "streamed" : "whole"}`, async () => {
      const candidates = stream ? [said({ text: "hello" }), malformed] : [{ ...malformed, ...said({ text: "hello" }) }];
      const { status, text } = await ask("openai-chat", stream, candidates);
      assert.equal(status, 200, text);
      assert.match(text, /"content":"hello"/);
      assert.match(text, /"finish_reason":"stop"/);
    });
  }
});

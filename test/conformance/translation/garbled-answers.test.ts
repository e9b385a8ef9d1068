/** A whole answer that no client can use was generated all the same: it is billed, once, and not generated again. */
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
import { FakeUpstream } from "#test/support/fake-upstream";

const garbled = { id: "a", type: "function", function: { name: "f", arguments: "{not json" } };
const completion = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [
    { index: 0, message: { role: "assistant", content: null, tool_calls: [garbled] }, finish_reason: "tool_calls" },
  ],
  usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
};

describe("a whole answer with a call that the model garbled", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    upstream = await FakeUpstream.start();
    gateway = await InProcessGateway.start({
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        channelManifest("chat", upstream.origin, { formats: [{ type: "ChatCompletions" }] }),
        routeManifest("m", {
          targets: ["one", "two"].map((name) => ({ name, channelRef: { name: "chat" }, upstreamModel: name })),
        }),
      ),
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  const form = callFormOf("anthropic-messages");
  const ask = (stream: boolean) =>
    httpCall({
      origin: gateway.origin,
      path: form.path("m", stream),
      headers: form.headers("main"),
      body: JSON.stringify(form.body("m", stream)),
    });

  for (const stream of [true, false]) {
    it(`is billed as its provider counted, and asked for once, ${stream ? "for a stream" : "for a whole answer"}`, async () => {
      upstream.forget();
      upstream.replyWith({ body: JSON.stringify(completion) });
      const answer = await ask(stream);
      assert.equal(answer.status, 502, answer.body.toString());
      assert.equal(upstream.requests.length, 1);
      const record = await gateway.recordOf(String(answer.header("request-id")));
      assert.deepEqual([record.usage?.input, record.usage?.output], [11, 7]);
      assert.equal(record.isEstimated, false);
      assert.equal(gateway.ledger.openCount, 0);
    });
  }

  it("is billed by what was said where it streamed and nothing of it had reached the client", async () => {
    upstream.forget();
    const chunk = (delta: object, finish: string | null = null): string =>
      `data: ${JSON.stringify({ ...completion, object: "chat.completion.chunk", usage: null, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const body = [
      chunk({ role: "assistant", tool_calls: [{ index: 0, ...garbled }] }),
      chunk({}, "tool_calls"),
      "data: [DONE]\n\n",
    ].join("");
    upstream.replyWith({ headers: { "content-type": "text/event-stream" }, body });
    const gemini = callFormOf("gemini");
    const answer = await httpCall({
      origin: gateway.origin,
      path: gemini.path("m", true),
      headers: gemini.headers("main"),
      body: JSON.stringify(gemini.body("m", true)),
    });
    assert.equal(answer.status, 502, answer.body.toString());
    assert.equal(upstream.requests.length, 1);
    const record = await gateway.recordOf(String(answer.header("x-request-id")));
    assert.ok((record.usage?.output ?? 0) > 0 && (record.usage?.input ?? 0) > 0);
    assert.equal(record.isEstimated, true);
    assert.equal(gateway.ledger.openCount, 0);
  });

  it("is asked for elsewhere where nothing was generated", async () => {
    upstream.forget();
    upstream.replyWith({ body: '{"choices":[]}' });
    assert.equal((await ask(false)).status, 502);
    assert.equal(upstream.requests.length, 2);
  });
});

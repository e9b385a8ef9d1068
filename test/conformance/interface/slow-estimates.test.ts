/**
 * pitfall 161: the end of an answer that waits for an estimate: with an upstream that never ends its body, for a client
 * that leaves meanwhile, and where both happen. It is settled once, by one estimate.
 */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import { inputTokens, outputTokens } from "#proxy/settle/usage";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { FakeUpstream } from "#test/support/fake-upstream";
import { waitFor } from "#test/support/wait-for";

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (choice: object): string =>
  event({
    id: "c",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: {}, finish_reason: null, ...choice }],
  });
/** No usage anywhere, and an end. */
const answer = `${chunk({ delta: { content: "said" } })}${chunk({ finish_reason: "stop" })}data: [DONE]\n\n`;

const clients = {
  messages: {
    path: "/v1/messages",
    body: { max_tokens: 9, messages: [{ role: "user", content: "q" }] },
    end: "event: message_stop",
  },
  responses: { path: "/v1/responses", body: { input: "q" }, end: "event: response.completed" },
} as const;

describe("pitfall 161: an end that waits for an estimate", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;
  /** Each text counts so many tokens more than the one before: two estimates are never the same. */
  let counted = 0;
  let whenCounted: Promise<void> = Promise.resolve();

  before(async () => {
    upstream = await FakeUpstream.start();
    gateway = await InProcessGateway.start({
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        channelManifest("chat", upstream.origin, {
          provider: "OpenAICompatible",
          formats: [{ type: "ChatCompletions" }],
        }),
        routeManifest("chat"),
      ),
      estimateTokens: async () => {
        counted += 1;
        const tokens = counted;
        await whenCounted;
        return tokens;
      },
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });
  afterEach(() => {
    whenCounted = Promise.resolve();
  });

  async function call({ path, body }: (typeof clients)["messages" | "responses"], signal: AbortSignal) {
    const response = await fetch(`${gateway.origin}${path}`, {
      method: "POST",
      signal,
      headers: {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        authorization: `Bearer ${clientKey("main")}`,
      },
      body: JSON.stringify({ model: "chat", stream: true, ...body }),
    });
    const id = String(response.headers.get("x-request-id"));
    assert.ok(response.body !== null);
    return { id, pieces: response.body.pipeThrough(new TextDecoderStream()) };
  }

  for (const [name, client] of Object.entries(clients)) {
    it(`${name}: is told at once though the upstream leaves its body open, and what was told is billed`, async () => {
      upstream.replyWith({
        headers: { "content-type": "text/event-stream" },
        body: `${answer}: more`,
        stallAt: answer.length,
      });
      const leaving = new AbortController();
      const { id, pieces } = await call(client, leaving.signal);
      let text = "";
      await assert.rejects(async () => {
        for await (const piece of pieces) {
          text += piece;
          if (text.includes(client.end) && text.endsWith("\n\n")) leaving.abort();
        }
      });
      const { usage } = await gateway.recordOf(id);
      assert.ok(usage !== undefined);
      const [, output] = /.*"output_tokens":(\d+)/s.exec(text) ?? [];
      const [, input] = /.*"input_tokens":(\d+)/s.exec(text) ?? [];
      assert.deepEqual([Number(input), Number(output)], [inputTokens(usage), outputTokens(usage)]);
    });

    for (const isOpen of [false, true]) {
      it(`${name}: leaves while it is counted${isOpen ? ", and the upstream leaves its body open" : ""}`, async () => {
        let letCount = (): void => undefined;
        whenCounted = new Promise((resolve) => {
          letCount = resolve;
        });
        upstream.replyWith({
          headers: { "content-type": "text/event-stream" },
          body: `${answer}: more`,
          ...(isOpen ? { stallAt: answer.length } : {}),
        });
        const before = counted;
        const leaving = new AbortController();
        const { id, pieces } = await call(client, leaving.signal);
        await waitFor("the estimate to begin", () => counted > before);
        leaving.abort();
        await assert.rejects(async () => {
          for await (const _ of pieces);
        });
        await waitFor("both to be counting", () => counted > before + 1);
        letCount();
        const record = await gateway.recordOf(id);
        assert.equal(record.isEstimated, true);
        await waitFor("the ledger to hold nothing", () => gateway.ledger.openCount === 0);
        assert.equal(gateway.records.filter(({ requestId }) => requestId === id).length, 1);
      });
    }
  }
});

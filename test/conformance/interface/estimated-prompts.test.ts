/** docs/design/reliability.md H2: what a call is charged for its prompt where the upstream told no usage. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
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

const sentence = "今天的天气非常好，我们去公园散步吧。";
const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(20_000)}` } };
const english = { type: "text", text: "The quick brown fox. ".repeat(50_000) };

describe("prompts of replies without usage", function () {
  this.timeout(60_000);
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    upstream = await FakeUpstream.start();
    const manifests = manifestOf(
      keyManifest("k"),
      channelSecretManifest(),
      channelManifest("m", upstream.origin),
      routeManifest("m"),
    );
    gateway = await InProcessGateway.start({ manifests });
    const message = { role: "assistant", content: "ok" };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    upstream.replyWith({ body: JSON.stringify({ id: "c", object: "chat.completion", choices }) });
  });
  after(async () => {
    await gateway?.close();
    await upstream?.close();
  });

  // What the o200k tokenizer makes of the text; 5 tokens a "The quick brown fox. ".
  for (const row of [
    { name: "English", content: "The quick brown fox. ".repeat(1_500), tokens: 7_500 },
    { name: "Chinese, which has no spaces", content: sentence.repeat(1_000), tokens: 12_000 },
    { name: "text whose words stand on lines", content: "The\nquick\nbrown\nfox.\n".repeat(1_500), tokens: 12_000 },
    { name: "ten pictures", content: Array.from({ length: 10 }, () => picture), tokens: 16_000 },
    { name: "6 MB of text", content: Array.from({ length: 6 }, () => english), tokens: 1_500_000 },
  ]) {
    it(`are charged within 25 % for ${row.name}`, async () => {
      const response = await fetch(`${gateway.origin}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${clientKey("k")}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "m", messages: [{ role: "user", content: row.content }] }),
      });
      await response.text();
      const record = await gateway.recordOf(response.headers.get("x-request-id") ?? "");
      const input = record.usage?.input ?? 0;
      assert.equal(record.isEstimated, true);
      assert.ok(Math.abs(input / row.tokens - 1) < 0.25, `${input} tokens instead of ${row.tokens}`);
    });
  }
});

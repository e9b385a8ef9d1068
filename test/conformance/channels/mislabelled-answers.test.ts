/** A whole answer to a call that streams, whatever its upstream calls it: never a stream that ends well and says nothing. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { httpCall } from "#test/support/conformance/http-call";
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
import { type FormatUnderTest, formats } from "#test/support/resilience/formats";

/** What passes in its own format, as anything may that is newer than this gateway. */
const strangeCalls: Readonly<Record<FormatUnderTest["name"], object>> = {
  ChatCompletions: { messages: [{ role: "user", content: [{ type: "newer" }] }] },
  Responses: { input: [{ type: "newer", role: "user" }] },
  Messages: { messages: [{ role: "user", content: [{ type: "newer" }] }] },
  GenerateContent: { contents: [{ role: "user", parts: [{ newer: {} }] }] },
};

describe("a whole answer that is not called JSON", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    upstream = await FakeUpstream.start();
    gateway = await InProcessGateway.start({
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        channelManifest("echo", upstream.origin),
        routeManifest("echo"),
      ),
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  function stream(format: FormatUnderTest, changes: object = {}) {
    const lines = format.keyHeader(clientKey("main")).split("\r\n");
    return httpCall({
      origin: gateway.origin,
      path: format.path("echo", true),
      headers: Object.fromEntries(lines.map((line) => line.split(": "))),
      body: JSON.stringify({ ...format.body("echo", true, "hello"), ...changes }),
    });
  }

  for (const type of ["text/plain", "Application/JSON", "text/event-stream", ""]) {
    for (const format of formats) {
      it(`is streamed to a client of ${format.name} though it is '${type}'`, async () => {
        const whole = format.reply("hello");
        for (const body of [whole, JSON.stringify(JSON.parse(whole), undefined, 2)]) {
          for (const changes of [{}, { stream_options: undefined }]) {
            upstream.replyWith({ headers: { "content-type": type, "openai-processing-ms": "7" }, body });
            const answer = await stream(format, changes);
            const text = answer.body.toString();
            assert.equal(answer.status, 200, text);
            assert.equal(answer.isComplete, true, text);
            assert.ok(text.includes("You said: hello"), text);
            assert.ok(text.includes(format.terminator), text);
            const strayLine = text.split(/\r?\n/).find((line) => !/^(?:|:.*|(?:data|event): ?.+)$/.test(line));
            assert.equal(strayLine, undefined, text);
            assert.equal(answer.header("openai-processing-ms"), "7");
          }
        }
      });
    }
  }

  for (const format of formats) {
    it(`is its error where it is one, for a client of ${format.name}`, async () => {
      upstream.replyWith({
        headers: { "content-type": "text/event-stream" },
        body: '{"error":{"message":"slow down","type":"rate_limit_error","code":429}}',
      });
      const answer = await stream(format);
      assert.equal(answer.status, 429, answer.body.toString());
    });

    it(`is told to a client of ${format.name} though its call can be said in no other form`, async () => {
      const strange = strangeCalls[format.name];
      upstream.replyWith({ body: '{"error":{"message":"slow down","type":"rate_limit_error","code":429}}' });
      const refused = await stream(format, strange);
      assert.equal(refused.status, 429, refused.body.toString());
      upstream.replyWith({ body: format.reply("hello") });
      const answer = await stream(format, strange);
      assert.equal(answer.status, 200, answer.body.toString());
      assert.match(answer.body.toString(), /hello/);
      const record = await gateway.recordOf(answer.header("x-request-id") ?? "");
      assert.ok(Number(record.costNanos) > 0, "what was generated is charged");
    });

    it(`ends a stream of ${format.name} in the middle of which it stands`, async () => {
      const [first = "", second = ""] = format.events("hello");
      upstream.replyWith({
        headers: { "content-type": "text/event-stream" },
        body: `${first}${second}${format.reply("hello")}\n\n`,
      });
      const answer = await stream(format);
      assert.equal(answer.isComplete, format.failsCleanly, answer.body.toString());
      assert.match(answer.body.toString(), format.errorEvent);
    });
  }
});

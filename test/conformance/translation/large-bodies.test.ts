/** docs/design/reliability.md P8 and F6: what a translation holds of a large body counts as the body does. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { callFormOf } from "#test/support/conformance/chat-calls";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { naturalReply } from "#test/support/conformance/natural-replies";
import { FakeUpstream } from "#test/support/fake-upstream";
import { RawClient } from "#test/support/raw-client";
import { waitFor } from "#test/support/wait-for";

const MiB = 1024 * 1024;
const messages = callFormOf("anthropic-messages");
const chat = callFormOf("openai-chat");

describe("a large body for an upstream of another format", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;
  let reply: { resolve: () => void; promise: Promise<void> };

  beforeEach(async () => {
    upstream = await FakeUpstream.start();
    reply = Promise.withResolvers();
    upstream.replyWith(async (asked) => {
      await reply.promise;
      return naturalReply(asked);
    });
    gateway = await InProcessGateway.start({
      limits: { inFlightBytesMax: 16 * MiB },
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        keyManifest("other"),
        channelManifest("m", upstream.origin, { formats: [{ type: "ChatCompletions" }] }),
        channelManifest("n", upstream.origin, { formats: [{ type: "ChatCompletions" }] }),
        channelManifest("gemini", upstream.origin, { provider: "Gemini", formats: [{ type: "GenerateContent" }] }),
        routeManifest("files", { targets: [{ name: "one", channelRef: { name: "gemini" } }] }),
        routeManifest("m", {
          targets: [
            { name: "one", channelRef: { name: "m" } },
            { name: "two", channelRef: { name: "n" } },
          ],
        }),
      ),
    });
  });
  afterEach(async () => {
    reply.resolve();
    await gateway.close();
    await upstream.close();
  });

  function bodyOf(characters: number, text = "é"): string {
    const content = text.padEnd(characters, "a");
    return JSON.stringify({ model: "m", max_tokens: 10, messages: [{ role: "user", content }] });
  }

  function call(form: typeof chat, body: string, key = "main"): Promise<HttpAnswer> {
    return httpCall({ origin: gateway.origin, path: form.path("m", false), headers: form.headers(key), body });
  }

  const asked = (count: number) => waitFor(`${count} calls`, () => upstream.requests.length === count);

  it("counts with what is read and written of it, and refuses the next while others are served", async () => {
    const body = bodyOf(2 * MiB);
    const length = Buffer.byteLength(body);
    const first = call(messages, body);
    await asked(1);
    assert.equal(gateway.inFlightBytes, 3 * length);
    const second = await call(messages, body, "other");
    assert.equal(second.status, 529, second.body.toString());
    assert.equal(gateway.inFlightBytes, 3 * length);
    const others = [call(messages, bodyOf(MiB / 2), "other"), call(chat, body, "other")];
    await asked(3);
    reply.resolve();
    for (const { status } of await Promise.all([first, ...others])) assert.equal(status, 200);
    await waitFor("all to be let go of", () => gateway.inFlightBytes === 0);
    assert.equal((await call(messages, body)).status, 200);
    assert.equal(Object(JSON.parse(upstream.requests[0]?.body.toString() ?? "")).messages[0].content.length, 2 * MiB);
  });

  it("counts nothing more where it is no large one, or needs no translation", async () => {
    const small = bodyOf(MiB / 2);
    const large = bodyOf(2 * MiB);
    const calls = [call(messages, small), call(chat, large)];
    await asked(2);
    assert.equal(gateway.inFlightBytes, Buffer.byteLength(small) + Buffer.byteLength(large));
    reply.resolve();
    for (const { status } of await Promise.all(calls)) assert.equal(status, 200);
  });

  it("counts once, however many targets are tried", async () => {
    let attempts = 0;
    upstream.replyWith(async (request) => {
      attempts += 1;
      if (attempts === 1) return { status: 500, body: "{}" };
      await reply.promise;
      return naturalReply(request);
    });
    const body = bodyOf(2 * MiB);
    const answer = call(messages, body);
    await asked(2);
    assert.equal(gateway.inFlightBytes, 3 * Buffer.byteLength(body));
    reply.resolve();
    assert.equal((await answer).status, 200);
    await waitFor("all to be let go of", () => gateway.inFlightBytes === 0);
  });

  it("is told where it never has room, however often it is tried", async () => {
    const answer = await call(messages, bodyOf(4 * MiB));
    assert.equal(answer.status, 413, answer.body.toString());
    assert.equal(upstream.requests.length, 0);
    assert.equal(gateway.inFlightBytes, 0);
  });

  it("counts with the files that are fetched for it", async () => {
    const picture = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(2 * MiB)]);
    upstream.replyWith(async (request) => {
      if (request.method === "GET") return { headers: { "content-type": "image/png" }, body: picture };
      await reply.promise;
      return naturalReply(request);
    });
    const content = [{ type: "image_url", image_url: { url: `${upstream.origin}/1.png` } }];
    const body = JSON.stringify({ model: "files", messages: [{ role: "user", content }] });
    const answer = call(chat, body);
    await asked(2);
    assert.equal(gateway.inFlightBytes, 2 * (body.length + picture.length));
    reply.resolve();
    assert.equal((await answer).status, 200);
    await waitFor("all to be let go of", () => gateway.inFlightBytes === 0);
  });

  it("counts where sealed state must be taken out of it", async () => {
    const body = JSON.stringify({
      model: "m",
      messages: [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "tg1.x", type: "function", function: { name: "f", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "tg1.x", content: "a".repeat(2 * MiB) },
      ],
    });
    const answer = call(chat, body);
    await asked(1);
    assert.equal(gateway.inFlightBytes, 3 * Buffer.byteLength(body));
    reply.resolve();
    assert.equal((await answer).status, 200);
    await waitFor("all to be let go of", () => gateway.inFlightBytes === 0);
  });

  it("is let go of when its client leaves", async () => {
    const client = await RawClient.connect({ port: gateway.port });
    const body = Buffer.from(bodyOf(2 * MiB));
    const headers = Object.entries({ ...messages.headers("main"), "content-type": "application/json" });
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    client.write(`POST /v1/messages HTTP/1.1\r\nhost: x\r\n${lines}content-length: ${body.length}\r\n\r\n`);
    client.write(body);
    await waitFor("more than the body", () => gateway.inFlightBytes > body.length);
    client.reset();
    await waitFor("all to be let go of", () => gateway.inFlightBytes === 0);
  });
});

/**
 * docs/design/reliability.md H2, H5: what a call is charged for its answer where the upstream told nothing of it, or
 * little.
 */
import assert from "node:assert/strict";
import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { after, before, describe, it } from "mocha";
import type { AccessRecord } from "#proxy/observe/access-log";
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
import { FakeUpstream, type ScriptedReply } from "#test/support/fake-upstream";
import { waitFor } from "#test/support/wait-for";

const text = "The quick brown fox. ".repeat(100);
/** 5 tokens a sentence. */
const textTokens = 500;
const media = "A".repeat(200_000);

const prompt = [{ role: "user", content: "hi" }];
const calls = {
  chat: { path: "/v1/chat/completions", body: { model: "m", messages: prompt } },
  messages: { path: "/v1/messages", body: { model: "m", max_tokens: 4_096, messages: prompt } },
  responses: { path: "/v1/responses", body: { model: "m", input: "hi" } },
  gemini: {
    path: "/v1beta/models/m:generateContent",
    streamPath: "/v1beta/models/m:streamGenerateContent?alt=sse",
    body: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
  },
} as const;
type Client = keyof typeof calls;

const chatAnswer = (usage: unknown) => ({
  id: "c",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
  usage,
});
const message = { type: "message", role: "assistant", model: "m", stop_reason: "end_turn" };
const messageAnswer = (usage: unknown) => ({ id: "m", ...message, content: [{ type: "text", text }], usage });
const responseAnswer = (usage: unknown) => ({
  id: "r",
  object: "response",
  status: "completed",
  model: "m",
  output: [{ type: "message", id: "o", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] }],
  usage,
});
const geminiAnswer = (usageMetadata: unknown) => ({
  candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, finishReason: "STOP" }],
  usageMetadata,
});

const events = (...all: readonly object[]): string =>
  all.map((event) => `event: ${Object(event).type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
const chunks = (...deltas: readonly object[]): string =>
  deltas
    .map((delta) => ({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: null }] }))
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .join("");

describe("answers of which the upstream told little or nothing", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    upstream = await FakeUpstream.start();
    const manifests = manifestOf(
      keyManifest("k"),
      channelSecretManifest(),
      channelManifest("m", upstream.origin),
      channelManifest("other", upstream.origin),
      routeManifest("m", {
        targets: ["m", "other"].map((name) => ({ name, channelRef: { name } })),
        price: { inputPerMillion: "1", outputPerMillion: "2" },
      }),
    );
    gateway = await InProcessGateway.start({ manifests, limits: { replyBodyBytesMax: 100_000 } });
  });
  after(async () => {
    await gateway?.close();
    await upstream?.close();
  });

  async function recordOf(client: Client, stream: boolean): Promise<AccessRecord> {
    const { path, body } = calls[client];
    const streamPath = "streamPath" in calls[client] ? calls.gemini.streamPath : path;
    const isFlagged = stream && client !== "gemini";
    const answer = await httpCall({
      origin: gateway.origin,
      path: stream ? streamPath : path,
      headers: { authorization: `Bearer ${clientKey("k")}` },
      body: JSON.stringify(isFlagged ? { ...body, stream } : body),
    });
    return gateway.recordOf(String(answer.headers["x-request-id"]));
  }

  for (const { name, client, answer } of [
    { name: "chat completions without completion tokens", client: "chat", answer: chatAnswer({ prompt_tokens: 10 }) },
    {
      name: "chat completions of which none completed",
      client: "chat",
      answer: chatAnswer({ prompt_tokens: 10, completion_tokens: 0, total_tokens: 900 }),
    },
    { name: "a message without output tokens", client: "messages", answer: messageAnswer({ input_tokens: 10 }) },
    { name: "a response without output tokens", client: "responses", answer: responseAnswer({ input_tokens: 10 }) },
    { name: "candidates without tokens", client: "gemini", answer: geminiAnswer({ promptTokenCount: 10 }) },
  ] as const) {
    it(`are charged for their text: ${name}`, async () => {
      upstream.replyWith({ body: JSON.stringify(answer) });
      const { usage, isEstimated } = await recordOf(client, false);
      assert.deepEqual([usage?.input, isEstimated], [10, true]);
      assert.ok(Math.abs((usage?.output ?? 0) / textTokens - 1) < 0.05, `${usage?.output} tokens`);
    });
  }

  it("are charged for their prompt where only the output was counted", async () => {
    upstream.replyWith({ body: JSON.stringify(chatAnswer({ prompt_tokens: 0, completion_tokens: 700 })) });
    const { usage, isEstimated } = await recordOf("chat", false);
    assert.equal(isEstimated, true);
    assert.deepEqual([usage?.output, usage?.reasoning], [700, 0]);
    assert.ok((usage?.input ?? 0) > 0);
  });

  it("are charged for their text where a stream of messages counts nothing but its start", async () => {
    const start = {
      type: "message_start",
      message: { id: "m", ...message, usage: { input_tokens: 10, output_tokens: 1 } },
    };
    const block = { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
    const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } };
    const stop = { type: "message_delta", delta: { stop_reason: "end_turn" } };
    const ends = [{ type: "content_block_stop", index: 0 }, stop, { type: "message_stop" }];
    const body = events(start, block, delta, ...ends);
    upstream.replyWith({ headers: { "content-type": "text/event-stream" }, body });
    const { usage, isEstimated } = await recordOf("messages", true);
    assert.deepEqual([usage?.input, isEstimated], [10, true]);
    assert.ok(Math.abs((usage?.output ?? 0) / textTokens - 1) < 0.05, `${usage?.output} tokens`);
  });

  for (const { name, client, body, want } of [
    {
      name: "a picture of a chat completion",
      client: "chat",
      body: chunks({ content: "", images: [{ type: "image_url", image_url: { url: media } }] }),
      want: { imageOutput: 1_290 },
    },
    {
      name: "sound of a chat completion",
      client: "chat",
      body: chunks({ audio: { data: media } }),
      want: { audioOutput: 100 },
    },
    {
      name: "a picture among parts",
      client: "gemini",
      body: `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ inlineData: { mimeType: "image/png", data: media } }] } }] })}\n\n`,
      want: { imageOutput: 1_290 },
    },
    {
      name: "a picture of a response, told of twice",
      client: "responses",
      body: events(
        { type: "response.output_item.added", item: { id: "ig", type: "image_generation_call" } },
        { type: "response.output_item.done", item: { id: "ig", type: "image_generation_call", result: media } },
      ),
      want: { imageOutput: 1_290 },
    },
    {
      name: "something that nobody can count",
      client: "chat",
      body: chunks({ audio: { id: "a" } }),
      want: { output: 1 },
    },
  ] as const) {
    it(`are charged for what came before a cut: ${name}`, async () => {
      const reply: ScriptedReply = { headers: { "content-type": "text/event-stream" }, body: `${body}data: {}\n\n` };
      upstream.replyWith({ ...reply, cutAt: Buffer.byteLength(body) });
      const { usage, isEstimated } = await recordOf(client, true);
      assert.equal(isEstimated, true);
      assert.deepEqual({ ...usage, ...want }, usage);
    });
  }

  it("are charged as reserved and asked for once where they are longer than anybody reads", async () => {
    upstream.replyWith({ body: JSON.stringify({ ...chatAnswer({}), filler: "x".repeat(200_000) }) });
    upstream.forget();
    const { status, usage, isEstimated } = await recordOf("chat", false);
    assert.deepEqual([status, usage?.output, isEstimated], [502, 4_096, true]);
    assert.equal(upstream.requests.length, 1);
  });

  it("cost nothing and are asked for elsewhere where they are long and no answer", async () => {
    upstream.replyWith({ body: `<html>${"x".repeat(200_000)}` });
    upstream.forget();
    const { status, usage } = await recordOf("chat", false);
    assert.deepEqual([status, usage], [502, undefined]);
    assert.equal(upstream.requests.length, 2);
  });

  it("are charged once for a picture that was counted among all tokens", async () => {
    const parts = [{ inlineData: { mimeType: "image/png", data: media } }];
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 1_290 };
    const body = `data: ${JSON.stringify({ candidates: [{ content: { parts } }], usageMetadata })}\n\n`;
    upstream.replyWith({ headers: { "content-type": "text/event-stream" }, body: `${body}x`, cutAt: body.length });
    const { usage } = await recordOf("gemini", true);
    assert.deepEqual([usage?.output, usage?.imageOutput], [1_290, 0]);
  });

  it("cost nothing but a request where the client left before anything was sent", async () => {
    // Takes connections and answers no handshake.
    const accepted = Promise.withResolvers<void>();
    const silent = createServer((socket) => {
      socket.on("error", () => undefined);
      accepted.resolve();
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    const price = { perRequest: "1" };
    const channel = channelManifest("silent", `https://127.0.0.1:${port}`);
    gateway.apply(manifestOf(keyManifest("k"), channelSecretManifest(), channel, routeManifest("silent", { price })));
    const headers = { authorization: `Bearer ${clientKey("k")}`, "content-type": "application/json" };
    const call = request(`${gateway.origin}/v1/chat/completions`, { method: "POST", headers });
    call.on("error", () => undefined).end(JSON.stringify({ model: "silent", messages: prompt }));
    try {
      await accepted.promise;
      call.destroy();
      const record = await waitFor("its record", () => gateway.records.find(({ model }) => model === "silent"));
      assert.deepEqual([record.end, record.attempts, record.costNanos, record.usage], ["CH", 1, undefined, undefined]);
      assert.equal(gateway.ledger.openCount, 0);
    } finally {
      silent.close();
    }
  });
});

/**
 * docs/design/reliability.md S2: what waits of answers, collected or as an open event, counts within the in-flight cap.
 */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { describe, it } from "mocha";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
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

const inFlightBytesMax = 500_000;
const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };

function reply(characters: number): string {
  const message = { role: "assistant", content: "x".repeat(characters) };
  return JSON.stringify({
    id: "c",
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage,
  });
}

function streamOfOneEvent(characters: number): ScriptedReply {
  const delta = { role: "assistant", content: "x".repeat(characters) };
  const chunk = (choice: object) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [choice] })}\n\n`;
  const first = chunk({ index: 0, delta: { role: "assistant", content: "hi" }, finish_reason: null });
  const body = `${first}${chunk({ index: 0, delta, finish_reason: "stop" })}data: [DONE]\n\n`;
  return { headers: { "content-type": "text/event-stream" }, body, fragmentBytes: 50_000, delayPieceMs: 20 };
}

function manifestsOf({ origin }: FakeUpstream): string {
  return manifestOf(
    channelSecretManifest(),
    keyManifest("main"),
    channelManifest("chat", origin, { formats: [{ type: "ChatCompletions" }] }),
    routeManifest("chat"),
  );
}

describe("answers that wait in the gateway", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    upstream = await FakeUpstream.start();
    gateway = await InProcessGateway.start({
      limits: { inFlightBytesMax },
      manifests: manifestsOf(upstream),
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  function call(stream = false): Promise<HttpAnswer> {
    return httpCall({
      origin: gateway.origin,
      path: "/v1/chat/completions",
      headers: { authorization: `Bearer ${clientKey("main")}` },
      body: JSON.stringify({ model: "chat", stream, messages: [{ role: "user", content: "hi" }] }),
    });
  }

  async function assertNothingHeld(): Promise<void> {
    await waitFor("everything to be let go of", () => gateway.inFlightBytes === 0 && gateway.ledger.openCount === 0);
  }

  it("are collected together only as far as the cap goes: the others hear 503 and can come again", async () => {
    upstream.replyWith({ body: reply(300_000), fragmentBytes: 100_000, delayPieceMs: 100 });
    gateway.records.length = 0;
    const answers = await Promise.all([call(), call(), call()]);
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(new Set(statuses), new Set([200, 503]), `${statuses}`);
    for (const { status, body } of answers) {
      if (status === 200) assert.equal(body.toString(), reply(300_000));
      else assert.match(body.toString(), /at its memory limit for bodies and replies/);
    }
    await assertNothingHeld();
    await waitFor("all to be logged", () => gateway.records.length === answers.length);
    const ends = gateway.records.map(({ status, end }) => `${status} ${end}`);
    assert.deepEqual(new Set(ends), new Set(["200 --", "503 RH"]), "the upstream was being waited for");
    assert.equal((await call()).status, 200);
  });

  it("leave short ones and running streams alone, however full the cap is", async () => {
    const upload = connect(Number(new URL(gateway.origin).port), "127.0.0.1");
    const length = inFlightBytesMax - 1_000;
    upload.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${clientKey("main")}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${length + 1}\r\n\r\n${" ".repeat(length)}`,
    );
    try {
      await waitFor("the cap to be full", () => gateway.inFlightBytes === length);
      upstream.replyWith({ body: reply(50_000), fragmentBytes: 20_000 });
      assert.equal((await call()).status, 200);
      upstream.replyWith(streamOfOneEvent(50_000));
      assert.match((await call(true)).body.toString(), /data: \[DONE\]\n\n$/);
      upstream.replyWith({ status: 429, body: JSON.stringify({ error: { message: "x".repeat(200_000) } }) });
      assert.equal((await call()).status, 429);
    } finally {
      upload.destroy();
    }
    await assertNothingHeld();
  });

  it("keep their room until the client has read them or has left", async () => {
    const characters = 8_000_000;
    const roomy = await InProcessGateway.start({
      limits: { inFlightBytesMax: 4 * characters },
      manifests: manifestsOf(upstream),
    });
    try {
      upstream.replyWith({ body: reply(characters) });
      const body = JSON.stringify({ model: "chat", messages: [{ role: "user", content: "hi" }] });
      const client = connect(Number(new URL(roomy.origin).port), "127.0.0.1").pause();
      client.write(
        `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${clientKey("main")}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await waitFor("the answer to be settled", () => roomy.records.length === 1);
      assert.ok(roomy.inFlightBytes > characters / 2, `${roomy.inFlightBytes} bytes are held`);
      client.destroy();
      await waitFor("everything to be let go of", () => roomy.inFlightBytes === 0);
    } finally {
      await roomy.close();
    }
  });

  it("and an event that finds no room breaks its stream, which never looks complete", async () => {
    upstream.replyWith(streamOfOneEvent(2 * inFlightBytesMax));
    const { status, body } = await call(true);
    const text = body.toString();
    assert.equal(status, 200);
    assert.match(text, /"content":"hi"/);
    assert.match(text, /at its memory limit for bodies and replies/);
    assert.doesNotMatch(text, /\[DONE\]|finish_reason":"stop/);
    await assertNothingHeld();
  });

  it("and so does an answer that is gathered for a client of another format", async () => {
    const piece = `data: ${JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: { content: "x".repeat(40_000) }, finish_reason: null }],
    })}\n\n`;
    const headers = { "content-type": "text/event-stream" };
    upstream.replyWith({ headers, body: piece.repeat(30), fragmentBytes: 50_000, delayPieceMs: 5 });
    const { status, body } = await httpCall({
      origin: gateway.origin,
      path: "/v1/responses",
      headers: { authorization: `Bearer ${clientKey("main")}` },
      body: JSON.stringify({ model: "chat", stream: true, input: "hi" }),
    });
    assert.equal(status, 200);
    assert.match(body.toString(), /at its memory limit for bodies and replies/);
    assert.doesNotMatch(body.toString(), /response\.completed/);
    await assertNothingHeld();
  });

  it("pass where one event after the other is whole", async () => {
    upstream.replyWith(streamOfOneEvent(inFlightBytesMax / 2));
    const { body } = await call(true);
    assert.match(body.toString(), /data: \[DONE\]\n\n$/);
    await assertNothingHeld();
  });
});

/**
 * Files that a client names by their address, fetched for an upstream that takes only content: within the bounds of the
 * whole process, and for nobody who has left.
 */
import assert from "node:assert/strict";
import { request } from "node:http";
import { afterEach, beforeEach, describe, it } from "mocha";
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
import { naturalReply } from "#test/support/conformance/natural-replies";
import { FakeUpstream } from "#test/support/fake-upstream";
import { waitFor } from "#test/support/wait-for";

const form = callFormOf("openai-chat");
const inFlightBytesMax = 300_000;
const picture = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(100_000)]);

describe("files fetched for an upstream", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  beforeEach(async () => {
    upstream = await FakeUpstream.start();
    gateway = await InProcessGateway.start({
      limits: { inFlightBytesMax },
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        keyManifest("limited", { limits: [{ name: "calls", unit: "Requests", limit: "2", period: "Hour" }] }),
        channelManifest("chat", upstream.origin, { formats: [{ type: "ChatCompletions" }] }),
        routeManifest("chat", { targets: [{ name: "main", channelRef: { name: "chat" }, upstreamModel: "gpt-5.4" }] }),
        channelManifest("gemini", upstream.origin, { provider: "Gemini", formats: [{ type: "GenerateContent" }] }),
        routeManifest("m", {
          targets: [{ name: "main", channelRef: { name: "gemini" }, upstreamModel: "gemini-3-pro" }],
        }),
      ),
    });
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  const bodyWith = (pictures: number): string =>
    JSON.stringify({
      model: "m",
      messages: [
        {
          role: "user",
          content: Array.from({ length: pictures }, (_, index) => ({
            type: "image_url",
            image_url: { url: `${upstream.origin}/${index}.png` },
          })),
        },
      ],
    });
  const call = (pictures: number, key = "main") =>
    httpCall({
      origin: gateway.origin,
      path: form.path("m", false),
      headers: form.headers(key),
      body: bodyWith(pictures),
    });
  const served = (body: Buffer): void =>
    upstream.replyWith((asked) =>
      asked.method === "GET" ? { headers: { "content-type": "image/png" }, body } : naturalReply(asked),
    );

  it("count as the bodies of requests do, and are let go of with their call", async () => {
    served(picture);
    const tooMuch = await call(3);
    assert.equal(tooMuch.status, 503, tooMuch.body.toString());
    assert.ok(
      upstream.requests.every(({ method }) => method === "GET"),
      "nothing was asked of the model",
    );
    for (let round = 0; round < 4; round += 1) {
      const answer = await call(1);
      assert.equal(answer.status, 200, answer.body.toString());
    }
    assert.equal(gateway.inFlightBytes, 0);
  });

  for (const row of [
    {
      name: "a page where a picture should be",
      type: "text/html; charset=utf-8",
      body: "<html>log in</html>",
      status: 400,
    },
    {
      name: "a picture whose server does not say what it is",
      type: "application/octet-stream",
      body: picture,
      status: 200,
    },
    { name: "a picture that its server calls text", type: "text/plain", body: picture, status: 200 },
  ]) {
    it(`are ${row.status === 200 ? "taken" : "refused, naming the part"}: ${row.name}`, async () => {
      upstream.replyWith((asked) =>
        asked.method === "GET" ? { headers: { "content-type": row.type }, body: row.body } : naturalReply(asked),
      );
      const answer = await call(1);
      assert.equal(answer.status, row.status, answer.body.toString());
      if (row.status === 200) return;
      assert.equal(Object(answer.json()).error.param, "messages[0].content[0]");
      assert.ok(
        upstream.requests.every(({ method }) => method === "GET"),
        "nothing was asked of the model",
      );
    });
  }

  it("are sent as their content where a format has no place for an address: a PDF for chat", async () => {
    const pdf = Buffer.from("%PDF-1.7\n");
    upstream.replyWith((asked) =>
      asked.method === "GET" ? { headers: { "content-type": "application/pdf" }, body: pdf } : naturalReply(asked),
    );
    const anthropic = callFormOf("anthropic-messages");
    const source = { type: "url", url: `${upstream.origin}/a.pdf` };
    const content = [
      { type: "document", source },
      { type: "text", text: "sum" },
    ];
    const answer = await httpCall({
      origin: gateway.origin,
      path: anthropic.path("chat", false),
      headers: anthropic.headers("main"),
      body: JSON.stringify({ model: "chat", max_tokens: 100, messages: [{ role: "user", content }] }),
    });
    assert.equal(answer.status, 200, answer.body.toString());
    const sent = Object(JSON.parse(String(upstream.requests.at(-1)?.body)));
    const file_data = `data:application/pdf;base64,${pdf.toString("base64")}`;
    assert.deepEqual(sent.messages[0].content[0], { type: "file", file: { filename: "document.pdf", file_data } });
  });

  it("cost a request, also where nothing of them is sent upstream", async () => {
    upstream.replyWith({ headers: { "content-type": "text/html" }, body: "<html>log in</html>" });
    const statuses: number[] = [];
    for (let round = 0; round < 4; round += 1) statuses.push((await call(1, "limited")).status);
    assert.deepEqual(statuses, [400, 400, 429, 429]);
    assert.equal(upstream.requests.length, 2);
    assert.equal(gateway.ledger.openCount, 0);
  });

  it("are given up when the client leaves", async () => {
    upstream.replyWith({ headers: { "content-type": "image/png" }, body: picture, stallAt: 10 });
    const { hostname, port } = new URL(gateway.origin);
    const headers = { ...form.headers("main"), "content-type": "application/json" };
    const leaving = request({ hostname, port, path: form.path("m", false), method: "POST", headers });
    leaving.on("error", () => undefined);
    leaving.end(bodyWith(1));
    const fetching = await waitFor("the file to be asked for", () => upstream.requests[0]);
    leaving.destroy();
    await waitFor("the download to be given up", () => fetching.abortedAtMs, { deadlineMs: 3_000 });
    const record = await waitFor("the call's record", () => gateway.records[0]);
    assert.equal(record.end, "CR");
    assert.equal(gateway.inFlightBytes, 0);
    assert.equal(gateway.ledger.openCount, 0);
  });
});

/** `/v1/images/generations` with upstreams that serve the same: bytes pass, fields are checked, pictures are charged. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import { countImages } from "#proxy/settle/image-price";
import {
  completedEvent,
  eventStream,
  eventsOf,
  type ImageRig,
  imagesReply,
  partialEvent,
  startImageRig,
  usage,
} from "#test/support/conformance/image-rig";
import { channelSecret } from "#test/support/conformance/manifests";
import { itOfRecordings } from "#test/support/conformance/other-recordings";
import { at } from "#test/support/digest/facts";
import type { ScriptedReply } from "#test/support/fake-upstream";

const path = "/v1/images/generations";

describe("image generations", () => {
  let rig: ImageRig;

  before(async () => {
    rig = await startImageRig();
  });
  afterEach(() => rig.upstream.forget());
  after(() => rig?.close());

  async function costOf(answer: { header(name: string): string | undefined }): Promise<bigint | undefined> {
    return (await rig.gateway.recordOf(String(answer.header("x-request-id")))).costNanos;
  }

  for (const spelling of [path, "/images/generations", "/v1/v1/images/generations"]) {
    it(`POST ${spelling} passes the call on under the upstream's name, and the reply back`, async () => {
      const reply = imagesReply(1);
      rig.upstream.replyWith({ body: reply });
      const body = '{"prompt":"a cat", "model":"painter", "seed":1.0, "watermark":{"deep":[1e2]}}';
      const answer = await rig.call(spelling, body);
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(answer.body.toString(), reply);
      const [sent] = rig.upstream.requests;
      assert.equal(sent?.target, "/v1/images/generations");
      assert.equal(sent?.headers["authorization"], `Bearer ${channelSecret}`);
      assert.equal(sent?.body.toString(), body);
    });
  }

  for (const row of [
    { name: "no prompt", body: {}, param: "prompt" },
    { name: "an empty prompt", body: { prompt: "" }, param: "prompt" },
    { name: "a prompt that is no text", body: { prompt: ["a"] }, param: "prompt" },
    { name: "n of 0", body: { n: 0 }, param: "n" },
    { name: "n of 129", body: { n: 129 }, param: "n" },
    { name: "n of 1.5", body: { n: 1.5 }, param: "n" },
    { name: "n in a text", body: { n: "2" }, param: "n" },
    { name: "compression of 101", body: { output_compression: 101 }, param: "output_compression" },
    { name: "compression of -1", body: { output_compression: -1 }, param: "output_compression" },
    { name: "four partial images", body: { partial_images: 4 }, param: "partial_images" },
    { name: "a size in words", body: { size: "large" }, param: "size" },
    { name: "a size without a height", body: { size: "1024x" }, param: "size" },
    { name: "a size of nothing", body: { size: "0x1024" }, param: "size" },
    { name: "another form of response", body: { response_format: "file" }, param: "response_format" },
    { name: "a background that is a list", body: { background: [] }, param: "background" },
    { name: "stream in a text", body: { stream: "true" }, param: "stream" },
    { name: "a model for chat", body: { model: "chatter" }, param: "model" },
    { name: "more pictures than the route allows", body: { model: "narrow", n: 3 }, param: "n" },
    { name: "another size than the route allows", body: { model: "narrow", size: "1x1" }, param: "size" },
  ]) {
    it(`refuses a call with ${row.name} before any upstream is called`, async () => {
      const usual = row.name === "no prompt" ? {} : { prompt: "a cat" };
      const answer = await rig.call(path, { model: "painter", ...usual, ...row.body });
      assert.equal(answer.status, 400, answer.body.toString());
      assert.equal(at(answer.json(), "error", "param"), row.param);
      assert.equal(rig.upstream.requests.length, 0);
    });
  }

  for (const body of [
    { n: 128 },
    { output_compression: 0 },
    { output_compression: 100 },
    { background: { color: "#fff" } },
    { background: "transparent" },
    { size: "1792x1024" },
    { size: "auto" },
    { user: { id: "u-1" } },
  ]) {
    it(`takes ${JSON.stringify(body)}`, async () => {
      rig.upstream.replyWith({ body: imagesReply(body.n ?? 1) });
      const answer = await rig.call(path, { model: "painter", prompt: "a cat", ...body });
      assert.equal(answer.status, 200, answer.body.toString());
    });
  }

  it("leaves out what the model does not support, and says so", async () => {
    rig.upstream.replyWith({ body: imagesReply(1) });
    const answer = await rig.call(path, { model: "narrow", prompt: "a cat", style: "vivid" });
    assert.equal(answer.header("x-tollgate-dropped"), "style");
    assert.deepEqual(rig.upstream.requests[0]?.json(), { model: "narrow", prompt: "a cat" });
  });

  describe("response_format of models that always give the picture", () => {
    for (const row of [
      { format: "b64_json", dropped: undefined },
      { format: "url", dropped: "response_format" },
    ]) {
      it(`is not sent: ${row.format}`, async () => {
        rig.upstream.replyWith({ body: imagesReply(1) });
        const answer = await rig.call(path, { model: "gpt-image-2", prompt: "a cat", response_format: row.format });
        assert.equal(answer.body.toString(), imagesReply(1));
        assert.equal(answer.header("x-tollgate-dropped"), row.dropped);
        assert.equal(at(rig.upstream.requests[0]?.json(), "response_format"), undefined);
      });
    }

    it("is refused where nothing may be dropped", async () => {
      const body = { model: "gpt-image-strict", prompt: "a cat", response_format: "url" };
      const answer = await rig.call(path, body);
      assert.equal(at(answer.json(), "error", "code"), "unsupported_parameter");
      assert.equal(rig.upstream.requests.length, 0);
    });

    it("goes to every other model", async () => {
      rig.upstream.replyWith({ body: JSON.stringify({ created: 1, data: [{ url: "https://x.example/1.png" }] }) });
      const answer = await rig.call(path, { model: "painter", prompt: "a cat", response_format: "url" });
      assert.equal(at(answer.json(), "data", 0, "url"), "https://x.example/1.png");
      assert.equal(at(rig.upstream.requests[0]?.json(), "response_format"), "url");
    });
  });

  describe("charges", () => {
    for (const row of [
      { name: "each picture by size and quality as the reply tells them", body: { n: 2 }, want: 500_000_000n },
      {
        name: "each picture as it was asked for where the reply tells nothing",
        body: { n: 3, size: "1024x1024", quality: "low" },
        reply: JSON.stringify({ created: 1, data: [{ url: "a" }, { url: "b" }, { url: "c" }] }),
        want: 375_000_000n,
      },
      {
        name: "the pictures that were made, not those that were asked for",
        body: { n: 4 },
        reply: imagesReply(2),
        want: 500_000_000n,
      },
    ]) {
      it(row.name, async () => {
        rig.upstream.replyWith({ body: row.reply ?? imagesReply(row.body.n) });
        const answer = await rig.call(path, { model: "painter", prompt: "a cat", ...row.body });
        assert.equal(answer.status, 200, answer.body.toString());
        assert.equal(await costOf(answer), row.want);
      });
    }

    it("tokens of text, of pictures shown, of pictures made and of drawings that are text", async () => {
      const told = {
        input_tokens: 30,
        input_tokens_details: { text_tokens: 20, image_tokens: 10 },
        output_tokens: 1_100,
        output_tokens_details: { image_tokens: 1_000, text_tokens: 100 },
        total_tokens: 1_130,
      };
      rig.upstream.replyWith({ body: imagesReply(1, { usage: told }) });
      const answer = await rig.call(path, { model: "by-token", prompt: "a cat" });
      const record = await rig.gateway.recordOf(String(answer.header("x-request-id")));
      assert.equal(record.costNanos, 20n * 1_000n + 10n * 2_000n + 1_000n * 10_000n + 100n * 4_000n);
      assert.equal(record.isEstimated, false);
    });

    it("output tokens that nobody tells apart as those of pictures", async () => {
      const told = { input_tokens: 20, output_tokens: 1_056, total_tokens: 1_076 };
      rig.upstream.replyWith({ body: imagesReply(1, { usage: told }) });
      const answer = await rig.call(path, { model: "by-token", prompt: "a cat" });
      assert.equal(await costOf(answer), 20n * 1_000n + 1_056n * 10_000n);
    });

    it("what an upstream does not report by estimate", async () => {
      rig.upstream.replyWith({ body: imagesReply(2, {}) });
      const answer = await rig.call(path, { model: "by-token", prompt: "three words here", n: 2 });
      const record = await rig.gateway.recordOf(String(answer.header("x-request-id")));
      const input = BigInt(record.usage?.input ?? 0);
      assert.ok(input >= 3n && input <= 6n, `${input} tokens`);
      assert.equal(record.costNanos, input * 1_000n + 2n * 4_160n * 10_000n);
      assert.deepEqual([record.isEstimated, record.format, record.status], [true, "ImageGenerations", 200]);
    });

    it("nothing for a size without a price, which a limited key may not ask for", async () => {
      const body = { model: "no-price-for-wide", prompt: "a cat", size: "1792x1024" };
      const answer = await rig.call(path, body, { key: "credit" });
      assert.equal(at(answer.json(), "error", "code"), "model_not_allowed");
      assert.equal(rig.upstream.requests.length, 0);
    });
  });

  it("refuses 128 pictures to a key with credit for three, before the upstream is called", async () => {
    const body = { model: "painter", prompt: "a cat", size: "1024x1024", quality: "high" };
    const refused = await rig.call(path, { ...body, n: 128 }, { key: "credit" });
    assert.equal(at(refused.json(), "error", "code"), "insufficient_quota");
    assert.equal(rig.upstream.requests.length, 0);
    rig.upstream.replyWith({ body: imagesReply(3) });
    const taken = await rig.call(path, { ...body, n: 3 }, { key: "credit" });
    assert.equal(await costOf(taken), 750_000_000n);
    const beyond = await rig.call(path, { ...body, n: 2 }, { key: "credit" });
    assert.equal(at(beyond.json(), "error", "code"), "insufficient_quota");
  });

  it("holds restrictions of keys", async () => {
    rig.upstream.replyWith({ body: imagesReply(1) });
    const body = { model: "painter", prompt: "a cat" };
    for (const [key, code] of [
      ["chat-only", "capability_not_allowed"],
      ["elsewhere", "ip_not_allowed"],
      ["other-models", "model_not_allowed"],
      ["anthropic-only", "protocol_not_allowed"],
    ]) {
      const answer = await rig.call(path, body, key === undefined ? {} : { key });
      assert.equal(at(answer.json(), "error", "code"), code);
    }
    assert.equal(rig.upstream.requests.length, 0);
    assert.equal((await rig.call(path, body, { key: "slow" })).status, 200);
    assert.equal(at((await rig.call(path, body, { key: "slow" })).json(), "error", "code"), "rate_limit_exceeded");
  });

  it("asks another target when the first one fails", async () => {
    rig.upstream.replyWith((_, index) => (index === 0 ? { status: 500, body: "oops" } : { body: imagesReply(1) }));
    const answer = await rig.call(path, { model: "two-ways", prompt: "a cat" });
    assert.equal(answer.status, 200);
    assert.equal(rig.upstream.requests.length, 2);
  });

  const misbehaviour: readonly { readonly name: string; readonly script: ScriptedReply }[] = [
    { name: "an error body under a status of success", script: { body: '{"error":{"message":"no"}}' } },
    { name: "a page of HTML", script: { body: "<html>", headers: { "content-type": "text/html" } } },
    { name: "an empty body", script: { body: "" } },
    { name: "JSON without pictures", script: { body: '{"created":1,"data":[]}' } },
    { name: "a picture without bytes", script: { body: '{"created":1,"data":[{"revised_prompt":"x"}]}' } },
    { name: "a reply that is cut", script: { body: imagesReply(1), framing: "length", cutAt: 90 } },
    { name: "a status of 500", script: { status: 500, body: "oops" } },
  ];
  for (const { name, script } of misbehaviour) {
    for (const stream of [false, true]) {
      it(`never passes ${name} as a picture${stream ? " to a client that streams" : ""}`, async () => {
        rig.upstream.replyWith(script);
        const answer = await rig.call(path, { model: "painter", prompt: "a cat", stream });
        assert.ok(answer.status >= 400, `${answer.status} ${answer.body}`);
        assert.equal(typeof at(answer.json(), "error", "message"), "string");
        assert.equal(await costOf(answer), undefined);
      });
    }
  }

  describe("recorded traffic", () => {
    for (const [name, pictures] of [
      ["openai-image-b64.json", 2],
      ["openai-image-generation-url.json", 1],
      ["openai-image-edit.json", 1],
    ] as const) {
      itOfRecordings(`passes as it came, and each picture is charged: ${name}`, [name], async (reply) => {
        rig.upstream.replyWith({ body: reply });
        const answer = await rig.call(path, { model: "painter", prompt: "a cat", n: 2 });
        assert.ok(answer.body.equals(reply));
        const record = await rig.gateway.recordOf(String(answer.header("x-request-id")));
        assert.equal(countImages(record.units?.images), pictures);
        assert.ok((record.costNanos ?? 0n) > 0n);
      });
    }

    const requestOfUrl = "openai-image-generation-url.request.json";
    itOfRecordings("goes upstream as it was asked", [requestOfUrl], async (request) => {
      rig.upstream.replyWith({ body: imagesReply(1) });
      const asked: object = JSON.parse(request.toString());
      const answer = await rig.call(path, { ...asked, model: "painter" });
      assert.equal(answer.status, 200);
      assert.deepEqual(rig.upstream.requests[0]?.json(), { ...asked, model: "painter" });
    });

    itOfRecordings("tells the field of a refusal", ["openai-image-generation-error-400.json"], async (reply) => {
      rig.upstream.replyWith({ status: 400, body: reply });
      const answer = await rig.call(path, { model: "painter", prompt: "a cat", quality: "standard" });
      assert.deepEqual([answer.status, at(answer.json(), "error", "param")], [400, "quality"]);
    });
  });

  it("passes an upstream's refusal on", async () => {
    const error = {
      message: "Unknown parameter: 'quality'.",
      type: "invalid_request_error",
      param: "quality",
      code: "unknown_parameter",
    };
    rig.upstream.replyWith({ status: 400, body: JSON.stringify({ error }) });
    const answer = await rig.call(path, { model: "painter", prompt: "a cat", quality: "x" });
    assert.equal(answer.status, 400);
    assert.equal(at(answer.json(), "error", "param"), "quality");
  });

  describe("streams", () => {
    const body = { model: "painter", prompt: "a cat", stream: true, partial_images: 2 };

    it("pass as they came, events of several megabytes too", async () => {
      const large = "QUJD".repeat(1_500_000);
      const stream = [partialEvent(0), ": ping\n\n", partialEvent(1, large), completedEvent(large)].join("");
      rig.upstream.replyWith({ headers: eventStream, body: stream, fragmentBytes: 1_000_003 });
      const answer = await rig.call(path, body);
      assert.equal(answer.header("content-type"), "text/event-stream; charset=utf-8");
      assert.ok(answer.isComplete);
      assert.ok(answer.body.equals(Buffer.from(stream)));
      assert.equal(rig.upstream.requests[0]?.headers["accept"], "text/event-stream");
      const record = await rig.gateway.recordOf(String(answer.header("x-request-id")));
      assert.equal(record.costNanos, 250_000_000n);
      assert.equal(record.usage?.imageOutput, usage.output_tokens);
    });

    it("of several pictures are charged for each", async () => {
      rig.upstream.replyWith({ headers: eventStream, body: completedEvent("YQ==") + completedEvent("Yg==") });
      const answer = await rig.call(path, { ...body, n: 2 });
      assert.ok(answer.isComplete);
      assert.equal(await costOf(answer), 500_000_000n);
    });

    it("are made of a whole reply where the upstream does not stream", async () => {
      rig.upstream.replyWith({ body: imagesReply(2) });
      const answer = await rig.call(path, { ...body, n: 2 });
      const events = eventsOf(answer);
      assert.deepEqual(
        events.map(({ type }) => type),
        Array(2).fill("image_generation.completed"),
      );
      assert.deepEqual(events[1]?.data["usage"], usage);
      assert.deepEqual([events[0]?.data["b64_json"], events[0]?.data["size"]], ["cGljdHVyZS0", "1024x1024"]);
      assert.equal(await costOf(answer), 500_000_000n);
    });

    it("become a whole response for a client that did not ask for one", async () => {
      rig.upstream.replyWith({ headers: eventStream, body: partialEvent(0) + completedEvent("YQ==") });
      const answer = await rig.call(path, { model: "painter", prompt: "a cat" });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.deepEqual(at(answer.json(), "data"), [{ b64_json: "YQ==" }]);
      assert.equal(at(answer.json(), "usage", "output_tokens"), usage.output_tokens);
      assert.equal(await costOf(answer), 250_000_000n);
    });

    for (const row of [
      { name: "cut inside of the last event", script: { cutAt: 600 }, want: 250_000_000n },
      { name: "ended behind a partial picture", body: partialEvent(0), want: 250_000_000n },
      { name: "ended before the second picture", n: 2, body: completedEvent(), want: 250_000_000n },
      {
        name: "with an error behind a partial picture",
        body: `${partialEvent(0)}event: error\ndata: {"type":"error","error":{"message":"no"}}\n\n`,
        want: 250_000_000n,
      },
      {
        name: "with an error that is mere text before the second picture",
        n: 2,
        body: `${completedEvent()}data: {"error":"no"}\n\ndata: [DONE]\n\n`,
        want: 250_000_000n,
      },
    ]) {
      it(`${row.name} never look complete, and cost what was made`, async () => {
        const whole = row.body ?? partialEvent(0) + completedEvent();
        rig.upstream.replyWith({ headers: eventStream, body: whole, ...row.script });
        const answer = await rig.call(path, { ...body, n: row.n ?? 1 });
        const last = eventsOf(answer).at(-1);
        assert.equal(last?.type, "error", answer.body.toString());
        assert.equal(typeof at(last?.data, "error", "message"), "string");
        assert.equal(await costOf(answer), row.want);
      });
    }

    it("an error before the first picture is told by its status", async () => {
      rig.upstream.replyWith({
        headers: eventStream,
        body: 'event: error\ndata: {"type":"error","error":{"code":"moderation_blocked","message":"no"}}\n\n',
      });
      const answer = await rig.call(path, body);
      assert.equal(answer.status, 400, answer.body.toString());
      assert.equal(at(answer.json(), "error", "code"), "content_policy_violation");
    });
  });
});

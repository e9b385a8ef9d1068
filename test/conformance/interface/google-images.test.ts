/** The image endpoints in front of Google's models: generateContent makes one picture with a request, Imagen up to four. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import { eventsOf, type ImageRig, jpeg, leaveCall, png, startImageRig } from "#test/support/conformance/image-rig";
import { at } from "#test/support/digest/facts";
import { field, file, formOf } from "#test/support/form-server";
import { waitFor } from "#test/support/wait-for";

const path = "/v1/images/generations";

function content(base64: string, members: object = {}): string {
  const parts = [
    { text: "Here it is." },
    { inlineData: { mimeType: "image/png", data: "ZHJhZnQ=" }, thought: true },
    { inlineData: { mimeType: "image/png", data: base64 } },
  ];
  return JSON.stringify({
    candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
    usageMetadata: {
      promptTokenCount: 10,
      candidatesTokenCount: 1_300,
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1_290 }],
      totalTokenCount: 1_310,
    },
    ...members,
  });
}

function refused(finishReason: string): string {
  return JSON.stringify({ candidates: [{ finishReason, content: {} }], usageMetadata: { promptTokenCount: 10 } });
}

function predictions(count: number, first = 0): string {
  const all = Array.from({ length: count }, (_, index) => ({
    bytesBase64Encoded: `cGlj${first + index}A==`,
    mimeType: "image/png",
  }));
  return JSON.stringify({ predictions: all });
}

describe("image endpoints in front of Google's models", () => {
  let rig: ImageRig;

  before(async () => {
    rig = await startImageRig();
  });
  afterEach(() => rig.google.forget());
  after(() => rig?.close());

  async function recordOf(answer: { header(name: string): string | undefined }) {
    return rig.gateway.recordOf(String(answer.header("x-request-id")));
  }

  describe("generateContent", () => {
    it("gets the prompt and the shape, and its picture comes back as base64", async () => {
      rig.google.replyWith({ body: content("cGlj") });
      const body = { model: "nano-image", prompt: "a cat", size: "1792x1024", seed: 7, response_format: "b64_json" };
      const answer = await rig.call(path, body);
      assert.equal(answer.status, 200, answer.body.toString());
      const [sent] = rig.google.requests;
      assert.equal(sent?.target, "/v1beta/models/nano-image:generateContent");
      assert.deepEqual(sent?.json(), {
        contents: [{ role: "user", parts: [{ text: "a cat" }] }],
        generationConfig: { responseModalities: ["TEXT", "IMAGE"], seed: 7, imageConfig: { aspectRatio: "16:9" } },
      });
      assert.deepEqual(at(answer.json(), "data"), [{ b64_json: "cGlj" }]);
      assert.equal(at(answer.json(), "output_format"), "png");
      assert.deepEqual(at(answer.json(), "usage"), {
        input_tokens: 10,
        input_tokens_details: { image_tokens: 0, text_tokens: 10 },
        output_tokens: 1_300,
        output_tokens_details: { image_tokens: 1_290, text_tokens: 10 },
        total_tokens: 1_310,
      });
      assert.equal(answer.header("x-tollgate-dropped"), undefined);
      assert.equal((await recordOf(answer)).costNanos, 500_000_000n);
    });

    it("is called once for each picture, and each is charged", async () => {
      let running = 0;
      let most = 0;
      rig.google.replyWith(async (_, index) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return { body: content(`cGlj${index}`) };
      });
      const answer = await rig.call(path, { model: "nano-by-token", prompt: "a cat", n: 9, size: "1024x1024" });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(rig.google.requests.length, 9);
      assert.ok(most <= 4, `${most} at once`);
      const data = at(answer.json(), "data");
      assert.ok(Array.isArray(data));
      assert.deepEqual(new Set(data.map((each) => at(each, "b64_json"))).size, 9);
      assert.equal(at(answer.json(), "usage", "total_tokens"), 9 * 1_310);
      const record = await recordOf(answer);
      assert.equal(record.costNanos, 9n * (10n * 1_000n + 1_290n * 10_000n + 10n * 0n));
      assert.equal(record.usage?.imageOutput, 9 * 1_290);
    });

    it("streams the pictures as events of the interface", async () => {
      rig.google.replyWith((_, index) => ({ body: content(`cGlj${index}`) }));
      for (const n of [1, 3]) {
        const answer = await rig.call(path, { model: "nano-image", prompt: "a cat", n, stream: true });
        const events = eventsOf(answer);
        assert.ok(answer.isComplete);
        assert.deepEqual(
          events.map(({ type }) => type),
          Array(n).fill("image_generation.completed"),
        );
        assert.equal(at(events.at(-1)?.data, "usage", "total_tokens"), n * 1_310);
        assert.equal((await recordOf(answer)).costNanos, BigInt(n) * 500_000_000n);
      }
      assert.equal(rig.google.requests[0]?.headers["accept"], "application/json");
    });

    it("declares what it cannot say, or refuses the call where nothing may be dropped", async () => {
      rig.google.replyWith({ body: content("cGlj") });
      const body = { prompt: "a cat", quality: "high", style: "vivid", background: "auto", response_format: "url" };
      const answer = await rig.call(path, { model: "nano-image", ...body });
      assert.equal(answer.header("x-tollgate-dropped"), "quality, style, response_format");
      rig.google.forget();
      const strict = await rig.call(path, { model: "nano-strict", ...body });
      assert.equal(strict.status, 400);
      assert.equal(at(strict.json(), "error", "param"), "quality");
      assert.equal(rig.google.requests.length, 0);
    });

    for (const reply of [
      refused("IMAGE_SAFETY"),
      refused("PROHIBITED_CONTENT"),
      JSON.stringify({ promptFeedback: { blockReason: "IMAGE_SAFETY" } }),
    ]) {
      it(`tells a refusal of the content as one: ${reply.slice(0, 60)}`, async () => {
        rig.google.replyWith({ body: reply });
        const answer = await rig.call(path, { model: "nano-image", prompt: "a cat" });
        assert.equal(answer.status, 400, answer.body.toString());
        assert.equal(at(answer.json(), "error", "code"), "content_policy_violation");
        assert.equal((await recordOf(answer)).costNanos, undefined);
      });
    }

    for (const row of [
      { name: "a reply without a picture", body: JSON.stringify({ candidates: [{ finishReason: "STOP" }] }) },
      { name: "an error under a status of success", body: '{"error":{"code":500,"message":"no"}}' },
      { name: "something else", body: '{"hello":1}' },
      { name: "a list", body: "[1]" },
      { name: "HTML", body: "<html>" },
      { name: "nothing", body: "" },
    ]) {
      it(`never passes ${row.name} as a picture`, async () => {
        rig.google.replyWith({ body: row.body });
        for (const n of [1, 3]) {
          const answer = await rig.call(path, { model: "nano-image", prompt: "a cat", n });
          assert.ok(answer.status >= 500, `${answer.status} ${answer.body}`);
        }
      });
    }

    it("is an error as a whole when one request fails, and what was made is charged", async () => {
      rig.google.replyWith((_, index) => (index === 2 ? { status: 500, body: "oops" } : { body: content("cGlj") }));
      const answer = await rig.call(path, { model: "nano-image", prompt: "a cat", n: 40, size: "1024x1024" });
      assert.ok(answer.status >= 500, answer.body.toString());
      const made = rig.google.requests.length - 1;
      assert.ok(made >= 2 && made <= 5, `${made} made`);
      assert.equal((await recordOf(answer)).costNanos, BigInt(made) * 125_000_000n);
    });

    it("is asked once where it refuses, whatever was asked for", async () => {
      rig.google.replyWith({ status: 429, body: '{"error":{"code":429,"message":"slow down"}}' });
      const answer = await rig.call(path, { model: "nano-image", prompt: "a cat", n: 40 });
      assert.equal(answer.status, 429);
      assert.equal(rig.google.requests.length, 1);
      assert.equal((await recordOf(answer)).costNanos, undefined);
    });

    it("is called no more when the client has left, and what was made is charged", async () => {
      rig.google.replyWith((_, index) =>
        index < 2 ? { body: content("cGlj") } : { body: content("cGlj"), stallAt: 10 },
      );
      const calls = rig.gateway.records.length;
      await leaveCall(rig, path, { model: "nano-image", prompt: "a cat", n: 20, size: "1024x1024" }, () =>
        waitFor("all that run", () => rig.google.requests[5] ?? rig.google.requests[4]),
      );
      const record = await waitFor("the record", () => rig.gateway.records[calls]);
      assert.equal(record.costNanos, 250_000_000n);
      await waitFor("the upstream's end", () =>
        rig.google.requests.every((each) => (each.abortedAtMs ?? each.finishedAtMs) !== undefined) ? true : undefined,
      );
      assert.ok(rig.google.requests.length <= 6);
    });

    it("is refused 128 pictures for a key with credit for three, before it is called", async () => {
      const body = { model: "nano-image", prompt: "a cat", n: 128 };
      const answer = await rig.call(path, body, { key: "credit" });
      assert.equal(at(answer.json(), "error", "code"), "insufficient_quota");
      assert.equal(rig.google.requests.length, 0);
    });

    it("gets pictures to edit from a form, whatever the files are labelled", async () => {
      rig.google.replyWith({ body: content("cGlj") });
      const large = Buffer.concat([jpeg, Buffer.alloc(400_001, "x")]);
      const parts = [
        field("model", "nano-image"),
        file("image[]", png),
        file("image[]", large, "b", "x/y"),
        field("prompt", "mix"),
      ];
      const answer = await rig.call("/v1/images/edits", formOf([...parts, field("n", "2")]), {
        headers: { "content-type": "multipart/form-data; boundary=b" },
      });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(rig.google.requests.length, 2);
      for (const sent of rig.google.requests) {
        assert.deepEqual(at(sent.json(), "contents", 0, "parts"), [
          { inlineData: { mimeType: "image/png", data: png.toString("base64") } },
          { inlineData: { mimeType: "image/jpeg", data: large.toString("base64") } },
          { text: "mix" },
        ]);
      }
      assert.equal((await recordOf(answer)).format, "ImageEdits");
    });

    it("gets pictures to edit from JSON, and no mask", async () => {
      rig.google.replyWith({ body: content("cGlj") });
      const image_url = `data:image/jpeg;base64,${png.toString("base64")}`;
      const body = { model: "nano-image", prompt: "x", images: [{ image_url }], mask: { image_url } };
      const answer = await rig.call("/v1/images/edits", body);
      assert.equal(answer.header("x-tollgate-dropped"), "mask");
      const part = at(rig.google.requests[0]?.json(), "contents", 0, "parts", 0);
      assert.deepEqual(part, { inlineData: { mimeType: "image/png", data: png.toString("base64") } });
    });
  });

  describe("Imagen", () => {
    it("makes four with one request, and says so", async () => {
      let first = 0;
      rig.google.replyWith((request) => {
        const count = Number(at(request.json(), "parameters", "sampleCount"));
        first += count;
        return { body: predictions(count, first - count) };
      });
      const body = {
        model: "imagen-4",
        prompt: "a cat",
        n: 10,
        size: "2048x2048",
        output_format: "jpeg",
        output_compression: 80,
      };
      const answer = await rig.call(path, body);
      assert.equal(answer.status, 200, answer.body.toString());
      const counts = rig.google.requests.map((request) => at(request.json(), "parameters", "sampleCount"));
      assert.deepEqual(counts.toSorted(), [2, 4, 4]);
      assert.equal(rig.google.requests[0]?.target, "/v1beta/models/imagen-4:predict");
      assert.deepEqual(rig.google.requests[0]?.json(), {
        instances: [{ prompt: "a cat" }],
        parameters: {
          sampleCount: 4,
          aspectRatio: "1:1",
          sampleImageSize: "2K",
          outputOptions: { mimeType: "image/jpeg", compressionQuality: 80 },
          includeRaiReason: true,
        },
      });
      const data = at(answer.json(), "data");
      assert.ok(Array.isArray(data) && data.length === 10);
      const record = await recordOf(answer);
      assert.deepEqual([record.costNanos, record.isEstimated], [10n * 500_000_000n, true]);
    });

    it("makes fewer where some are filtered, and these are not charged", async () => {
      const body = JSON.parse(predictions(2));
      body.predictions.push({ raiFilteredReason: "no" });
      rig.google.replyWith({ body: JSON.stringify(body) });
      const answer = await rig.call(path, { model: "imagen-4", prompt: "a cat", n: 3 });
      assert.equal(answer.status, 200);
      assert.equal((await recordOf(answer)).costNanos, 1_000_000_000n);
    });

    for (const body of ['{"predictions":[{"raiFilteredReason":"no"}]}', "{}"]) {
      it(`tells a refusal of the content as one: ${body}`, async () => {
        rig.google.replyWith({ body });
        const answer = await rig.call(path, { model: "imagen-4", prompt: "a cat" });
        assert.equal(at(answer.json(), "error", "code"), "content_policy_violation");
      });
    }
  });
});

/** The image endpoints in front of Google's models: generateContent makes one picture with a request, Imagen up to four. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import { content, predictions, refused } from "#test/support/conformance/google-pictures";
import { eventsOf, type ImageRig, jpeg, png, startImageRig } from "#test/support/conformance/image-rig";
import { at } from "#test/support/digest/facts";
import { field, file, formOf } from "#test/support/form-server";

const path = "/v1/images/generations";

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

    it("declares pictures of a call that makes new ones", async () => {
      rig.google.replyWith({ body: content("cGlj") });
      const answer = await rig.call(path, { model: "nano-image", prompt: "a cat", image: "https://x.example/a.png" });
      assert.equal(answer.header("x-tollgate-dropped"), "image");
    });

    it("declares every other part of a form", async () => {
      rig.google.replyWith({ body: content("cGlj") });
      const parts = [
        ...[field("model", "nano-image"), field("prompt", "x"), file("image", png), file("image_2", png)],
        ...[field("style[]", "a"), field("style[]", "b"), field("options[a]", "1"), field("seed", "7")],
      ];
      const headers = { "content-type": "multipart/form-data; boundary=b" };
      const answer = await rig.call("/v1/images/edits", formOf(parts), { headers });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(answer.header("x-tollgate-dropped"), "image_2, style, options");
      assert.equal(at(rig.google.requests[0]?.json(), "generationConfig", "seed"), 7);
    });

    for (const row of [
      { image: { file_id: "file-1" }, param: "images[0].file_id" },
      { image: { image_url: "https://x.example/cat.png" }, param: "images[0]" },
    ]) {
      it(`is sent pictures alone: ${JSON.stringify(row.image)}`, async () => {
        const answer = await rig.call("/v1/images/edits", { model: "nano-shared", prompt: "x", images: [row.image] });
        assert.equal(answer.status, 400, answer.body.toString());
        assert.equal(at(answer.json(), "error", "code"), "unsupported_parameter");
        assert.equal(at(answer.json(), "error", "param"), row.param);
        assert.equal(rig.google.requests.length, 0);
      });
    }

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
      assert.equal(answer.header("x-tollgate-dropped"), "n");
      assert.equal((await recordOf(answer)).costNanos, 1_000_000_000n);
    });

    it("says so where one of several requests made fewer", async () => {
      rig.google.replyWith((_, index) => ({ body: predictions(index === 0 ? 4 : 1) }));
      const answer = await rig.call(path, { model: "imagen-4", prompt: "a cat", n: 6, style: "vivid" });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(answer.header("x-tollgate-dropped"), "style, n");
      assert.equal((await recordOf(answer)).costNanos, 2_500_000_000n);
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

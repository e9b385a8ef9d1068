/** The paths for pictures, with both generations of the official SDK and without one. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { toFile } from "openai-7";
import { drawPicture } from "#examples/demo-upstream/images/picture";
import { list, member, text } from "#examples/demo-upstream/json-view";
import { genaiGenerations, openaiGenerations } from "#test/support/official-clients";
import { readPng } from "#test/support/read-png";
import { eventsOf, type RunningDemoUpstream, startDemoUpstream } from "#test/support/start-demo-upstream";

function decode(base64: unknown): Buffer {
  assert.ok(typeof base64 === "string");
  return Buffer.from(base64, "base64");
}

function svgOf(base64: unknown): string {
  return decode(base64).toString();
}

/** All lines of an SVG as one text. */
function shownIn(svg: string): string {
  return [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, line]) => line).join(" ");
}

const picture = (width: number, height: number): Buffer =>
  drawPicture({ width, height, text: "given", isTransparent: false }, "png").bytes;

describe("demo upstream, pictures", () => {
  let demo: RunningDemoUpstream;

  before(async () => {
    demo = await startDemoUpstream();
  });

  after(() => demo.close());

  for (const { name, load } of openaiGenerations) {
    const create = () => new (load())({ baseURL: `${demo.origin}/v1`, apiKey: "demo", maxRetries: 0 });

    it(`makes n PNG files of a size, with usage, for ${name}`, async () => {
      const made = await create().images.generate({
        model: "m",
        prompt: "a lighthouse",
        n: 2,
        size: "512x256" as "auto",
      });
      assert.equal(made.data?.length, 2);
      const pictures = (made.data ?? []).map((one) => readPng(decode(one.b64_json)));
      for (const { width, height } of pictures) assert.deepEqual([width, height], [512, 256]);
      assert.notDeepEqual(pictures[0]?.rows, pictures[1]?.rows);
      assert.equal(made.usage?.output_tokens, 256);
      assert.equal(made.usage?.total_tokens, 3 + 256);
    });

    it(`streams partial images, then the picture, for ${name}`, async () => {
      const types: string[] = [];
      let last = "";
      const call = { model: "m", prompt: "a lighthouse", partial_images: 2, stream: true } as const;
      for await (const event of await create().images.generate(call)) {
        types.push(event.type);
        if ("b64_json" in event) last = event.b64_json;
      }
      assert.deepEqual(types, [
        "image_generation.partial_image",
        "image_generation.partial_image",
        "image_generation.completed",
      ]);
      const whole = await create().images.generate({ model: "m", prompt: "a lighthouse" });
      assert.equal(last, whole.data?.[0]?.b64_json);
    });

    it(`edits images of a form and says which it got, for ${name}`, async () => {
      const edited = await create().images.edit({
        model: "m",
        prompt: "make it night",
        image: [
          await toFile(picture(64, 32), "one.png", { type: "image/png" }),
          await toFile(Buffer.from("not a png"), "two.jpg", { type: "image/jpeg" }),
        ],
        mask: await toFile(picture(16, 16), "mask.png", { type: "image/png" }),
        output_format: "svg" as "png",
      });
      assert.equal(
        shownIn(svgOf(edited.data?.[0]?.b64_json)).replaceAll(/\s+/g, " ").trim(),
        "make it night from 64x32 PNG, 9 bytes of image/jpeg, mask 16x16 PNG",
      );
      assert.equal(edited.usage?.input_tokens_details.image_tokens, 512);
    });
  }

  for (const row of [
    { name: "data URI", image: `data:image/png;base64,${picture(48, 24).toString("base64")}`, says: /48x24 PNG/ },
    {
      name: "list of addresses",
      images: ["https://a.test/1.png", { image_url: "https://a.test/2.png" }],
      says: /address, an image/,
    },
    {
      name: "nested data URI",
      images: [{ image_url: { url: "data:image/gif;base64,R0lGODlhAQACAA==" } }],
      says: /1x2 GIF/,
    },
  ]) {
    it(`edits an image given in JSON: ${row.name}`, async () => {
      const { name: _, says, ...images } = row;
      const call = { model: "m", prompt: "p", output_format: "svg", size: "2048x2048", ...images };
      const edited = await demo.json("/v1/images/edits", call);
      assert.match(shownIn(svgOf(member(list(member(edited, "data"))[0], "b64_json"))), says);
    });
  }

  it("varies an image without a prompt", async () => {
    const form = new FormData();
    form.set("image", new Blob([Uint8Array.from(picture(20, 30))], { type: "image/png" }), "a.png");
    form.set("model", "m");
    form.set("output_format", "svg");
    const varied = await demo.json("/v1/images/variations", form);
    assert.match(shownIn(svgOf(member(list(member(varied, "data"))[0], "b64_json"))), /a variation of 20x30 PNG/);
  });

  it("streams an edit that a form asks for", async () => {
    const form = new FormData();
    form.append("image[]", new Blob([Uint8Array.from(picture(20, 30))], { type: "image/png" }), "a.png");
    for (const [name, value] of [
      ["model", "m"],
      ["prompt", "p"],
      ["stream", "true"],
      ["partial_images", "1"],
    ] as const)
      form.set(name, value);
    const response = await demo.post("/v1/images/edits", form);
    assert.deepEqual(
      eventsOf(await response.text()).map((event) => text(member(event, "type"))),
      ["image_edit.partial_image", "image_edit.completed"],
    );
  });

  for (const row of [
    { name: "no prompt", path: "generations", body: { model: "m" }, param: "prompt" },
    { name: "no model", path: "generations", body: { prompt: "p" }, param: "model" },
    {
      name: "a format that is not made",
      path: "generations",
      body: { model: "m", prompt: "p", output_format: "webp" },
      param: "output_format",
    },
    {
      name: "a size beyond the largest",
      path: "generations",
      body: { model: "m", prompt: "p", size: "4096x4096" },
      param: "size",
    },
    {
      name: "a size without a height",
      path: "generations",
      body: { model: "m", prompt: "p", size: "512" },
      param: "size",
    },
    { name: "too many pictures", path: "generations", body: { model: "m", prompt: "p", n: 129 }, param: "n" },
    { name: "an edit of nothing", path: "edits", body: { model: "m", prompt: "p" }, param: "image" },
    { name: "a variation of nothing", path: "variations", body: { model: "m" }, param: "image" },
  ]) {
    it(`refuses ${row.name}`, async () => {
      const response = await demo.post(`/v1/images/${row.path}`, row.body);
      assert.equal(response.status, 400);
      assert.equal(member(member(await response.json(), "error"), "param"), row.param);
    });
  }

  it("fails by model name, before and inside a stream", async () => {
    const body = { model: "demo-fault-429", prompt: "p" };
    assert.equal((await demo.post("/v1/images/generations", body)).status, 429);
    const stream = { model: "demo-fault-error-event", prompt: "p", stream: true, partial_images: 3 };
    const events = eventsOf(await (await demo.post("/v1/images/generations", stream)).text());
    assert.equal(member(events.at(-1), "type"), "error");
  });

  it("predicts pictures of given proportions, as Imagen", async () => {
    const made = await demo.json("/v1beta/models/imagen-demo:predict", {
      instances: [{ prompt: "a lighthouse" }],
      parameters: { sampleCount: 2, aspectRatio: "16:9" },
    });
    const predictions = list(member(made, "predictions"));
    assert.equal(predictions.length, 2);
    const { width, height } = readPng(decode(member(predictions[0], "bytesBase64Encoded")));
    assert.deepEqual([width, height], [1024, 576]);
  });

  for (const row of [
    { name: "no prompt", body: { instances: [{}] } },
    { name: "five samples", body: { instances: [{ prompt: "p" }], parameters: { sampleCount: 5 } } },
    { name: "JPEG", body: { instances: [{ prompt: "p" }], parameters: { outputOptions: { mimeType: "image/jpeg" } } } },
    { name: "odd proportions", body: { instances: [{ prompt: "p" }], parameters: { aspectRatio: "99:1" } } },
  ]) {
    it(`refuses to predict ${row.name}`, async () => {
      const response = await demo.post("/v1beta/models/imagen-demo:predict", row.body);
      assert.equal(response.status, 400);
      assert.equal(member(member(await response.json(), "error"), "status"), "INVALID_ARGUMENT");
    });
  }

  for (const { name, load } of genaiGenerations) {
    it(`generates a picture with text, and streams it, for ${name}`, async () => {
      const client = new (load())({ apiKey: "demo", httpOptions: { baseUrl: demo.origin } });
      const call = {
        model: "m-image",
        contents: "a lighthouse",
        config: { responseModalities: ["TEXT", "IMAGE"], imageConfig: { aspectRatio: "3:4" } },
      };
      const reply = await client.models.generateContent(call);
      const parts = reply.candidates?.[0]?.content?.parts ?? [];
      assert.match(parts[0]?.text ?? "", /a lighthouse/);
      const { width, height } = readPng(decode(parts[1]?.inlineData?.data));
      assert.deepEqual([width, height], [768, 1024]);
      const details = reply.usageMetadata?.candidatesTokensDetails ?? [];
      assert.deepEqual([details[0]?.modality, details[0]?.tokenCount], ["IMAGE", 768]);
      let streamed = "";
      let tokens = 0;
      for await (const chunk of await client.models.generateContentStream(call)) {
        for (const part of chunk.candidates?.[0]?.content?.parts ?? []) streamed += part.inlineData?.data ?? "";
        tokens = chunk.usageMetadata?.candidatesTokenCount ?? tokens;
      }
      assert.equal(streamed, parts[1]?.inlineData?.data);
      assert.equal(tokens, reply.usageMetadata?.candidatesTokenCount);
    });
  }

  it("generates a picture alone", async () => {
    const made = await demo.json("/v1beta/models/m:generateContent", {
      contents: [{ parts: [{ text: "p" }] }],
      generationConfig: { responseModalities: ["IMAGE"] },
    });
    const parts = list(member(member(list(member(made, "candidates"))[0], "content"), "parts"));
    assert.deepEqual(
      parts.map((part) => Object.keys(part ?? {})),
      [["inlineData"]],
    );
  });
});

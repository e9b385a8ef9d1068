/** Google's SDKs making pictures: `generateImages` of the older one (`:predict`), IMAGE modality of both. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import { type ImageRig, startImageRig } from "#test/support/conformance/image-rig";
import { channelSecret, clientKey, routeManifest } from "#test/support/conformance/manifests";
import { at } from "#test/support/digest/facts";
import { genaiGenerations } from "#test/support/official-clients";

const prediction = { bytesBase64Encoded: "cGlj", mimeType: "image/png" };

describe("official SDKs: images of Google's models", function () {
  this.timeout(20_000);
  let rig: ImageRig;

  before(async () => {
    const gemini = { targets: [{ name: "main", channelRef: { name: "gemini" } }] };
    rig = await startImageRig([
      routeManifest("nano-chat", { ...gemini, capabilities: ["Chat", "ImageGeneration"] }),
      routeManifest("paint-chat", {
        targets: [{ name: "main", channelRef: { name: "strict" } }],
        capabilities: ["Chat", "ImageGeneration"],
      }),
    ]);
  });
  afterEach(() => rig.google.forget());
  after(() => rig?.close());

  function post(body: unknown, key = "k", model = "imagen-4") {
    const headers = { "x-goog-api-key": clientKey(key), authorization: "" };
    const { authorization: _, ...rest } = headers;
    return fetch(`${rig.gateway.origin}/v1beta/models/${model}:predict`, {
      method: "POST",
      headers: { ...rest, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  for (const { name, load } of genaiGenerations) {
    const models = () => new (load())({ apiKey: clientKey("k"), httpOptions: { baseUrl: rig.gateway.origin } }).models;

    it(`${name} gets a picture by generateContent`, async () => {
      const parts = [{ inlineData: { mimeType: "image/png", data: "cGlj" } }];
      rig.google.replyWith({ body: JSON.stringify({ candidates: [{ content: { parts }, finishReason: "STOP" }] }) });
      const config = { responseModalities: ["TEXT", "IMAGE"] };
      const made = await models().generateContent({ model: "nano-chat", contents: "a cat", config });
      assert.equal(made.candidates?.[0]?.content?.parts?.[0]?.inlineData?.data, "cGlj");
    });

    for (const model of ["painter", "paint-chat"]) {
      it(`${name} is refused IMAGE by generateContent where only the Images API makes pictures: ${model}`, async () => {
        const config = { responseModalities: ["TEXT", "IMAGE"] };
        await assert.rejects(models().generateContent({ model, contents: "a cat", config }), {
          status: 400,
          message: new RegExp(`The model '${model}' does not serve this endpoint`),
        });
        assert.equal(rig.upstream.requests.length, 0);
      });
    }

    it(`${name} finds predict among the methods of a model that makes pictures`, async () => {
      const model = await models().get({ model: "imagen-4" });
      assert.deepEqual(model.supportedActions, ["predict"]);
    });
  }

  it("genai 1 generates images", async () => {
    rig.google.replyWith({ body: JSON.stringify({ predictions: [prediction, prediction] }) });
    const { GoogleGenAI } = await import("genai-1");
    const client = new GoogleGenAI({ apiKey: clientKey("k"), httpOptions: { baseUrl: rig.gateway.origin } });
    const made = await client.models.generateImages({
      model: "imagen-4",
      prompt: "a cat",
      config: { numberOfImages: 2, aspectRatio: "16:9" },
    });
    assert.deepEqual(
      made.generatedImages?.map(({ image }) => image?.imageBytes),
      ["cGlj", "cGlj"],
    );
    const [sent] = rig.google.requests;
    assert.equal(sent?.target, "/v1beta/models/imagen-4:predict");
    assert.equal(sent?.headers["authorization"] ?? sent?.headers["x-goog-api-key"], channelSecret);
    assert.deepEqual(sent?.json(), {
      instances: [{ prompt: "a cat" }],
      parameters: { sampleCount: 2, aspectRatio: "16:9" },
    });
    const record = rig.gateway.records.at(-1);
    assert.deepEqual([record?.costNanos, record?.format], [1_000_000_000n, "Predict"]);
  });

  for (const row of [
    { name: "no instances", body: { instances: [] }, status: 400 },
    { name: "an instance without a prompt", body: { instances: [{}] }, status: 400 },
    { name: "no picture", body: { instances: [{ prompt: "x" }], parameters: { sampleCount: 0 } }, status: 400 },
    {
      name: "129 pictures",
      body: { instances: Array(3).fill({ prompt: "x" }), parameters: { sampleCount: 43 } },
      status: 400,
    },
    { name: "parameters that are a text", body: { instances: [{ prompt: "x" }], parameters: "x" }, status: 400 },
  ]) {
    it(`refuses ${row.name} before any upstream is called`, async () => {
      const answer = await post(row.body);
      assert.equal(answer.status, row.status);
      assert.equal(at(await answer.json(), "error", "status"), "INVALID_ARGUMENT");
      assert.equal(rig.google.requests.length, 0);
    });
  }

  for (const row of [
    { body: { instances: [{ prompt: "x" }], parameters: { storageUri: "gs://b/" } }, param: "parameters.storageUri" },
    {
      body: { instances: [{ prompt: "x", referenceImages: [{ referenceImage: { gcsUri: "gs://b/a.png" } }] }] },
      param: "instances[0].referenceImages[0].referenceImage.gcsUri",
    },
  ]) {
    it(`refuses ${row.param}, unless the channel shares its objects`, async () => {
      const refused = await post(row.body);
      assert.equal(refused.status, 400);
      assert.ok(String(at(await refused.json(), "error", "message")).includes(`'${row.param}'`));
      assert.equal(rig.google.requests.length, 0);
      const pictures = [{ gcsUri: "gs://b/1.png" }, { raiFilteredReason: "no" }, { gcsUri: "gs://b/2.png" }];
      rig.google.replyWith({ body: JSON.stringify({ predictions: pictures }) });
      const shared = await post(row.body, "k", "nano-shared");
      assert.equal(shared.status, 200);
      const record = await rig.gateway.recordOf(String(shared.headers.get("x-request-id")));
      assert.equal(record.costNanos, 1_000_000_000n);
    });
  }

  it("takes a call that does not say how many for one of four", async () => {
    // Four of an unknown size cost 2 credits, and the key has 1.
    const refused = await post({ instances: [{ prompt: "x" }] }, "credit");
    assert.equal(refused.status, 429);
    assert.equal(rig.google.requests.length, 0);
    assert.equal((await post({ instances: [{ prompt: "x" }, { prompt: "y" }], parameters: {} }, "credit")).status, 429);
  });

  it("refuses 128 pictures to a key with credit for two", async () => {
    const body = { instances: [{ prompt: "x" }], parameters: { sampleCount: 128 } };
    assert.equal((await post(body, "credit")).status, 429);
    assert.equal(rig.google.requests.length, 0);
  });

  for (const body of ['{"error":{"code":500,"message":"no"}}', "<html>", "[]", '{"hello":1}', ""]) {
    it(`never passes ${body === "" ? "nothing" : body} as pictures`, async () => {
      rig.google.replyWith({ body });
      assert.ok((await post({ instances: [{ prompt: "x" }] })).status >= 500);
    });
  }
});

/** OpenAI's official SDK, two generations, making and editing pictures through the gateway. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import type OpenAI from "openai-7";
import { toFile } from "openai-7";
import {
  completedEvent,
  eventStream,
  type ImageRig,
  imagesReply,
  jpeg,
  partialEvent,
  png,
  startImageRig,
  usage,
} from "#test/support/conformance/image-rig";
import { clientKey } from "#test/support/conformance/manifests";
import { openaiGenerations } from "#test/support/official-clients";

describe("official SDKs: images", function () {
  this.timeout(20_000);
  let rig: ImageRig;

  before(async () => {
    rig = await startImageRig();
  });
  afterEach(() => rig.upstream.forget());
  after(() => rig?.close());

  for (const { name, load } of openaiGenerations) {
    const images = (): OpenAI["images"] =>
      new (load())({ baseURL: `${rig.gateway.origin}/v1`, apiKey: clientKey("k"), maxRetries: 0 }).images;

    it(`${name} generates pictures`, async () => {
      rig.upstream.replyWith({ body: imagesReply(2) });
      const made = await images().generate({ model: "painter", prompt: "a cat", n: 2, size: "1024x1024" });
      assert.deepEqual(made.data, [{ b64_json: "cGljdHVyZS0" }, { b64_json: "cGljdHVyZS1" }]);
      assert.deepEqual(made.usage, usage);
      assert.equal(made.size, "1024x1024");
    });

    it(`${name} generates a picture in a stream`, async () => {
      rig.upstream.replyWith({ headers: eventStream, body: partialEvent(0) + partialEvent(1) + completedEvent() });
      const events = await images().generate({ model: "painter", prompt: "a cat", stream: true, partial_images: 2 });
      const types: string[] = [];
      for await (const event of events) {
        types.push(event.type);
        if (event.type === "image_generation.completed") assert.deepEqual(event.usage, usage);
      }
      const partial = "image_generation.partial_image";
      assert.deepEqual(types, [partial, partial, "image_generation.completed"]);
    });

    it(`${name} is told of a stream that is cut`, async () => {
      rig.upstream.replyWith({ headers: eventStream, body: partialEvent(0) });
      const events = await images().generate({ model: "painter", prompt: "a cat", stream: true });
      await assert.rejects(async () => {
        for await (const _ of events);
      });
    });

    it(`${name} edits pictures, one and several, with a mask`, async () => {
      rig.upstream.replyWith({ body: imagesReply(1) });
      const one = await toFile(png, "one.png", { type: "image/png" });
      const two = await toFile(jpeg, "two.jpg", { type: "image/jpeg" });
      for (const image of [one, [one, two]]) {
        const made = await images().edit({
          model: "painter",
          prompt: "a hat",
          image,
          mask: one,
          n: 1,
          quality: "high",
        });
        assert.equal(made.data?.length, 1);
      }
      const bodies = rig.upstream.requests.map(({ body }) => body.toString("latin1"));
      assert.match(bodies[0] ?? "", /name="image"; filename="one\.png"/);
      assert.match(bodies[1] ?? "", /name="image\[\]"; filename="two\.jpg"\r\nContent-Type: image\/jpeg/);
    });

    it(`${name} edits a picture in a stream`, async () => {
      const stream = partialEvent(0, "YQ==", "image_edit") + completedEvent("Yg==", { usage }, "image_edit");
      rig.upstream.replyWith({ headers: eventStream, body: stream });
      const image = await toFile(png, "one.png", { type: "image/png" });
      const events = await images().edit({ model: "painter", prompt: "a hat", image, stream: true });
      const types: string[] = [];
      for await (const event of events) types.push(event.type);
      assert.deepEqual(types, ["image_edit.partial_image", "image_edit.completed"]);
    });

    it(`${name} makes variations`, async () => {
      rig.upstream.replyWith({ body: imagesReply(3) });
      const image = await toFile(png, "one.png", { type: "image/png" });
      const made = await images().createVariation({ model: "painter", image, n: 3 });
      assert.equal(made.data?.length, 3);
    });

    it(`${name} gets parameter errors as its own`, async () => {
      await assert.rejects(images().generate({ model: "painter", prompt: "a cat", n: 129 }), {
        status: 400,
        code: "invalid_value",
        param: "n",
      });
    });

    it(`${name} gets pictures of Google's models`, async () => {
      const parts = [{ inlineData: { mimeType: "image/png", data: "cGlj" } }];
      rig.google.replyWith({ body: JSON.stringify({ candidates: [{ content: { parts } }] }) });
      const made = await images().generate({ model: "nano-image", prompt: "a cat", n: 2 });
      assert.deepEqual(made.data, [{ b64_json: "cGlj" }, { b64_json: "cGlj" }]);
    });
  }
});

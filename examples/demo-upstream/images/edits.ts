/**
 * `POST /v1/images/edits` and `/v1/images/variations`: pictures that show the prompt and which images came with it. A
 * form, or JSON whose `image` or `images` hold data URIs or addresses, as vendors take it.
 */
import { writeError } from "#examples/demo-upstream/chat-completions";
import type { DemoCall, DemoEndpoint } from "#examples/demo-upstream/endpoint";
import { BadRequest } from "#examples/demo-upstream/format";
import { requiredText } from "#examples/demo-upstream/http/read-option";
import { either, text } from "#examples/demo-upstream/json-view";
import { describeImage } from "./describe-image.ts";
import { readImageOrder, writeImages } from "./image-order.ts";

/** As OpenAI's. */
const imagesMax = 16;

export const imageEdits: DemoEndpoint = {
  path: /^\/v1\/images\/edits$/,
  keyHeader: "bearer",
  writeError,
  reply: (call) => {
    const order = readImageOrder(call);
    const prompt = requiredText(call.body, "prompt");
    const images = readImages(call);
    const masks = call.files
      .filter(({ field }) => field === "mask")
      .map(({ bytes, contentType }) => ({ bytes, contentType }));
    const mask =
      masks.length === 0 ? "" : `, mask ${masks.map((one) => describeImage(one.bytes, one.contentType)).join(", ")}`;
    const caption = `${prompt}\n\nfrom ${images.join(", ")}${mask}`;
    return writeImages(call, order, { caption, prompt, imagesGiven: images.length, eventPrefix: "image_edit" });
  },
};

export const imageVariations: DemoEndpoint = {
  path: /^\/v1\/images\/variations$/,
  keyHeader: "bearer",
  writeError,
  reply: (call) => {
    const order = readImageOrder(call);
    const images = readImages(call);
    const caption = `a variation of ${images.join(", ")}`;
    return writeImages(call, order, {
      caption,
      prompt: "",
      imagesGiven: images.length,
      eventPrefix: "image_variation",
    });
  },
};

/** What each image is, in words. @throws BadRequest for none, or too many */
function readImages({ body, files }: DemoCall): readonly string[] {
  const inForm = files
    .filter(({ field }) => field === "image" || field === "image[]")
    .map(({ bytes, contentType }) => describeImage(bytes, contentType));
  const images = [...inForm, ...[body["image"], body["images"]].flat().flatMap(describeReference)];
  if (images.length === 0) throw new BadRequest("image", "Missing required parameter: 'image'.");
  if (images.length > imagesMax) throw new BadRequest("image", `Invalid 'image': at most ${imagesMax} images.`);
  return images;
}

/** An image of a JSON body: a text, or an object that holds one. */
function describeReference(image: unknown): readonly string[] {
  const inObject = either(image, "image_url", "url", "b64_json");
  const reference = text(image) ?? text(inObject) ?? text(either(inObject, "url"));
  if (reference === undefined) return [];
  // The demo opens no connection: an address is told as one.
  if (/^https?:/.test(reference)) return ["an image at an address"];
  const [, mimeType, data = reference] = /^data:([^;,]*)[^,]*,(.*)$/s.exec(reference) ?? [];
  return [describeImage(Buffer.from(data, "base64"), mimeType)];
}

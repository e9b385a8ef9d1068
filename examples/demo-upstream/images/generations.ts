/** `POST /v1/images/generations`: pictures that show their prompt. */
import { writeError } from "#examples/demo-upstream/chat-completions";
import type { DemoEndpoint } from "#examples/demo-upstream/endpoint";
import { requiredText } from "#examples/demo-upstream/http/read-option";
import { readImageOrder, writeImages } from "./image-order.ts";

export const imageGenerations: DemoEndpoint = {
  path: /^\/v1\/images\/generations$/,
  keyHeader: "bearer",
  writeError,
  reply: (call) => {
    const order = readImageOrder(call);
    const prompt = requiredText(call.body, "prompt");
    return writeImages(call, order, { caption: prompt, prompt, imagesGiven: 0, eventPrefix: "image_generation" });
  },
};

/** `POST /v1beta/models/{model}:predict`: pictures as Imagen makes them. */
import { type DemoEndpoint, jsonReply } from "#examples/demo-upstream/endpoint";
import { BadRequest } from "#examples/demo-upstream/format";
import { generateContent } from "#examples/demo-upstream/generate-content";
import { wholeNumber } from "#examples/demo-upstream/http/read-option";
import { isObject, list, member, text } from "#examples/demo-upstream/json-view";
import { sizeOfAspect } from "./aspect-ratio.ts";
import { drawPicture } from "./picture.ts";

/** As Imagen's. */
const sampleCountMax = 4;

export const predict: DemoEndpoint = {
  path: /^\/v1(?:beta|alpha)?\/models\/(?<model>.+):predict$/,
  keyHeader: "x-goog-api-key",
  writeError: generateContent.writeError,
  reply: ({ body }) => {
    const prompt = text(member(list(body["instances"])[0], "prompt"));
    if (prompt === undefined || prompt === "") throw new BadRequest("instances", "instances[0].prompt is required");
    const given = body["parameters"];
    const parameters = isObject(given) ? given : {};
    const mimeType = member(parameters["outputOptions"], "mimeType") ?? "image/png";
    if (mimeType !== "image/png")
      throw new BadRequest("parameters", "parameters.outputOptions.mimeType: this upstream makes image/png");
    const count = wholeNumber(parameters, "sampleCount", 1, sampleCountMax) ?? 1;
    const size = sizeOfAspect(parameters["aspectRatio"], parameters["sampleImageSize"]);
    const predictions = Array.from({ length: count }, (_, index) => {
      const caption = count === 1 ? prompt : `${prompt}\n\n${index + 1} of ${count}`;
      const { bytes } = drawPicture({ ...size, text: caption, isTransparent: false }, "png");
      return { bytesBase64Encoded: bytes.toString("base64"), mimeType };
    });
    return jsonReply({ predictions });
  },
};

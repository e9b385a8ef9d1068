/** `:embedContent` and `:batchEmbedContents`: the vectors of contents, Gemini-style. */
import { type DemoEndpoint, jsonReply } from "#examples/demo-upstream/endpoint";
import { BadRequest } from "#examples/demo-upstream/format";
import { generateContent } from "#examples/demo-upstream/generate-content";
import { wholeNumber } from "#examples/demo-upstream/http/read-option";
import { either, isObject, type JsonObject, list, member, text } from "#examples/demo-upstream/json-view";
import { usualDimensions, vectorOfText } from "./text-vector.ts";

const dimensionsMax = 4096;
const requestsMax = 100;

export const embedContent: DemoEndpoint = {
  path: /^\/v1(?:beta|alpha)?\/models\/(?<model>.+):embedContent$/,
  keyHeader: "x-goog-api-key",
  writeError: generateContent.writeError,
  reply: ({ body }) => jsonReply({ embedding: embed(body) }),
};

export const batchEmbedContents: DemoEndpoint = {
  path: /^\/v1(?:beta|alpha)?\/models\/(?<model>.+):batchEmbedContents$/,
  keyHeader: "x-goog-api-key",
  writeError: generateContent.writeError,
  reply: ({ body }) => {
    const requests = list(body["requests"]);
    if (requests.length === 0 || requests.length > requestsMax)
      throw new BadRequest("requests", `* BatchEmbedContentsRequest.requests: give 1 to ${requestsMax}`);
    return jsonReply({ embeddings: requests.map((request) => embed(isObject(request) ? request : {})) });
  },
};

function embed(request: JsonObject): { readonly values: readonly number[] } {
  const parts = list(member(request["content"], "parts"));
  const whole = parts.map((part) => text(member(part, "text")) ?? "").join("\n");
  if (whole.trim() === "") throw new BadRequest("content", "* EmbedContentRequest.content: contents is not specified");
  const asked = { outputDimensionality: either(request, "outputDimensionality", "output_dimensionality") };
  const dimensions = wholeNumber(asked, "outputDimensionality", 1, dimensionsMax) ?? usualDimensions;
  return { values: Array.from(vectorOfText(whole, dimensions)) };
}

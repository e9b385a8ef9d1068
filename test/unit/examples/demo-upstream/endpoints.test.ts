/** Every endpoint of the demo upstream, whatever it is sent: a reply or a refusal, and never a broken connection. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { DemoReply } from "#examples/demo-upstream/endpoint";
import { matchEndpoint } from "#examples/demo-upstream/endpoints";
import { BadRequest } from "#examples/demo-upstream/format";
import { type JsonObject, text } from "#examples/demo-upstream/json-view";

const messages = [{ role: "user", content: "hi" }];
const contents = [{ role: "user", parts: [{ text: "hi" }] }];
const documents = ["one", "two"];

/** A body that each endpoint takes. */
const goodBodies: Readonly<Record<string, object>> = {
  "/v1/chat/completions": { model: "m", messages },
  "/v1/responses": { model: "m", input: "hi" },
  "/v1/messages": { model: "m", messages, max_tokens: 9 },
  "/v1/messages/count_tokens": { model: "m", messages },
  "/v1beta/models/m:generateContent": { contents, generationConfig: { responseModalities: ["TEXT", "IMAGE"] } },
  "/v1beta/models/m:streamGenerateContent": { contents, generationConfig: { responseModalities: ["AUDIO"] } },
  "/v1beta/models/m:countTokens": { contents },
  "/v1beta/models/m:embedContent": { content: contents[0] },
  "/v1beta/models/m:batchEmbedContents": { requests: [{ content: contents[0] }] },
  "/v1beta/models/m:predict": { instances: [{ prompt: "hi" }], parameters: { sampleCount: 1 } },
  "/v1/completions": { model: "m", prompt: "hi" },
  "/v1/moderations": { input: "hi" },
  "/v1/embeddings": { model: "m", input: "hi", dimensions: 8 },
  "/v1/rerank": { model: "m", query: "hi", documents },
  "/v2/rerank": { model: "m", query: "hi", documents },
  "/v1/images/generations": { model: "m", prompt: "hi", size: "32x32" },
  "/v1/images/edits": { model: "m", prompt: "hi", size: "32x32", image: "data:image/png;base64,AAAA" },
  "/v1/images/variations": { model: "m", size: "32x32", image: "data:image/png;base64,AAAA" },
  "/v1/audio/speech": { model: "m", input: "hi" },
  "/v1/audio/transcriptions": { model: "m" },
  "/v1/audio/translations": { model: "m" },
};

/** Members that an endpoint reads, with values that are right, odd or of another type. */
const anyMembers = fc.dictionary(
  fc.constantFrom(
    ...["model", "prompt", "input", "messages", "contents", "content", "query", "documents", "image", "images", "n"],
    ...["size", "stream", "partial_images", "dimensions", "encoding_format", "top_n", "speed", "response_format"],
    ...["instances", "parameters", "requests", "generationConfig", "max_tokens", "output_format", "suffix", "voice"],
  ),
  fc.oneof(
    fc.constantFrom(
      "m",
      "true",
      "64x64",
      "base64",
      "png",
      "svg",
      "wav",
      "pcm",
      "json",
      "",
      0,
      1,
      2,
      -1,
      1.5,
      true,
      null,
    ),
    fc.string(),
    fc.array(fc.oneof(fc.string(), fc.nat(9), fc.record({ text: fc.string(), type: fc.constant("text") })), {
      maxLength: 3,
    }),
    fc.constant([{ role: "user", content: "hi", parts: [{ text: "hi" }], prompt: "hi" }]),
    fc.constant({ parts: [{ text: "hi" }], responseModalities: ["IMAGE", "TEXT"], sampleCount: "2", imageConfig: 7 }),
    fc.jsonValue({ maxDepth: 2 }),
  ),
  { maxKeys: 3 },
);

describe("endpoints of the demo upstream", () => {
  for (const [path, goodBody] of Object.entries(goodBodies))
    it(`${path} replies to or refuses any body (property)`, () => {
      const match = matchEndpoint(path);
      assert.ok(match);
      const bytes = Buffer.from("RIFF....WAVEfmt ");
      const files = [{ field: "file", filename: "a", contentType: "audio/wav", bytes }];
      const ask = (body: JsonObject): DemoReply => {
        const model = match.modelInPath ?? text(body["model"]);
        const query = new URLSearchParams();
        return match.endpoint.reply({ body, files, model, query, serial: 1, createdAt: 1 });
      };
      assert.doesNotThrow(() => ask({ ...goodBody }));
      fc.assert(
        fc.property(anyMembers, (members) => {
          try {
            const reply = ask({ ...goodBody, ...members });
            assert.ok(reply.kind === "whole" ? reply.body.length > 0 : reply.pieces.length > 0);
          } catch (error) {
            assert.ok(error instanceof BadRequest, String(error));
            assert.notEqual(error.message, "");
          }
        }),
        { numRuns: 60 },
      );
    });

  for (const path of ["/v1/nothing", "/v1beta/models/%ZZ:predict", "/v1/images/generations/more", "/"])
    it(`nothing is served at ${path}`, () => assert.equal(matchEndpoint(path), undefined));
});

/** Readers of calls for vectors: whatever bytes come, a call or a refusal that names the field. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { EmbeddingCall, EmbeddingPath } from "#proxy/endpoints/embeddings/call/embedding-call";
import { readEmbedContent } from "#proxy/endpoints/embeddings/call/read-embed-content";
import { readEmbeddings } from "#proxy/endpoints/embeddings/call/read-embeddings";
import { textsOf } from "#proxy/endpoints/embeddings/call/said-fields";
import { GatewayError } from "#proxy/errors";
import { defaultLimits } from "#proxy/limits";

const openAI: EmbeddingPath = { protocol: "OpenAI", format: "Embeddings", capability: "Embeddings" };
const google: EmbeddingPath = {
  protocol: "Gemini",
  format: "EmbedContent",
  capability: "Embeddings",
  modelInPath: "g",
  verb: "batchEmbedContents",
};

function readOpenAI(body: unknown): EmbeddingCall {
  return readEmbeddings(Buffer.from(JSON.stringify(body)), openAI, defaultLimits);
}

const text = fc.string({ minLength: 1, unit: "grapheme" });

describe("calls for vectors", () => {
  it("hold every text in its order, in OpenAI's form", () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (input) => {
        const call = readOpenAI({ model: "m", input });
        assert.equal(call.inputs, input.length);
        assert.deepEqual(textsOf(call), input);
      }),
    );
  });

  it("hold every text in its order, in Google's form", () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (texts) => {
        const requests = texts.map((one) => ({ content: { parts: [{ text: one }] } }));
        const call = readEmbedContent(Buffer.from(JSON.stringify({ requests })), google, defaultLimits);
        assert.equal(call.inputs, texts.length);
        assert.deepEqual(textsOf(call), texts);
      }),
    );
  });

  it("count every token", () => {
    const tokens = fc.array(fc.nat(), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(fc.array(tokens, { minLength: 1, maxLength: 10 }), (input) => {
        const call = readOpenAI({ model: "m", input });
        assert.deepEqual([call.inputs, call.tokenIds], [input.length, input.flat().length]);
        assert.equal(readOpenAI({ model: "m", input: input.flat() }).tokenIds, input.flat().length);
        assert.throws(() => textsOf(call), GatewayError);
      }),
    );
  });

  it("are refused by name or read, whatever they hold", () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const body = fc.record(
      { input: value, requests: value, content: value, encoding_format: value },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(body, (held) => {
        const bytes = Buffer.from(JSON.stringify({ model: "m", ...held }));
        for (const read of [
          () => readEmbeddings(bytes, openAI, defaultLimits),
          () => readEmbedContent(bytes, google, defaultLimits),
          () => readEmbedContent(bytes, { ...google, verb: "embedContent" }, defaultLimits),
        ]) {
          try {
            const call = read();
            if (call.isText) assert.equal(textsOf(call).length, call.inputs);
          } catch (error) {
            assert.ok(error instanceof GatewayError, String(error));
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it("take parts that are no text for what they are", () => {
    for (const part of [{ text: 7 }, { functionCall: {} }, { inlineData: { data: "AAAA" } }, "a"]) {
      const body = { requests: [{ content: { parts: [{ text: "a" }, part] } }] };
      assert.equal(readEmbedContent(Buffer.from(JSON.stringify(body)), google, defaultLimits).isText, false);
    }
  });

  it("take images for what they are: no text, and worth tokens", () => {
    const call = readOpenAI({ model: "m", input: [{ text: "a" }, { image: "data:image/png;base64,AAAA" }] });
    assert.deepEqual([call.inputs, call.attachments, call.isText], [2, 1, false]);
  });

  it("see a file of the upstream's account beside whatever stands in front of it", () => {
    const fileUri = "https://generativelanguage.googleapis.com/v1beta/files/abc";
    for (const part of [
      { fileData: { fileUri } },
      { inlineData: null, fileData: { fileUri } },
      { fileData: { fileUri: "", file_uri: fileUri } },
    ]) {
      const body = { requests: [{ content: { parts: [part] } }] };
      const call = readEmbedContent(Buffer.from(JSON.stringify(body)), google, defaultLimits);
      assert.deepEqual(call.upstreamObjects, ["requests[0].content.parts[0].fileData.fileUri"], JSON.stringify(part));
    }
  });

  it("refuse a batch that names another model than the path", () => {
    const read = (model: string) =>
      readEmbedContent(
        Buffer.from(JSON.stringify({ model, requests: [{ content: { parts: [{ text: "a" }] } }] })),
        google,
        defaultLimits,
      );
    assert.throws(() => read("models/other"), /differs from the model in the path/);
    assert.equal(read("models/g").model, "g");
  });
});

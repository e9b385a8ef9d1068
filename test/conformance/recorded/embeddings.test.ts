/** Recorded calls for vectors, with the replies of the providers, to upstreams of either form. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useEmbeddingRig } from "#test/support/conformance/embedding-rig";
import { at, list } from "#test/support/digest/facts";
import { explainAbsence, readRecordedFile } from "#test/support/digest/recorded";

function decoded(embedding: unknown): readonly number[] {
  if (Array.isArray(embedding)) return embedding.map(Math.fround);
  const bytes = Buffer.from(String(embedding), "base64");
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}

describe("recorded embeddings", () => {
  const float = readRecordedFile("other/openai-embeddings-float.json");
  const base64 = readRecordedFile("other/openai-embeddings-base64-dimensions.json");
  const google = readRecordedFile("other/gemini-embedding.json");
  const floatCall = readRecordedFile("other/openai-embeddings-float.request.json");
  const base64Call = readRecordedFile("other/openai-embeddings-base64-dimensions.request.json");
  const googleCall = readRecordedFile("other/gemini-embedding.request.json");
  const error = readRecordedFile("other/openai-embeddings-error-400.json");
  if (!float || !base64 || !google || !floatCall || !base64Call || !googleCall || !error) {
    it(explainAbsence("recorded embeddings"));
    return;
  }
  const rig = useEmbeddingRig();
  const forModel = (call: Buffer, model: string): string => {
    const parsed: unknown = JSON.parse(call.toString());
    return JSON.stringify({ ...Object(parsed), model });
  };

  for (const [name, call, reply, tokens] of [
    ["numbers", floatCall, float, 7n],
    ["base64 of fewer dimensions", base64Call, base64, 5n],
  ] as const) {
    it(`${name} pass byte for byte, and are charged as OpenAI counted them`, async () => {
      const { embed, reply: replyWith, gateway, upstream } = rig();
      replyWith(reply.toString());
      const answer = await embed(forModel(call, "openai"));
      assert.deepEqual(answer.body, reply);
      assert.equal(upstream.requests[0]?.body.toString(), forModel(call, "upstream-model"));
      const record = await gateway.recordOf(String(answer.header("x-request-id")));
      assert.equal(record.costNanos, tokens * 2_000n);
    });
  }

  it("numbers are the same numbers to a client that asks for base64, and the reverse", async () => {
    const { embed, reply } = rig();
    for (const [call, sent] of [
      [base64Call, float],
      [floatCall, base64],
    ] as const) {
      reply(sent.toString());
      const answer = await embed(forModel(call, "openai"));
      const got = list(at(answer.json(), "data"))[0];
      const want = list(at(JSON.parse(sent.toString()), "data"))[0];
      assert.notEqual(typeof at(got, "embedding"), typeof at(want, "embedding"));
      assert.deepEqual(decoded(at(got, "embedding")), decoded(at(want, "embedding")));
    }
  });

  it("Google's batch passes byte for byte, and is charged as Google counted it", async () => {
    const { embedContent, reply, gateway, upstream } = rig();
    reply(google.toString());
    const call = googleCall.toString().replace(/models\/[\w.-]+/, "models/google");
    const answer = await embedContent(call, { model: "google", verb: "batchEmbedContents" });
    assert.deepEqual(answer.body, google);
    assert.equal(upstream.requests[0]?.body.toString(), call.replace("models/google", "models/upstream-model"));
    const record = await gateway.recordOf(String(answer.header("x-request-id")));
    assert.equal(record.costNanos, 8n * 2_000n);
    assert.equal(record.isEstimated, false);
  });

  it("Google's reply is OpenAI's to a client of OpenAI's, with Google's usage", async () => {
    const { embed, reply } = rig();
    reply(google.toString());
    const answer = await embed({ model: "google", input: "one" });
    assert.deepEqual(at(answer.json(), "usage"), { prompt_tokens: 8, total_tokens: 8 });
    const [want] = list(at(JSON.parse(google.toString()), "embeddings"));
    assert.deepEqual(at(list(at(answer.json(), "data"))[0], "embedding"), at(want, "values"));
  });

  it("an upstream's own words on a wrong parameter reach the client", async () => {
    const { embed, reply } = rig();
    reply(error.toString(), { status: 400 });
    const answer = await embed({ model: "openai", input: "a" });
    assert.equal(answer.status, 400);
    assert.equal(at(answer.json(), "error", "message"), at(JSON.parse(error.toString()), "error", "message"));
  });
});

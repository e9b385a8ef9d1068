/** Replies that are no vectors for the inputs of the call, in every form: an upstream's failure, and never a success. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { base64Of, replies, useEmbeddingRig } from "#test/support/conformance/embedding-rig";
import { at } from "#test/support/digest/facts";

/** Values that some servers give in place of a vector, as JSON text. */
const noVectors = [
  "null",
  "[]",
  "{}",
  '""',
  "true",
  "1",
  "[NaN]",
  "[1,NaN]",
  "[Infinity]",
  "[1,null]",
  "[1e+39]",
  "[null]",
];

describe("replies that are no embeddings", () => {
  const rig = useEmbeddingRig();

  const whole = JSON.stringify(replies.openAI(2));
  for (const row of [
    { name: "an error body under a status of success", script: { body: '{"error":{"message":"no"}}' } },
    { name: "a page of HTML", script: { body: "<html>", headers: { "content-type": "text/html" } } },
    { name: "nothing", script: { body: "" } },
    { name: "JSON of another kind", script: { body: "[]" } },
    { name: "fewer vectors than inputs", script: { body: JSON.stringify(replies.openAI(1)) } },
    { name: "no vectors", script: { body: JSON.stringify(replies.openAI(0)) } },
    { name: "two vectors of one input", script: { body: whole.replace('"index":1', '"index":0') } },
    { name: "a reply that is cut and ends as if it were whole", script: { body: whole.slice(0, -40) } },
    { name: "a reply with more behind it", script: { body: `${whole}{}` } },
    { name: "a reply that is cut", script: { body: whole, framing: "length", cutAt: 60 } },
    { name: "a reply that is cut in a chunk", script: { body: whole, framing: "chunked", cutAt: 60 } },
    { name: "a status of 500", script: { status: 500, body: "oops" } },
  ] as const) {
    it(`never passes ${row.name} as vectors`, async () => {
      const { embed, upstream } = rig();
      upstream.replyWith(row.script);
      const answer = await embed({ model: "openai", input: ["a", "b"] });
      assert.ok(answer.status >= 500, `${answer.status}`);
      assert.equal(typeof at(answer.json(), "error", "message"), "string");
    });
  }

  it("never passes a reply cut at any byte as vectors", async () => {
    const { embed, upstream } = rig();
    for (let end = 1; end < whole.length; end += 7) {
      upstream.replyWith({ body: whole.slice(0, end) });
      const answer = await embed({ model: "openai", input: ["a", "b"] });
      assert.ok(answer.status >= 500, `${answer.status} at ${end}`);
    }
  });

  for (const value of noVectors) {
    it(`never passes ${value} as a vector, whatever the form of the upstream`, async () => {
      const { embed, embedContent, upstream } = rig();
      const bodies: Readonly<Record<string, string>> = {
        openai: `{"object":"list","data":[{"object":"embedding","index":0,"embedding":${value}}],"model":"m"}`,
        cohere: `{"embeddings":{"float":[${value}]}}`,
        tei: `[${value}]`,
        google: `{"embedding":{"values":${value}}}`,
      };
      for (const [model, body] of Object.entries(bodies)) {
        upstream.replyWith({ body });
        for (const encoding_format of ["float", "base64"]) {
          const answer = await embed({ model, input: "a", encoding_format });
          assert.ok(answer.status >= 500, `${model}: ${answer.status} ${answer.body}`);
        }
        const answer = await embedContent({ content: { parts: [{ text: "a" }] } }, { model });
        assert.ok(answer.status >= 500, `${model}, of Google's client: ${answer.status} ${answer.body}`);
      }
    });
  }

  // Of base64 that passes as it came only its length is looked at.
  for (const { name, embedding, encodings } of [
    { name: "text that is no base64", embedding: "not base64", encodings: ["float", "base64"] },
    { name: "base64 of half a number", embedding: "AAA=", encodings: ["float", "base64"] },
    { name: "base64 of a number that is none", embedding: base64Of([1, Number.NaN]), encodings: ["float"] },
    { name: "base64 of what is infinite", embedding: base64Of([Number.POSITIVE_INFINITY]), encodings: ["float"] },
    { name: "numbers that 32 bits do not hold", embedding: [1e39], encodings: ["float", "base64"] },
  ]) {
    it(`never passes ${name} to a client of ${encodings.join(" or ")}`, async () => {
      const { embed, reply } = rig();
      reply(replies.openAI(1, () => embedding));
      for (const encoding_format of encodings) {
        const answer = await embed({ model: "openai", input: "a", encoding_format });
        assert.ok(answer.status >= 500, `${encoding_format}: ${answer.status} ${answer.body}`);
      }
    });
  }

  it("asks another target where the first has no vector", async () => {
    const { embed, upstream } = rig();
    upstream.replyWith(({ target }) => ({
      body: target.includes("google") ? '{"embedding":{"values":null}}' : JSON.stringify(replies.openAI(1)),
    }));
    const answer = await embed({ model: "either", input: "a" });
    assert.equal(answer.status, 200, answer.body.toString());
    assert.equal(upstream.requests.length, 2);
  });

  it("passes a vector for each token, and sparse ones, of which OpenAI's form has no rule", async () => {
    const { embed, reply } = rig();
    for (const embedding of [[[0.5], [1]], { indices: [3], values: [0.5] }]) {
      reply(replies.openAI(1, () => embedding));
      const answer = await embed({ model: "openai", input: "a" });
      assert.deepEqual(at(answer.json(), "data", 0, "embedding"), embedding);
    }
  });

  it("gives a client of one content the form of one, though the upstream wrote a batch", async () => {
    const { embedContent, reply } = rig();
    reply(replies.googleBatch(1));
    const answer = await embedContent({ content: { parts: [{ text: "a" }] } }, { model: "google" });
    assert.deepEqual(answer.json(), replies.google());
  });
});

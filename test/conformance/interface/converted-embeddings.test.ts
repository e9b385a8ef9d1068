/** Vectors across forms: clients of OpenAI's and upstreams of five other forms (Google's clients: `google-embeddings.test.ts`). */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { base64Of, replies, useEmbeddingRig, vectors } from "#test/support/conformance/embedding-rig";
import { at } from "#test/support/digest/facts";

const usual = { input: ["one", "two"], dimensions: 256, encoding_format: "base64" };

/** Of these inputs, with the line break between them, by the tokenizer. */
const counted = 3;

/** What a client of OpenAI's gets of any upstream. */
function openAIResponse(model: string, tokens: number, encode: (numbers: readonly number[]) => unknown): object {
  const data = vectors
    .slice(0, 2)
    .map((numbers, index) => ({ object: "embedding", index, embedding: encode(numbers) }));
  return { object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

const float = (numbers: readonly number[]): readonly number[] => numbers;

describe("converted embeddings", () => {
  const rig = useEmbeddingRig();

  interface Conversion {
    readonly model: string;
    readonly call: object;
    readonly target: string;
    readonly sent: object;
    readonly reply: object;
    readonly tokens: number;
    readonly dropped?: string;
  }
  const conversions: readonly Conversion[] = [
    {
      model: "google",
      call: { ...usual, input_type: "search_query", user: "u-1", truncate: "END" },
      target: "/v1beta/models/upstream-model:batchEmbedContents",
      sent: {
        requests: ["one", "two"].map((text) => ({
          model: "models/upstream-model",
          content: { parts: [{ text }] },
          taskType: "RETRIEVAL_QUERY",
          outputDimensionality: 256,
        })),
      },
      reply: replies.googleBatch(2),
      tokens: counted,
      dropped: "user",
    },
    {
      model: "google",
      call: usual,
      target: "/v1beta/models/upstream-model:batchEmbedContents",
      sent: {
        requests: ["one", "two"].map((text) => ({
          model: "models/upstream-model",
          content: { parts: [{ text }] },
          outputDimensionality: 256,
        })),
      },
      reply: { ...replies.googleBatch(2), usageMetadata: { promptTokenCount: 11 } },
      tokens: 11,
    },
    {
      model: "cohere",
      call: { ...usual, input_type: "query", truncate: "END", late_chunking: true },
      target: "/v2/embed",
      sent: {
        model: "upstream-model",
        texts: ["one", "two"],
        input_type: "search_query",
        embedding_types: ["base64"],
        output_dimension: 256,
        truncate: "END",
      },
      reply: replies.cohere(2, "base64"),
      tokens: 5,
      dropped: "late_chunking",
    },
    {
      model: "cohere",
      call: { ...usual, encoding_format: "float", task: "text-matching" },
      target: "/v2/embed",
      sent: {
        model: "upstream-model",
        texts: ["one", "two"],
        input_type: "search_document",
        embedding_types: ["float"],
        output_dimension: 256,
      },
      reply: replies.cohere(2),
      tokens: 5,
      dropped: "task",
    },
    {
      model: "voyage",
      call: { ...usual, input_type: "search_document", truncate: "NONE", user: "u-1", late_chunking: true },
      target: "/embeddings",
      sent: {
        model: "upstream-model",
        input: ["one", "two"],
        encoding_format: "base64",
        input_type: "document",
        output_dimension: 256,
        truncation: false,
      },
      reply: { ...replies.voyage(2), model: "voyage" },
      tokens: 9,
      dropped: "user, late_chunking",
    },
    {
      model: "voyage",
      call: { input: ["one", "two"], encoding_format: "float" },
      target: "/embeddings",
      sent: { model: "upstream-model", input: ["one", "two"] },
      reply: { ...replies.voyage(2), model: "voyage" },
      tokens: 9,
    },
    {
      model: "jina",
      call: { ...usual, input_type: "search_query", late_chunking: true },
      target: "/embeddings",
      sent: {
        model: "upstream-model",
        input: ["one", "two"],
        dimensions: 256,
        late_chunking: true,
        task: "retrieval.query",
        embedding_type: "base64",
      },
      reply: { ...replies.openAI(2), model: "jina" },
      tokens: 7,
    },
    {
      model: "tei",
      call: { ...usual, truncate: true, task: "retrieval.query" },
      target: "/embed",
      sent: { inputs: ["one", "two"], dimensions: 256, truncate: true },
      reply: replies.tei(2),
      tokens: counted,
      dropped: "task",
    },
  ];
  for (const { model, call, target, sent, reply, tokens, dropped } of conversions) {
    it(`an upstream of the form of '${model}' gets ${JSON.stringify(call)} in that form`, async () => {
      const { embed, upstream, gateway, reply: replyWith } = rig();
      replyWith(reply);
      const answer = await embed({ model, ...call });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(upstream.requests[0]?.target, target);
      assert.deepEqual(upstream.requests[0]?.json(), sent);
      const encode = at(call, "encoding_format") === "float" ? float : base64Of;
      assert.deepEqual(answer.json(), openAIResponse(model, tokens, encode));
      assert.equal(answer.header("x-tollgate-dropped"), dropped);
      const record = await gateway.recordOf(String(answer.header("x-request-id")));
      assert.equal(record.costNanos, BigInt(tokens) * 2_000n, "the response tells what is charged");
      assert.equal(record.isEstimated, tokens === counted);
    });

    if (dropped === undefined) continue;
    it(`refuses to drop ${dropped} for the form of '${model}' where the channel says so`, async () => {
      const { embed, upstream } = rig();
      const answer = await embed({ model: `strict-${model}`, ...call });
      assert.equal(at(answer.json(), "error", "code"), "unsupported_parameter");
      assert.ok(dropped.includes(String(at(answer.json(), "error", "param"))));
      assert.equal(upstream.requests.length, 0);
    });
  }

  it("a form that has only floats sends them as asked, and names what it cannot send", async () => {
    const { embed, reply } = rig();
    reply(replies.google());
    const answer = await embed({ model: "google", input: "one", output_dtype: "int8", encoding_format: "base64" });
    assert.equal(answer.header("x-tollgate-dropped"), "output_dtype");
    assert.deepEqual(at(answer.json(), "data"), [{ object: "embedding", index: 0, embedding: base64Of(vectors[0]) }]);
  });

  it("one input is embedContent, also in a list of one", async () => {
    const { embed, upstream, reply } = rig();
    for (const input of ["one", ["one"]]) {
      reply(replies.google());
      const answer = await embed({ model: "google", input });
      assert.deepEqual(at(answer.json(), "data"), [{ object: "embedding", index: 0, embedding: vectors[0] }]);
      const sent = upstream.requests.at(-1);
      assert.equal(sent?.target, "/v1beta/models/upstream-model:embedContent");
      assert.deepEqual(sent?.json(), { model: "models/upstream-model", content: { parts: [{ text: "one" }] } });
    }
  });

  for (const model of ["google", "cohere", "tei"]) {
    for (const input of [[1, 2], [[1], [2]], [{ image: "https://pictures.example/1.png" }]]) {
      it(`refuses ${JSON.stringify(input)} for the form of '${model}', which takes only text`, async () => {
        const { embed, upstream } = rig();
        const answer = await embed({ model, input });
        assert.equal(answer.status, 400);
        assert.deepEqual(
          [at(answer.json(), "error", "code"), at(answer.json(), "error", "param")],
          ["unsupported_parameter", "input"],
        );
        assert.equal(upstream.requests.length, 0);
      });
    }
  }
});

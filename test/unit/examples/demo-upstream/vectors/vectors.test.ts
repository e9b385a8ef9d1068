/** The paths for vectors and rankings, with the official SDKs and without. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { list, member } from "#examples/demo-upstream/json-view";
import { genaiGenerations, openaiGenerations } from "#test/support/official-clients";
import { type RunningDemoUpstream, startDemoUpstream } from "#test/support/start-demo-upstream";

describe("demo upstream, vectors", () => {
  let demo: RunningDemoUpstream;

  before(async () => {
    demo = await startDemoUpstream();
  });

  after(() => demo.close());

  for (const { name, load } of openaiGenerations) {
    it(`gives the same vectors as floats and as base64, for ${name}`, async () => {
      const client = new (load())({ baseURL: `${demo.origin}/v1`, apiKey: "demo", maxRetries: 0 });
      const input = ["one text", "another text"];
      // Without a choice the SDK asks for base64 and decodes it.
      const decoded = await client.embeddings.create({ model: "m", input, dimensions: 32 });
      const floats = await client.embeddings.create({ model: "m", input, dimensions: 32, encoding_format: "float" });
      assert.deepEqual(decoded.data, floats.data);
      assert.deepEqual(
        floats.data.map(({ index, embedding }) => [index, embedding.length]),
        [
          [0, 32],
          [1, 32],
        ],
      );
      assert.deepEqual(floats.usage, { prompt_tokens: 5, total_tokens: 5 });
    });
  }

  it("takes one text, token numbers, and lists of those", async () => {
    for (const [input, count, tokens] of [
      ["a text", 1, 2],
      [[1, 2, 3], 1, 3],
      [[[1, 2], [3]], 2, 3],
    ] as const) {
      const made = await demo.json("/v1/embeddings", { model: "m", input });
      assert.equal(list(member(made, "data")).length, count);
      assert.equal(member(member(made, "usage"), "total_tokens"), tokens);
    }
  });

  for (const row of [
    { name: "no input", body: { model: "m" }, param: "input" },
    { name: "an empty text", body: { model: "m", input: [""] }, param: "input" },
    { name: "an empty list", body: { model: "m", input: [] }, param: "input" },
    { name: "too many inputs", body: { model: "m", input: Array(2049).fill("a") }, param: "input" },
    { name: "no dimensions", body: { model: "m", input: "a", dimensions: 0 }, param: "dimensions" },
    { name: "another encoding", body: { model: "m", input: "a", encoding_format: "int8" }, param: "encoding_format" },
    { name: "no model", body: { input: "a" }, param: "model" },
  ]) {
    it(`refuses ${row.name}`, async () => {
      const response = await demo.post("/v1/embeddings", row.body);
      assert.equal(response.status, 400);
      assert.equal(member(member(await response.json(), "error"), "param"), row.param);
    });
  }

  for (const { name, load } of genaiGenerations) {
    it(`embeds contents for ${name}`, async () => {
      const client = new (load())({ apiKey: "demo", httpOptions: { baseUrl: demo.origin } });
      const { embeddings = [] } = await client.models.embedContent({
        model: "m",
        contents: ["one text", "another text"],
        config: { outputDimensionality: 16 },
      });
      assert.deepEqual(
        embeddings.map(({ values }) => values?.length),
        [16, 16],
      );
    });
  }

  it("embeds one content as it embeds it in a batch, and as embeddings do", async () => {
    const request = { content: { parts: [{ text: "one text" }] }, outputDimensionality: 16 };
    const one = await demo.json("/v1beta/models/m:embedContent", request);
    const batch = await demo.json("/v1beta/models/m:batchEmbedContents", { requests: [request] });
    assert.deepEqual(member(one, "embedding"), list(member(batch, "embeddings"))[0]);
    const openai = await demo.json("/v1/embeddings", { model: "m", input: "one text", dimensions: 16 });
    assert.deepEqual(member(member(one, "embedding"), "values"), member(list(member(openai, "data"))[0], "embedding"));
  });

  for (const [name, verb, body] of [
    ["an empty content", "embedContent", { content: { parts: [] } }],
    ["an empty batch", "batchEmbedContents", { requests: [] }],
  ] as const) {
    it(`refuses ${name}`, async () => {
      const response = await demo.post(`/v1beta/models/m:${verb}`, body);
      assert.equal(response.status, 400);
      assert.equal(member(member(await response.json(), "error"), "status"), "INVALID_ARGUMENT");
    });
  }

  const documents = ["swimming in lakes", { text: "rotating a key" }, "how to rotate keys safely"];
  const query = "rotate keys";

  it("ranks documents by likeness, and gives them back, at /v1/rerank", async () => {
    const ranked = await demo.json("/v1/rerank", { model: "m", query, documents });
    const results = list(member(ranked, "results"));
    assert.deepEqual(
      results.map((result) => member(result, "index")),
      [2, 1, 0],
    );
    assert.deepEqual(member(results[1], "document"), { text: "rotating a key" });
    assert.ok(Number(member(member(ranked, "usage"), "total_tokens")) > 0);
  });

  it("clips to top_n and leaves documents out", async () => {
    const call = { model: "m", query, documents, top_n: 2, return_documents: false };
    const results = list(member(await demo.json("/v1/rerank", call), "results"));
    assert.deepEqual(
      results.map((result) => Object.keys(result ?? {})),
      Array(2).fill(["index", "relevance_score"]),
    );
  });

  it("speaks as Cohere at /v2/rerank, errors too", async () => {
    const ranked = await demo.json("/v2/rerank", { model: "m", query, documents, top_n: 9 });
    assert.equal(list(member(ranked, "results")).length, 3);
    assert.deepEqual(member(member(ranked, "meta"), "billed_units"), { search_units: 1 });
    const refused = await demo.post("/v2/rerank", { model: "m", query, documents: [] });
    assert.equal(refused.status, 400);
    assert.match(String(member(await refused.json(), "message")), /'documents'/);
  });

  for (const [name, body, param] of [
    ["no query", { model: "m", documents }, "query"],
    ["no documents", { model: "m", query, documents: [] }, "documents"],
    ["a top_n of 0", { model: "m", query, documents, top_n: 0 }, "top_n"],
  ] as const) {
    it(`refuses to rank with ${name}`, async () => {
      const response = await demo.post("/v1/rerank", body);
      assert.equal(response.status, 400);
      assert.equal(member(member(await response.json(), "error"), "param"), param);
    });
  }
});

/** `:embedContent` and `:batchEmbedContents`: clients of Google's in front of upstreams of its own form and of five others. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { base64Of, replies, useEmbeddingRig, vectors } from "#test/support/conformance/embedding-rig";
import { httpCall } from "#test/support/conformance/http-call";
import { clientKey } from "#test/support/conformance/manifests";
import { at, list } from "#test/support/digest/facts";

describe("embeddings of Google's clients", () => {
  const rig = useEmbeddingRig();

  const requests = ["one", "two"].map((text) => ({
    model: "models/MODEL",
    content: { role: "user", parts: [{ text }] },
    taskType: "RETRIEVAL_DOCUMENT",
    outputDimensionality: 256,
  }));
  const batchFor = (model: string): string =>
    JSON.stringify({ requests }).replaceAll("models/MODEL", `models/${model}`);

  it("pitfall 144: batchEmbedContents passes on under the upstream's name, and the reply's bytes back", async () => {
    const { embedContent, upstream, reply } = rig();
    const body = JSON.stringify({ ...replies.googleBatch(2), other: 1.0 }, null, 1);
    reply(body);
    const answer = await embedContent(batchFor("google"), { model: "google", verb: "batchEmbedContents" });
    assert.equal(answer.status, 200, answer.body.toString());
    assert.equal(answer.body.toString(), body);
    assert.equal(upstream.requests[0]?.target, "/v1beta/models/upstream-model:batchEmbedContents");
    assert.equal(upstream.requests[0]?.body.toString(), batchFor("upstream-model"));
  });

  it("embedContent passes on under the upstream's name, and charges what it counts", async () => {
    const { embedContent, upstream, reply, gateway } = rig();
    const body = JSON.stringify(replies.google());
    reply(body);
    const call = { content: { parts: [{ text: "three words here" }] }, title: "t" };
    const answer = await embedContent(call, { model: "google" });
    assert.equal(answer.body.toString(), body);
    assert.equal(upstream.requests[0]?.target, "/v1beta/models/upstream-model:embedContent");
    assert.deepEqual(upstream.requests[0]?.json(), { ...call, model: "models/upstream-model" });
    const record = await gateway.recordOf(String(answer.header("x-request-id")));
    assert.equal(record.usage?.input, 3);
    assert.equal(record.costNanos, 3n * 2_000n);
    assert.deepEqual([record.format, record.isEstimated], ["EmbedContent", true]);
  });

  it("requests that name no model get it, and rules of the channel hold for each of them", async () => {
    const { embedContent, upstream, reply } = rig();
    reply(replies.googleBatch(2));
    const contents = ["one", "two"].map((text) => ({ content: { parts: [{ text }] } }));
    await embedContent({ requests: contents }, { model: "google", verb: "batchEmbedContents" });
    const named = contents.map((content) => ({ ...content, model: "models/upstream-model" }));
    assert.deepEqual(upstream.requests[0]?.json(), { requests: named });
    const [first, second] = contents;
    const chosen = [{ ...first, outputDimensionality: 8 }, second];
    await embedContent({ requests: chosen }, { model: "adding", verb: "batchEmbedContents" });
    assert.deepEqual(
      list(at(upstream.requests[1]?.json(), "requests")).map((request) => at(request, "outputDimensionality")),
      [8, 16],
    );
  });

  const toOpenAI = { model: "upstream-model", input: ["one", "two"], dimensions: 256 };
  for (const row of [
    { model: "openai", reply: replies.openAI(2), sent: toOpenAI, tokens: 7, dropped: "taskType" },
    { model: "openai", reply: replies.openAI(2, base64Of), sent: toOpenAI, tokens: 7, dropped: "taskType" },
    {
      model: "voyage",
      reply: replies.voyage(2),
      sent: { model: "upstream-model", input: ["one", "two"], output_dimension: 256, input_type: "document" },
      tokens: 9,
      dropped: undefined,
    },
    {
      model: "jina",
      reply: replies.openAI(2),
      sent: { ...toOpenAI, task: "retrieval.passage" },
      tokens: 7,
      dropped: undefined,
    },
    {
      model: "cohere",
      reply: replies.cohere(2),
      sent: {
        model: "upstream-model",
        texts: ["one", "two"],
        input_type: "search_document",
        embedding_types: ["float"],
        output_dimension: 256,
      },
      tokens: 5,
      dropped: undefined,
    },
    {
      model: "tei",
      reply: replies.tei(2),
      sent: { inputs: ["one", "two"], dimensions: 256 },
      tokens: undefined,
      dropped: "taskType",
    },
  ]) {
    it(`a client of Google's is served by an upstream of the form of '${row.model}'`, async () => {
      const { embedContent, upstream, reply } = rig();
      reply(row.reply);
      const answer = await embedContent(batchFor(row.model), { model: row.model, verb: "batchEmbedContents" });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.deepEqual(upstream.requests[0]?.json(), row.sent);
      const usage = row.tokens === undefined ? {} : { usageMetadata: { promptTokenCount: row.tokens } };
      assert.deepEqual(answer.json(), { ...replies.googleBatch(2), ...usage });
      assert.equal(answer.header("x-tollgate-dropped"), row.dropped);
    });
  }

  it("a single content is one text, its parts joined", async () => {
    const { embedContent, upstream, reply } = rig();
    reply(replies.openAI(1));
    const call = { content: { parts: [{ text: "one" }, { text: "more" }] }, title: "t" };
    const answer = await embedContent(call, { model: "openai" });
    assert.deepEqual(at(answer.json(), "embedding"), { values: vectors[0] });
    assert.equal(answer.header("x-tollgate-dropped"), "title");
    assert.deepEqual(upstream.requests[0]?.json(), { model: "upstream-model", input: "one\nmore" });
  });

  const content = { parts: [{ text: "a" }] };
  const image = { parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }] };
  const stored = { parts: [{ fileData: { fileUri: "files/abc" } }] };
  for (const row of [
    { name: "without content", model: "google", body: {}, says: /'content'/ },
    { name: "with a text for content", model: "google", body: { content: "a" }, says: /'content' must be an object/ },
    { name: "without parts", model: "google", body: { content: {} }, says: /'content.parts'/ },
    {
      name: "of another model than the path's",
      model: "google",
      body: { model: "models/x", content },
      says: /'model'/,
    },
    { name: "of no dimensions", model: "google", body: { content, outputDimensionality: 0 }, says: /outputDimens/ },
    {
      name: "beyond the route's range",
      model: "ruled-google",
      body: { content, outputDimensionality: 65 },
      says: /between 8 and 64/,
    },
    { name: "of an image for the form of 'openai'", model: "openai", body: { content: image }, says: /must be text/ },
    {
      name: "of a file that the provider keeps",
      model: "google",
      body: { content: stored },
      says: /kept by the provider/,
    },
    { name: "of a model for chat", model: "chatter", body: { content }, says: /does not serve/ },
    {
      name: "that says twice what it wants",
      model: "google",
      body: '{"content":{"parts":[{"text":"a"}]},"content":{}}',
      says: /twice/,
    },
  ]) {
    it(`refuses embedContent ${row.name} before any upstream is called`, async () => {
      const { embedContent, upstream } = rig();
      const answer = await embedContent(row.body, { model: row.model });
      assert.equal(answer.status, 400, answer.body.toString());
      assert.equal(at(answer.json(), "error", "status"), "INVALID_ARGUMENT");
      assert.match(String(at(answer.json(), "error", "message")), row.says);
      assert.equal(upstream.requests.length, 0);
    });
  }

  for (const row of [
    { name: "without requests", body: {}, says: /'requests'/ },
    { name: "of none", body: { requests: [] }, says: /'requests' must not be empty/ },
    { name: "of what is no request", body: { requests: [content, 1] }, says: /'requests\[1\]' must be an object/ },
    { name: "of 2,049", body: { requests: Array(2_049).fill({ content }) }, says: /at most 2048/ },
    { name: "with one that lacks content", body: { requests: [{ content }, {}] }, says: /'requests\[1\]\.content'/ },
    {
      name: "that does not agree, for another form",
      body: { requests: [{ content, outputDimensionality: 8 }, { content }] },
      says: /same in all requests/,
    },
  ]) {
    it(`refuses batchEmbedContents ${row.name} before any upstream is called`, async () => {
      const { embedContent, upstream } = rig();
      const answer = await embedContent(row.body, { model: "openai", verb: "batchEmbedContents" });
      assert.equal(answer.status, 400, answer.body.toString());
      assert.match(String(at(answer.json(), "error", "message")), row.says);
      assert.equal(upstream.requests.length, 0);
    });
  }

  it("leaves out of each request what the route's model does not support, by the interface's name", async () => {
    const { embedContent, upstream, reply } = rig();
    reply(replies.googleBatch(2));
    const answer = await embedContent(
      {
        requests: [
          { content, taskType: "CLUSTERING", outputDimensionality: 8 },
          { content, task_type: "CLUSTERING" },
        ],
      },
      { model: "ruled-google", verb: "batchEmbedContents" },
    );
    assert.equal(answer.header("x-tollgate-dropped"), "taskType, task_type");
    const model = "models/upstream-model";
    assert.deepEqual(upstream.requests[0]?.json(), {
      requests: [
        { content, outputDimensionality: 8, model },
        { content, model },
      ],
    });
  });

  it("holds the restrictions of a key", async () => {
    const { embedContent, upstream } = rig();
    for (const [key, status] of [
      ["chat-only", 403],
      ["elsewhere", 403],
      ["poor", 429],
    ] as const) {
      const text = "a text of some forty tokens ".repeat(6);
      const answer = await embedContent({ content: { parts: [{ text }] } }, { model: "google", key });
      assert.equal(answer.status, status, answer.body.toString());
    }
    assert.equal(upstream.requests.length, 0);
  });

  for (const row of [
    { name: "fewer vectors than requests", body: JSON.stringify(replies.googleBatch(1)) },
    { name: "a reply of one content", body: '{"embedding":{}}' },
    {
      name: "an error under a status of success",
      body: '{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}',
    },
    { name: "vectors of no numbers", body: '{"embeddings":[{"values":["a"]},{"values":["b"]}]}' },
    {
      name: "a reply that is cut and ends as if it were whole",
      body: JSON.stringify(replies.googleBatch(2)).slice(0, -9),
    },
  ]) {
    it(`never passes ${row.name} as Google's vectors`, async () => {
      const { embedContent, embed, reply } = rig();
      reply(row.body);
      const answer = await embedContent(batchFor("google"), { model: "google", verb: "batchEmbedContents" });
      assert.ok(answer.status >= 400, `${answer.status}`);
      assert.ok((await embed({ model: "google", input: ["a", "b"] })).status >= 400);
    });
  }

  it("lists the verbs of its models to clients of Google's", async () => {
    const headers = { "x-goog-api-key": clientKey("k") };
    const answer = await httpCall({ origin: rig().gateway.origin, path: "/v1beta/models/google", headers });
    assert.deepEqual(at(answer.json(), "supportedGenerationMethods"), ["embedContent", "batchEmbedContents"]);
    const openAIs = { authorization: `Bearer ${clientKey("k")}` };
    const all = await httpCall({ origin: rig().gateway.origin, path: "/v1/models", headers: openAIs });
    assert.ok(list(at(all.json(), "data")).some((model) => at(model, "id") === "google"));
  });
});

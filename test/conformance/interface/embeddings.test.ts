/** `/v1/embeddings` in front of upstreams of the same form: bytes pass, the encoding is the client's, the bill is exact. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { base64Of, replies, useEmbeddingRig, vectors } from "#test/support/conformance/embedding-rig";
import { channelSecret, clientKey } from "#test/support/conformance/manifests";
import { at, list } from "#test/support/digest/facts";
import { waitFor } from "#test/support/wait-for";

describe("embeddings", () => {
  const rig = useEmbeddingRig();

  for (const path of ["/v1/embeddings", "/embeddings", "/v1/v1/embeddings"]) {
    it(`POST ${path} passes the call on under the upstream's name, and the reply's bytes back`, async () => {
      const { embed, reply, upstream } = rig();
      const body = JSON.stringify(replies.openAI(2), null, 1).replace("-1.25", "-1.250000000000000e0");
      reply(body);
      const sent = '{"model":"openai", "input":["one","two"],"vendor_field":{"deep":1.0},"input_type":"query"}';
      const answer = await embed(sent, { path });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(answer.header("content-type"), "application/json");
      assert.equal(answer.body.toString(), body);
      const [received] = upstream.requests;
      assert.equal(received?.target, "/embeddings");
      assert.equal(received?.headers["authorization"], `Bearer ${channelSecret}`);
      assert.equal(received?.body.toString(), sent.replace('"openai"', '"upstream-model"'));
    });
  }

  for (const row of [
    { name: "float to a client that asked for float", asked: "float", sent: "float", isPassed: true },
    { name: "float to a client that asked for nothing", asked: undefined, sent: "float", isPassed: true },
    { name: "base64 to a client that asked for base64", asked: "base64", sent: "base64", isPassed: true },
    { name: "float to a client that asked for base64", asked: "base64", sent: "float", isPassed: false },
    { name: "base64 to a client that asked for float", asked: "float", sent: "base64", isPassed: false },
    { name: "base64 to a client that asked for nothing", asked: undefined, sent: "base64", isPassed: false },
  ] as const) {
    it(`pitfalls 115 and 136: an upstream that sends ${row.name} is encoded as asked`, async () => {
      const { embed, reply } = rig();
      const body = JSON.stringify(replies.openAI(2, row.sent === "float" ? undefined : base64Of));
      reply(body);
      const answer = await embed({
        model: "openai",
        input: ["one", "two"],
        ...(row.asked === undefined ? {} : { encoding_format: row.asked }),
      });
      assert.equal(answer.status, 200, answer.body.toString());
      if (row.isPassed) assert.equal(answer.body.toString(), body);
      assert.deepEqual(answer.json(), replies.openAI(2, row.asked === "base64" ? base64Of : undefined));
    });
  }

  it("leaves numbers of another type as they come", async () => {
    const { embed, reply } = rig();
    const body = JSON.stringify(replies.openAI(1, () => "AQID"));
    reply(body);
    const answer = await embed({ model: "openai", input: "one", output_dtype: "int8", encoding_format: "base64" });
    assert.equal(answer.body.toString(), body);
  });

  it("takes the encoding that a client of Jina's asks for", async () => {
    const { embed, reply, upstream } = rig();
    const body = JSON.stringify(replies.openAI(1, base64Of));
    reply(body);
    const answer = await embed({ model: "jina", input: "one", embedding_type: "base64" });
    assert.equal(answer.body.toString(), body);
    assert.equal(at(upstream.requests[0]?.json(), "embedding_type"), "base64");
  });

  it("brings vectors into the order of the inputs, with all else that the upstream says of them", async () => {
    const { embed, reply } = rig();
    const [first, second, third] = vectors;
    const item = (index: number, embedding: readonly number[]): object => ({ index, embedding, note: `n${index}` });
    reply({ usage: { prompt_tokens: 3 }, data: [item(2, third), item(0, first), item(1, second)], more: [1, "]}"] });
    const answer = await embed({ model: "openai", input: ["a", "b", "c"] });
    assert.deepEqual(answer.json(), {
      usage: { prompt_tokens: 3 },
      data: [item(0, first), item(1, second), item(2, third)],
      more: [1, "]}"],
    });
  });

  for (const row of [
    { name: "a list of tokens", input: [1, 2, 3], count: 1 },
    {
      name: "pitfall 115: lists of tokens",
      input: [
        [1, 2, 3],
        [4, 5],
      ],
      count: 2,
    },
    { name: "an object of a vendor's own", input: { image: "https://pictures.example/1.png" }, count: 1 },
    {
      name: "objects of a vendor's own",
      input: [{ text: "a" }, { image: "https://pictures.example/1.png" }],
      count: 2,
    },
  ]) {
    it(`${row.name} passes to upstreams of the client's form`, async () => {
      const { embed, reply, upstream } = rig();
      reply(replies.openAI(row.count));
      const answer = await embed({ model: "openai", input: row.input });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.deepEqual(at(upstream.requests[0]?.json(), "input"), row.input);
    });
  }

  it("charges what the upstream reports, to the nano-credit", async () => {
    const { embed, reply, gateway } = rig();
    reply(replies.openAI(1));
    const answer = await embed({ model: "openai", input: "one" });
    const record = await gateway.recordOf(String(answer.header("x-request-id")));
    assert.equal(record.costNanos, 7n * 2_000n);
    assert.deepEqual([record.format, record.isEstimated, record.status], ["Embeddings", false, 200]);
  });

  for (const row of [
    { name: "text", input: "three words here", atLeast: 3, atMost: 4 },
    { name: "texts", input: ["three words here", "three words here"], atLeast: 6, atMost: 8 },
    {
      name: "tokens",
      input: [
        [1, 2, 3],
        [4, 5],
      ],
      atLeast: 5,
      atMost: 5,
    },
  ]) {
    it(`counts ${row.name} where the upstream reports no usage, and says that it did`, async () => {
      const { embed, reply, gateway } = rig();
      const { usage: _usage, ...rest } = replies.openAI(typeof row.input === "string" ? 1 : 2);
      reply(rest);
      const answer = await embed({ model: "openai", input: row.input });
      assert.equal(answer.status, 200, answer.body.toString());
      const record = await gateway.recordOf(String(answer.header("x-request-id")));
      const { input } = record.usage ?? { input: 0 };
      assert.ok(input >= row.atLeast && input <= row.atMost, `${input} tokens`);
      assert.equal(record.costNanos, BigInt(input) * 2_000n);
      assert.equal(record.isEstimated, true);
    });
  }

  for (const row of [
    { name: "without input", body: { model: "openai" }, code: "missing_required_parameter", param: "input" },
    { name: "with null", body: { model: "openai", input: null }, code: "missing_required_parameter", param: "input" },
    { name: "with a number", body: { model: "openai", input: 4 }, code: "invalid_type", param: "input" },
    { name: "with an empty text", body: { model: "openai", input: "" }, code: "invalid_value", param: "input" },
    { name: "with nothing", body: { model: "openai", input: [] }, code: "invalid_value", param: "input" },
    {
      name: "with an empty text in a list",
      body: { model: "openai", input: ["a", ""] },
      code: "invalid_value",
      param: "input[1]",
    },
    {
      name: "with a list in a list of texts",
      body: { model: "openai", input: ["a", [1]] },
      code: "invalid_type",
      param: "input[1]",
    },
    {
      name: "with a text in a list of tokens",
      body: { model: "openai", input: [1, "a"] },
      code: "invalid_type",
      param: "input",
    },
    { name: "with fractions", body: { model: "openai", input: [1.5] }, code: "invalid_type", param: "input" },
    {
      name: "with negative tokens",
      body: { model: "openai", input: [[1], [-1]] },
      code: "invalid_type",
      param: "input[1]",
    },
    {
      name: "with an empty list of tokens",
      body: { model: "openai", input: [[1], []] },
      code: "invalid_value",
      param: "input[1]",
    },
    {
      name: "with 2,049 texts",
      body: { model: "openai", input: Array(2_049).fill("a") },
      code: "invalid_value",
      param: "input",
    },
    {
      name: "with 0 dimensions",
      body: { model: "openai", input: "a", dimensions: 0 },
      code: "invalid_value",
      param: "dimensions",
    },
    {
      name: "with half a dimension",
      body: { model: "openai", input: "a", dimensions: 1.5 },
      code: "invalid_value",
      param: "dimensions",
    },
    {
      name: "in an encoding that nobody knows",
      body: { model: "openai", input: "a", encoding_format: "hex" },
      code: "invalid_value",
      param: "encoding_format",
    },
    {
      name: "of a model for chat",
      body: { model: "chatter", input: "a" },
      code: "unsupported_endpoint",
      param: "model",
    },
    {
      name: "beyond the route's range",
      body: { model: "ruled", input: "a", dimensions: 65 },
      code: "invalid_value",
      param: "dimensions",
    },
  ]) {
    it(`refuses a call ${row.name} before any upstream is called`, async () => {
      const { embed, upstream } = rig();
      const answer = await embed(row.body);
      assert.equal(answer.status, 400, answer.body.toString());
      assert.deepEqual(
        [at(answer.json(), "error", "code"), at(answer.json(), "error", "param")],
        [row.code, row.param],
      );
      assert.equal(upstream.requests.length, 0);
    });
  }

  it("takes 2,048 texts", async () => {
    const { embed, reply } = rig();
    const data = Array.from({ length: 2_048 }, (_, index) => ({ object: "embedding", index, embedding: [1] }));
    reply({ object: "list", data, usage: { prompt_tokens: 2_048 } });
    const answer = await embed({ model: "openai", input: Array(2_048).fill("a") });
    assert.equal(list(at(answer.json(), "data")).length, 2_048);
  });

  it("leaves out what the route's model does not support, and says so", async () => {
    const { embed, reply, upstream } = rig();
    reply(replies.openAI(1));
    const answer = await embed({ model: "ruled", input: "a", dimensions: 64, user: "u" });
    assert.equal(answer.header("x-tollgate-dropped"), "user");
    assert.deepEqual(upstream.requests[0]?.json(), { model: "upstream-model", input: "a", dimensions: 64 });
  });

  it("sends who the client says it is as the text that providers take", async () => {
    const { embed, reply, upstream } = rig();
    reply(replies.openAI(1));
    await embed({ model: "openai", input: "a", user: { id: "u-1" } });
    assert.equal(at(upstream.requests[0]?.json(), "user"), "u-1");
  });

  for (const row of [
    { key: "chat-only", status: 403, code: "capability_not_allowed" },
    { key: "other-models", status: 403, code: "model_not_allowed" },
    { key: "elsewhere", status: 403, code: "ip_not_allowed" },
    { key: "poor", status: 429, code: "insufficient_quota" },
    { key: "few-tokens", status: 429, code: "insufficient_quota" },
  ]) {
    it(`holds the restrictions of the key '${row.key}' before any upstream is called`, async () => {
      const { embed, upstream } = rig();
      const input = "a text of some forty tokens ".repeat(6);
      const answer = await embed({ model: "openai", input }, { key: row.key });
      assert.deepEqual([answer.status, at(answer.json(), "error", "code")], [row.status, row.code]);
      assert.equal(upstream.requests.length, 0);
    });
  }

  it("holds a rate", async () => {
    const { embed, reply } = rig();
    reply(replies.openAI(1));
    assert.equal((await embed({ model: "openai", input: "a" }, { key: "once" })).status, 200);
    assert.equal((await embed({ model: "openai", input: "a" }, { key: "once" })).status, 429);
  });

  it("never spends more than a balance holds, however many calls there are at once", async () => {
    const { embed, reply, gateway } = rig();
    // Each call costs 1,000,000 nano-credits of 10,000,000, and reserves about as much.
    reply({ ...replies.openAI(1), usage: { prompt_tokens: 500, total_tokens: 500 } });
    const input = "word ".repeat(300);
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => embed({ model: "openai", input }, { key: "funded" })),
    );
    const served = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    let spent = 0n;
    for (const answer of served) {
      spent += (await gateway.recordOf(String(answer.header("x-request-id")))).costNanos ?? 0n;
    }
    assert.ok(served.length >= 5 && refused.length >= 20, `${served.length} served, ${refused.length} refused`);
    assert.ok(spent <= 10_000_000n, `${spent} nano-credits`);
    for (const answer of refused) assert.equal(at(answer.json(), "error", "code"), "insufficient_quota");
  });

  it("serves a key with a ceiling where the route prices only its requests", async () => {
    const { embed, reply, gateway } = rig();
    reply(replies.openAI(1));
    const answer = await embed({ model: "free", input: "a" }, { key: "poor" });
    assert.equal(answer.status, 200, answer.body.toString());
    assert.equal((await gateway.recordOf(String(answer.header("x-request-id")))).costNanos, 0n);
  });

  it("says an upstream's refusal of a parameter in its own words", async () => {
    const { embed, reply } = rig();
    const message = "-1 is less than the minimum of 1 - 'dimensions'";
    reply({ error: { message, type: "invalid_request_error", param: null, code: null } }, { status: 400 });
    const answer = await embed({ model: "openai", input: "a", dimensions: 3 });
    assert.equal(answer.status, 400);
    assert.equal(at(answer.json(), "error", "message"), message);
  });

  it("asks another target where the first fails, in the form of that one", async () => {
    const { embed, upstream } = rig();
    upstream.replyWith((request) =>
      request.target.startsWith("/v1beta") ? { status: 503, body: "{}" } : { body: JSON.stringify(replies.openAI(1)) },
    );
    const answer = await embed({ model: "either", input: "a" });
    assert.equal(answer.status, 200, answer.body.toString());
    assert.deepEqual(
      upstream.requests.map(({ target }) => target),
      ["/v1beta/models/either:embedContent", "/embeddings"],
    );
  });

  it("asks a target that takes tokens where another does not", async () => {
    const { embed, reply, upstream } = rig();
    reply(replies.openAI(1));
    assert.equal((await embed({ model: "either", input: [1, 2] })).status, 200);
    assert.deepEqual(
      upstream.requests.map(({ target }) => target),
      ["/embeddings"],
    );
  });

  it("closes the upstream when the client leaves, and charges the input", async () => {
    const { gateway, upstream } = rig();
    upstream.replyWith({ body: JSON.stringify(replies.openAI(2)), framing: "length", stallAt: 30 });
    const client = new AbortController();
    const { signal } = client;
    const sent = fetch(`${gateway.origin}/v1/embeddings`, {
      method: "POST",
      headers: { authorization: `Bearer ${clientKey("k")}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "openai", input: ["three words here", "b"] }),
      signal,
    });
    const before = gateway.records.length;
    await waitFor("the request at the upstream", () => upstream.requests[0]);
    client.abort();
    await assert.rejects(sent);
    const record = await waitFor("the record of the call", () => gateway.records[before]);
    await waitFor("the end of the upstream's connection", () => upstream.requests[0]?.abortedAtMs);
    assert.ok((record.costNanos ?? 0n) >= 3n * 2_000n, `${record.costNanos} nano-credits`);
    assert.equal(record.isEstimated, true);
  });
});

/** The official SDKs of OpenAI and of Google, two generations each, as clients of embeddings of the real program. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { replies, vectors } from "#test/support/conformance/embedding-rig";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { FakeUpstream } from "#test/support/fake-upstream";
import { genaiGenerations, openaiGenerations } from "#test/support/official-clients";
import { type Gateway, startGateway } from "#test/support/start-gateway";

const channels = {
  // Sends numbers whatever is asked for, as many servers do.
  "floats-only": { formats: [{ type: "Embeddings" }] },
  cohere: { formats: [{ type: "Embeddings", path: "/v2/embed", dialect: "Cohere" }] },
  google: { formats: [{ type: "EmbedContent", path: "/v1beta/models/{model}:{verb}" }] },
};

describe("official SDKs: embeddings", function () {
  this.timeout(30_000);
  let upstream: FakeUpstream;
  let gateway: Gateway;
  before(async () => {
    upstream = await FakeUpstream.start(({ target, body }) => {
      const sent = JSON.parse(body.toString());
      if (target.endsWith(":batchEmbedContents"))
        return { body: JSON.stringify(replies.googleBatch(sent.requests.length)) };
      if (target.endsWith(":embedContent")) return { body: JSON.stringify(replies.google()) };
      if (target === "/v2/embed") {
        return { body: JSON.stringify(replies.cohere(sent.texts.length, sent.embedding_types[0])) };
      }
      return { body: JSON.stringify(replies.openAI(Array.isArray(sent.input) ? sent.input.length : 1)) };
    });
    const { origin } = upstream;
    const all = manifestOf(
      keyManifest("main"),
      channelSecretManifest(),
      ...Object.entries(channels).flatMap(([name, spec]) => [
        channelManifest(name, origin, { baseURL: origin, ...spec }),
        routeManifest(name, { capabilities: ["Embeddings"] }),
      ]),
      // All objects of one file go live together, and a chat is what can be asked for without a call.
      channelManifest("last", origin),
      routeManifest("last"),
    );
    gateway = await startGateway({ manifests: { "all.yaml": all } });
    await gateway.waitUntilServed("default/main", "last");
  });
  after(async () => {
    await gateway?.close();
    await upstream?.close();
  });

  for (const { name, load } of openaiGenerations) {
    for (const model of Object.keys(channels)) {
      it(`pitfall 136: ${name} gets the numbers of '${model}', whichever encoding it asks for`, async () => {
        const client = new (load())({ baseURL: `${gateway.origin}/v1`, apiKey: clientKey("main"), maxRetries: 0 });
        const input = ["one", "two", "three"];
        const unsaid = await client.embeddings.create({ model, input });
        assert.deepEqual(
          unsaid.data.map(({ embedding }) => Array.from(embedding)),
          vectors,
        );
        assert.ok(unsaid.usage.prompt_tokens > 0);
        const float = await client.embeddings.create({ model, input, encoding_format: "float" });
        assert.deepEqual(
          float.data.map(({ embedding }) => embedding),
          vectors,
        );
        const base64 = await client.embeddings.create({ model, input, encoding_format: "base64" });
        assert.equal(typeof base64.data[0]?.embedding, "string");
        const single = await client.embeddings.create({ model, input: "one", dimensions: 3 });
        assert.deepEqual(Array.from(single.data[0]?.embedding ?? []), vectors[0]);
      });
    }

    it(`${name} throws a typed error for a call that nobody can serve`, async () => {
      const client = new (load())({ baseURL: `${gateway.origin}/v1`, apiKey: clientKey("main"), maxRetries: 0 });
      await assert.rejects(client.embeddings.create({ model: "google", input: [1, 2] }), {
        status: 400,
        code: "unsupported_parameter",
        param: "input",
      });
    });
  }

  for (const { name, load } of genaiGenerations) {
    for (const model of Object.keys(channels)) {
      it(`pitfalls 141 and 144: ${name} gets the numbers of '${model}' in the order of its contents`, async () => {
        const client = new (load())({ apiKey: clientKey("main"), httpOptions: { baseUrl: gateway.origin } });
        const several = await client.models.embedContent({
          model,
          contents: ["one", "two", "three"],
          config: { taskType: "RETRIEVAL_QUERY", outputDimensionality: 3 },
        });
        assert.deepEqual(
          several.embeddings?.map(({ values }) => values),
          vectors,
        );
        const one = await client.models.embedContent({ model, contents: "one" });
        assert.deepEqual(one.embeddings?.[0]?.values, vectors[0]);
      });
    }
  }
});

/** Fields that a call of Google's form says beside its contents, for upstreams of other forms. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { EmbeddingCall, EmbeddingPath } from "#proxy/endpoints/embeddings/call/embedding-call";
import { readEmbedContent } from "#proxy/endpoints/embeddings/call/read-embed-content";
import { asCount, SaidFields } from "#proxy/endpoints/embeddings/call/said-fields";
import type { JsonObject } from "#proxy/json/json-value";
import { defaultLimits } from "#proxy/limits";

const batch: EmbeddingPath = {
  protocol: "Gemini",
  format: "EmbedContent",
  capability: "Embeddings",
  modelInPath: "g",
  verb: "batchEmbedContents",
};

function batchOf(...members: readonly JsonObject[]): EmbeddingCall {
  const requests = members.map((each) => ({ content: { parts: [{ text: "a" }] }, ...each }));
  return readEmbedContent(Buffer.from(JSON.stringify({ requests })), batch, defaultLimits);
}

describe("fields beside the contents of a batch", () => {
  it("are read once each, however many requests have members of their own", () => {
    const requestCount = 500;
    const namesEach = 20;
    const members = Array.from({ length: requestCount }, (_, index) =>
      Object.fromEntries(Array.from({ length: namesEach }, (_each, at) => [`own_${index}_${at}`, 1])),
    );
    const call = batchOf(...members);
    let reads = 0;
    const counting: ProxyHandler<JsonObject> = {
      get: (request, name) => {
        reads += 1;
        return Reflect.get(request, name);
      },
    };
    const fields = new SaidFields({ ...call, requests: call.requests.map((request) => new Proxy(request, counting)) });
    assert.ok(reads <= requestCount * (namesEach + 1), `${reads} reads`);
    assert.equal(fields.take("dimensions", asCount), undefined);
  });

  for (const row of [
    { name: "one value for all", requests: [{ outputDimensionality: 8 }, { outputDimensionality: 8 }], want: 8 },
    { name: "null in all", requests: [{ outputDimensionality: null }, {}], want: undefined },
    { name: "two values", requests: [{ outputDimensionality: 8 }, { outputDimensionality: 9 }], want: "refused" },
    { name: "a value for the first alone", requests: [{ outputDimensionality: 8 }, {}], want: "refused" },
    { name: "a value for the last alone", requests: [{}, { outputDimensionality: 8 }], want: "refused" },
  ]) {
    it(`${row.name}: ${row.want === "refused" ? "refused, since one call cannot say it" : "taken as it is"}`, () => {
      const call = batchOf(...row.requests);
      if (row.want === "refused") {
        const param = "requests[].outputDimensionality";
        assert.throws(() => new SaidFields(call), { code: "unsupported_parameter", param });
      } else {
        assert.equal(new SaidFields(call).take("dimensions", asCount), row.want);
      }
    });
  }
});

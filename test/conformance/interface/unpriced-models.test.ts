/**
 * A model without a price under a limit in credits: refused, and shown as refused wherever the key asks
 * (docs/design/limits-and-money.md 10).
 */
import assert from "node:assert/strict";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { naturalReply } from "#test/support/conformance/natural-replies";
import { at, list } from "#test/support/digest/facts";
import { FakeUpstream } from "#test/support/fake-upstream";

describe("a model without a price", () => {
  let gateway: InProcessGateway;
  let upstream: FakeUpstream;

  before(async () => {
    upstream = await FakeUpstream.start(naturalReply);
    gateway = await InProcessGateway.start({
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("free"),
        keyManifest("bounded", { limits: [{ name: "c", unit: "Cost", limit: "1", period: "Month" }] }),
        channelManifest("priced", upstream.origin),
        routeManifest("priced"),
        routeManifest("vectors", {
          targets: [{ name: "main", channelRef: { name: "priced" } }],
          capabilities: ["Chat", "Embeddings"],
          price: { inputPerMillion: "1" },
        }),
        routeManifest("pictures", {
          targets: [{ name: "main", channelRef: { name: "priced" } }],
          capabilities: ["ImageGeneration"],
          price: { perImage: [{ size: "1024x1024", price: "0.04" }] },
        }),
        routeManifest("unpriced", { targets: [{ name: "main", channelRef: { name: "priced" } }], price: undefined }),
      ),
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  function call(key: string, path: string, body?: object): Promise<HttpAnswer> {
    return httpCall({
      origin: gateway.origin,
      method: body === undefined ? "GET" : "POST",
      path,
      headers: { authorization: `Bearer ${clientKey(key)}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  const messages = [{ role: "user", content: "x" }];
  for (const { key, status, models } of [
    { key: "free", status: 200, models: ["pictures", "priced", "unpriced", "vectors"] },
    { key: "bounded", status: 403, models: ["pictures", "priced", "vectors"] },
  ]) {
    it(`is ${status} for the key ${key}, whatever it asks`, async () => {
      const answers = [
        await call(key, "/v1/chat/completions", { model: "unpriced", messages }),
        await call(key, "/v1/messages/count_tokens", { model: "unpriced", messages }),
        await call(key, "/v1/models/unpriced"),
      ];
      assert.deepEqual(
        answers.map((answer) => answer.status),
        [status, status, status],
      );
      const listed = list(at((await call(key, "/v1/models")).json(), "data")).map((model) => at(model, "id"));
      assert.deepEqual(listed.toSorted(), models);
      assert.equal((await call(key, "/v1/chat/completions", { model: "priced", messages })).status, 200);
    });
  }

  it("is refused for chat where its prices are enough for embeddings alone, and listed for those", async () => {
    const refused = await call("bounded", "/v1/chat/completions", { model: "vectors", messages });
    assert.equal(refused.status, 403);
    assert.equal(
      at(refused.json(), "error", "message"),
      "The model 'vectors' has no price for output, and this API key may only spend a limited amount.",
    );
    assert.equal((await call("free", "/v1/chat/completions", { model: "vectors", messages })).status, 200);
    assert.equal((await call("bounded", "/v1/models/vectors")).status, 200);
  });
});

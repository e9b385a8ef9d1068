/** What a model list says that can be done with a model is what its key may do. */
import assert from "node:assert/strict";
import { httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { at, list } from "#test/support/digest/facts";

describe("the model list of Google's clients", () => {
  let gateway: InProcessGateway;
  before(async () => {
    gateway = await InProcessGateway.start({
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        keyManifest("talker", { capabilities: ["Models", "Chat"] }),
        keyManifest("counter", { capabilities: ["Models", "CountTokens"] }),
        keyManifest("both", { capabilities: ["Models", "CountTokens", "Chat"] }),
        channelManifest("chat", "http://127.0.0.1:9"),
        routeManifest("chat"),
      ),
    });
  });
  after(() => gateway.close());

  const generating = ["generateContent", "streamGenerateContent"];
  for (const { key, methods } of [
    { key: "main", methods: [...generating, "countTokens"] },
    { key: "both", methods: [...generating, "countTokens"] },
    { key: "talker", methods: generating },
    { key: "counter", methods: ["countTokens"] },
  ]) {
    it(`names the methods that the key ${key} may call`, async () => {
      const headers = { "x-goog-api-key": clientKey(key) };
      const all = await httpCall({ origin: gateway.origin, path: "/v1beta/models", headers });
      const one = await httpCall({ origin: gateway.origin, path: "/v1beta/models/chat", headers });
      const [listed] = list(at(all.json(), "models"));
      assert.deepEqual(at(listed, "supportedGenerationMethods"), methods);
      assert.deepEqual(one.json(), listed);
      const counted = await httpCall({
        origin: gateway.origin,
        path: "/v1beta/models/chat:countTokens",
        headers,
        body: JSON.stringify({ contents: [{ role: "user", parts: [{ text: "hi" }] }] }),
      });
      assert.equal(counted.status, methods.includes("countTokens") ? 200 : 403, counted.body.toString());
    });
  }
});

/**
 * docs/design/reliability.md C3 to C5 on the wire: a model is a byte-equal name in one place, and no field of a body
 * chooses where a call goes.
 */
import assert from "node:assert/strict";
import { createServer, type Server } from "node:net";
import { after, before, describe, it } from "mocha";
import { chatBody, forbiddenMark, rawRequest } from "./rig/raw-request.ts";
import { assertNoSecret, checkRefusal, errorCode, useRig } from "./rig/rig.ts";
import { clientKeys } from "./rig/rig-manifests.ts";

const messages = [{ role: "user", content: forbiddenMark }];

describe("models", () => {
  const rig = useRig();
  let canary: Server;
  let canaryConnections = 0;

  before(async () => {
    canary = createServer((socket) => {
      canaryConnections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => canary.unref().listen(0, "127.0.0.1", resolve));
  });
  after(() => canary.close());

  function canaryUrl(): string {
    const address = canary.address();
    assert.ok(typeof address === "object" && address !== null);
    return `http://127.0.0.1:${address.port}`;
  }

  describe("C3: names that are not the name", () => {
    const names = [
      "open-a ",
      " open-a",
      "open-a.",
      "open-a\t",
      "open-a\n",
      "open-a\0",
      "OPEN-A",
      "Open-A",
      "case-model",
      "CASE-MODEL",
      "team-One",
      "open\u2010a",
      "open\u2011a",
      "\uff4fpen-a",
      "open-\u0430",
      "open-a\u200b",
      "\u200bopen-a",
      "open-a\u200d",
      "\ufeffopen-a",
      "open-a\u202e",
      "\u202aopen-a",
      "open-a\u0301",
      "ope\u006e\u0303-a",
      "\u1d0fpen-a",
      "open-\u00aa",
      "models/open-a",
      "models/models/open-a",
      "/open-a",
      "open-a/",
      "./open-a",
      "../open-a",
      "open-a/..",
      "x/../open-a",
      "open%2da",
      "open-%61",
      "open-a%00",
      "open-a#",
      "open-a?",
      "open-a?x=y",
      "open-*",
      "*",
      "open-?",
      "[o]pen-a",
      "team-*",
      ".*",
      "open-a|closed",
      "open-a,closed",
      "open-a;closed",
      "open-a closed",
      "default/open-a",
      "route-0",
      "__proto__",
      "constructor",
      "toString",
      "hasOwnProperty",
      "null",
      "undefined",
      "ft:open-a",
      "open-a@latest",
      "open-a:free",
      "maker%2Fmodel:tag",
      "maker\\model:tag",
      "Maker/model:tag",
      "team-secre\u0074\u0301",
    ];
    for (const name of names) {
      it(JSON.stringify(name), async () => {
        const count = rig().upstream.requests.length;
        for (const key of [clientKeys.good, clientKeys.narrow]) {
          const response = await rig().exchange(rawRequest({ key, body: JSON.stringify({ model: name, messages }) }));
          assertNoSecret(response);
          assert.ok([400, 403, 404].includes(response.status), `status ${response.status}`);
        }
        assert.equal(rig().upstream.requests.length, count);
      });
    }

    for (const [name, model] of [
      ["empty", ""],
      ["null", null],
      ["a number", 5],
      ["true", true],
      ["an array", ["open-a"]],
      ["an object", { id: "open-a" }],
      ["a name of 100 KB", "open-a".repeat(17_000)],
    ] as const) {
      it(`${name} is refused`, () => {
        const body = JSON.stringify({ model, messages });
        const status = name.startsWith("a name") ? 404 : 400;
        return checkRefusal(rig(), { name, bytes: rawRequest({ body }), status, connection: "open" });
      });
    }

    it("none at all is refused", () =>
      checkRefusal(rig(), {
        name: "none",
        bytes: rawRequest({ body: JSON.stringify({ messages }) }),
        status: 400,
        code: "missing_required_parameter",
        connection: "open",
      }));

    it("a Kelvin sign folds to no k", async () => {
      for (const model of ["ma\u212aer/model:tag", "\u212a", "tea\u1d0d-one"]) {
        const response = await rig().exchange(rawRequest({ body: JSON.stringify({ model, messages }) }));
        assert.equal(response.status, 404);
      }
    });

    it("an escaped spelling of the allowed name is that name", async () => {
      const body = chatBody().replace('"open-a"', '"\\u006fpen\\u002da"');
      const response = await rig().exchange(rawRequest({ body }));
      assert.equal(response.status, 200);
      assert.equal(JSON.parse(String(rig().upstream.requests.at(-1)?.body)).model, "open-a");
    });

    it("an escaped spelling of a forbidden name is that name", async () => {
      for (const spelling of ["\\u0063losed", "clo\\u0073ed"]) {
        const body = JSON.stringify({ model: "X", messages }).replace("X", spelling);
        const response = await rig().exchange(rawRequest({ key: clientKeys.narrow, body }));
        assert.deepEqual([response.status, errorCode(response)], [403, "model_not_allowed"]);
      }
    });
  });

  describe("C4: only the documented place counts", () => {
    const contents = [{ parts: [{ text: forbiddenMark }] }];
    it("a model in path and body that differ is 400", () =>
      checkRefusal(rig(), {
        name: "differ",
        bytes: rawRequest({
          target: "/v1beta/models/open-a:generateContent",
          body: JSON.stringify({ model: "models/closed", contents }),
        }),
        status: 400,
        connection: "open",
      }));

    it("a forbidden model elsewhere is data, and an allowed one elsewhere opens nothing", async () => {
      const places = (name: string) => ({
        metadata: { model: name },
        extra_body: { model: name },
        config: { model: name },
        user: name,
        model_name: name,
        deployment: name,
        engine: name,
      });
      const allowed = await rig().exchange(
        rawRequest({
          key: clientKeys.narrow,
          target: "/v1/chat/completions?model=closed",
          headers: ["X-Model: closed", "OpenAI-Model: closed", "X-Target-Model: closed"],
          body: JSON.stringify({ model: "open-a", messages: [{ role: "user", content: "x" }], ...places("closed") }),
        }),
      );
      assert.equal(allowed.status, 200, allowed.body.toString());
      assert.equal(JSON.parse(String(rig().upstream.requests.at(-1)?.body)).model, "open-a");
      assert.equal(rig().upstream.requests.at(-1)?.target, "/v1/chat/completions");
      const refused = await rig().exchange(
        rawRequest({
          key: clientKeys.narrow,
          target: "/v1/chat/completions?model=open-a",
          headers: ["X-Model: open-a"],
          body: JSON.stringify({ model: "closed", messages, ...places("open-a") }),
        }),
      );
      assert.equal(refused.status, 403);
    });

    it("routing-like fields and headers are inert: the canary sees no connection", async () => {
      const url = canaryUrl();
      const host = url.slice("http://".length);
      const fields = {
        api_base: url,
        base_url: url,
        apiBase: url,
        baseURL: url,
        api_key: "sk-evil",
        api_version: "x",
        custom_llm_provider: "openai",
        headers: { host, authorization: "Bearer evil" },
        extra_headers: { host },
        proxy: url,
        http_proxy: url,
        fallbacks: [{ model: "closed", api_base: url }],
        deployment_id: url,
        endpoint: url,
        url,
        target: url,
        upstream: url,
        callback_url: url,
        webhook: url,
        litellm_params: { api_base: url },
        provider: { url },
      };
      const headers = [
        `X-Api-Base: ${url}`,
        `X-Target-URL: ${url}`,
        `X-Portkey-Custom-Host: ${url}`,
        `Helicone-Target-URL: ${url}`,
        `X-Upstream: ${url}`,
        `X-Forwarded-Host: ${host}`,
        `Proxy-Authorization: x`,
        `Forwarded: host=${host}`,
      ];
      for (const [target, body] of [
        ["/v1/chat/completions", { model: "open-a", messages: [{ role: "user", content: "x" }] }],
        ["/v1/messages", { model: "open-a", max_tokens: 5, messages: [{ role: "user", content: "x" }] }],
        ["/v1/responses", { model: "open-a", input: "x" }],
      ] as const) {
        const count = rig().upstream.requests.length;
        const response = await rig().exchange(
          rawRequest({ target, headers, body: JSON.stringify({ ...body, ...fields }) }),
        );
        assertNoSecret(response);
        assert.ok([200, 400].includes(response.status), response.body.toString());
        assert.ok(rig().upstream.requests.length <= count + 1);
      }
      assert.equal(canaryConnections, 0);
    });

    it("an image's URL is passed on and not fetched", async () => {
      const image = { type: "image_url", image_url: { url: `${canaryUrl()}/image.png` } };
      const body = JSON.stringify({ model: "open-a", messages: [{ role: "user", content: [image] }] });
      const response = await rig().exchange(rawRequest({ body }));
      assert.equal(response.status, 200);
      assert.match(String(rig().upstream.requests.at(-1)?.body), /image\.png/);
      assert.equal(canaryConnections, 0);
    });
  });
});

/**
 * docs/design/reliability.md C1 and C2 on the wire: a closed table of paths, and an upstream path without a byte of the
 * client's.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { chatBody, forbiddenMark, rawRequest } from "./rig/raw-request.ts";
import { assertNoSecret, checkRefusal, useRig } from "./rig/rig.ts";

const chat = "/v1/chat/completions";
const contents = (text: string): string => JSON.stringify({ contents: [{ parts: [{ text }] }] });

describe("paths", () => {
  const rig = useRig();

  describe("C1: spellings that are accepted", () => {
    for (const target of [
      chat,
      "/chat/completions",
      "/v1/v1/chat/completions",
      `${chat}?`,
      `${chat}?api-version=1`,
      `${chat}?x=/../admin`,
    ]) {
      it(target, async () => {
        assert.equal((await rig().exchange(rawRequest({ target, body: chatBody() }))).status, 200);
        assert.equal(rig().upstream.requests.at(-1)?.target, "/v1/chat/completions");
      });
    }
  });

  describe("C1: spellings that are not", () => {
    const overlong = "\xc0\xaf";
    for (const target of [
      "/V1/chat/completions",
      "/v1/Chat/Completions",
      "/v1/chat/completion\u017f",
      "//v1/chat/completions",
      "/v1//chat/completions",
      "/v1/chat//completions",
      "/v1/chat/completions//",
      "/v1/chat/completions/",
      "/./v1/chat/completions",
      "/v1/./chat/completions",
      "/v1/../v1/chat/completions",
      "/../v1/chat/completions",
      "/x/../v1/chat/completions",
      "/v1/chat/completions/.",
      "/v1/chat/completions/..",
      "/v1/models/../chat/completions",
      "/v1%2fchat/completions",
      "/v1/chat%2Fcompletions",
      "/%761/chat/completions",
      "/v1/chat/completion%73",
      "/v1/%2e%2e/v1/chat/completions",
      "/v1/%2e/chat/completions",
      "/v1/chat/completions%00",
      "/v1/chat/completions%20",
      "/v1/chat/completions%0d%0aHost:x",
      "/v1/chat/completions;x",
      "/v1/chat/completions;x=1?y",
      "/v1;x/chat/completions",
      "\\v1\\chat\\completions",
      "/v1\\chat\\completions",
      "/v1/chat/completions\\",
      "/v1/chat/completions.",
      "/v1/chat/completions.json",
      "/v1/chat/completions#x",
      "/v1/chat/completions#?x",
      `/v1/chat${overlong}completions`,
      "/v1/chat%c0%afcompletions",
      "/v1/chat/completions%",
      "/v1/chat/completions%zz",
      "/v1/chat/completions%u0073",
      "/v1/v1/v1/chat/completions",
      "/v2/chat/completions",
      "/v1/chat",
      "/v1/chat/",
      "/v1",
      "/",
      "*",
      "v1/chat/completions",
      "?",
      "http://gateway.test/v1/chat/completions",
      "https://gateway.test/v1/chat/completions",
      "//gateway.test/v1/chat/completions",
      "file:///v1/chat/completions",
      "gateway.test:443",
      "/v1/messages/",
      "/messages",
      "/v1beta/messages",
      "/v1/engines/open-a/completions",
      "/v1/completions/",
      "/v1/models/open-a:GenerateContent",
      "/v1beta/models/open-a:generateContent/",
      "/v1beta/models/open-a%3AgenerateContent",
      "/v1beta/models/open-a:generateContent:generateContent",
      "/v1beta/Models/open-a:generateContent",
      "/v1BETA/models/open-a:generateContent",
      "/v1beta/models/:generateContent",
      "/v1beta/models/../models/open-a:generateContent",
      "/v1beta/models/x/../open-a:generateContent",
      "/v1beta/models/x/%2e%2e/open-a:generateContent",
      "/v1beta/models//open-a:generateContent",
      "/v1beta/tunedModels/open-a:generateContent",
    ]) {
      it(JSON.stringify(target), async () => {
        const count = rig().upstream.requests.length;
        const body = target.includes("ontent") ? contents(forbiddenMark) : undefined;
        const bytes = rawRequest({ target, ...(body === undefined ? {} : { body }) });
        const response = await rig().exchange(bytes);
        assertNoSecret(response);
        assert.ok([400, 404, 405].includes(response.status), `status ${response.status}`);
        assert.equal(rig().upstream.requests.length, count);
        await checkRefusal(rig(), { name: target, bytes, status: response.status, connection: "either" });
      });
    }

    for (const [name, target] of [
      ["a space", "/v1/chat/completions x"],
      ["a tab", "/v1/chat\t/completions"],
      ["NUL", "/v1/chat/completions\0"],
      ["8-bit bytes", "/v1/chat/completions\xff"],
      ["a bare CR", "/v1/chat/completions\rX"],
      ["DEL", "/v1/chat/completions\x7f"],
    ] as const) {
      it(`${name} in the target is no HTTP, or no path`, async () => {
        const response = await rig().exchange(rawRequest({ target }));
        assert.ok([400, 404].includes(response.status), `status ${response.status}`);
      });
    }

    it("a target of more than 8 KB is 414", () =>
      checkRefusal(rig(), {
        name: "long",
        bytes: rawRequest({ target: `${chat}?${"a".repeat(8_192)}` }),
        status: 414,
        code: "uri_too_long",
        connection: "closed",
      }));
  });

  describe("C2: the path sent upstream", () => {
    const gemini = (model: string, query = ""): Buffer =>
      rawRequest({ target: `/v1beta/models/${model}:generateContent${query}`, body: contents("hello") });

    it("holds nothing of the client's query or version", async () => {
      for (const target of [
        "/v1alpha/models/open-a:generateContent?alt=json&key=&prettyPrint=true",
        "/v1beta/models/models/open-a:generateContent",
        "/v1/v1beta/models/open-a:generateContent?x=..%2f..",
      ]) {
        const response = await rig().exchange(rawRequest({ target, body: contents("hello") }));
        if (response.status !== 200) assert.ok([400, 401, 404].includes(response.status));
        const received = rig().upstream.requests.at(-1);
        assert.doesNotMatch(received?.target ?? "", /pretty|alpha|x=|\.\.|key/);
      }
    });

    it("encodes a model's slash and colon", async () => {
      for (const spelling of ["maker/model:tag", "maker%2Fmodel%3Atag", "maker%2fmodel:tag"]) {
        const response = await rig().exchange(gemini(spelling));
        assert.equal(response.status, 200, `${spelling}: ${response.body.toString()}`);
        assert.match(rig().upstream.requests.at(-1)?.target ?? "", /\/models\/maker%2Fmodel%3Atag:generateContent$/);
      }
    });

    for (const model of [
      "..",
      ".",
      "%2e%2e",
      "..%2f..%2fadmin",
      "open-a%2f..%2fopen-a",
      "open-a%00",
      "open-a%20",
      "open-a%0d%0aX:y",
      "open-a%09",
      "open-a%5c..",
      "open-a%23x",
      "open-a%3fx=y",
      "open-a%25",
      "open-a%",
      "open-a%ff",
      "%c0%ae%c0%ae",
    ]) {
      it(`${model} is refused`, async () => {
        const count = rig().upstream.requests.length;
        const response = await rig().exchange(gemini(model));
        assertNoSecret(response);
        assert.ok([400, 404].includes(response.status), `status ${response.status}`);
        assert.equal(rig().upstream.requests.length, count);
      });
    }
  });
});

/** docs/design/reliability.md A14, D7 and D8: what may cross the gateway in either direction, and what never does. */
import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { chatBody, rawRequest } from "./rig/raw-request.ts";
import { assertNoSecret, errorCode, naturalReply, useRig } from "./rig/rig.ts";
import { channelSecret, clientKeys } from "./rig/rig-manifests.ts";

const { good } = clientKeys;
const ok =
  '{"id":"x","object":"chat.completion","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}';

describe("what crosses the gateway", () => {
  const rig = useRig();
  afterEach(() => rig().upstream.replyWith(naturalReply));

  describe("A14: the client's secret upstream", () => {
    const contents = JSON.stringify({ contents: [{ parts: [{ text: "hello" }] }] });
    const inBody = (body: object) => JSON.stringify(body);
    for (const [name, request] of [
      ["A, Bearer", { body: chatBody() }],
      ["A, responses", { target: "/v1/responses", body: inBody({ model: "open-a", input: "hello" }) }],
      [
        "B, x-api-key",
        {
          key: null,
          target: "/v1/messages",
          headers: [`x-api-key: ${good}`],
          body: inBody({ model: "open-a", max_tokens: 5, messages: [{ role: "user", content: "hello" }] }),
        },
      ],
      ["C, query", { key: null, target: `/v1beta/models/open-a:generateContent?key=${good}`, body: contents }],
      [
        "C, header",
        {
          key: null,
          target: "/v1beta/models/open-a:generateContent",
          headers: [`x-goog-api-key: ${good}`],
          body: contents,
        },
      ],
      [
        "C, stream",
        { key: null, target: `/v1beta/models/open-a:streamGenerateContent?alt=sse&key=${good}`, body: contents },
      ],
      [
        "everywhere else too",
        {
          headers: [
            `Cookie: a=${good}`,
            `X-Api-Key: ${good}`,
            `Referer: https://x/${good}`,
            `X-Custom: ${good}`,
            `User-Agent: ${good}`,
            `Origin: https://${good}`,
          ],
          body: chatBody(),
        },
      ],
    ] as const) {
      it(`${name}: 0 bytes of it`, async () => {
        const response = await rig().exchange(rawRequest(request));
        assert.equal(response.status, 200, response.body.toString());
        assertNoSecret(response);
        const received = rig().upstream.requests.at(-1) ?? assert.fail();
        const all = `${received.target}\n${received.rawHeaders.join("\n")}\n${received.body}`;
        assert.equal(all.includes(good), false);
        assert.equal(all.includes(channelSecret), true);
      });
    }
  });

  describe("A14: the channel's secret downstream", () => {
    const headers = {
      "openai-organization": "canary-org",
      "openai-project": "canary-project",
      "anthropic-organization-id": "canary-org",
      "x-goog-user": "canary-org",
      "set-cookie": "canary-cookie=1",
      server: "canary-server",
      via: "canary-via",
      "x-ratelimit-remaining-requests": "canary-99",
      "x-upstream-key": channelSecret,
      "openai-version": channelSecret,
      location: `https://canary.example/?key=${channelSecret}`,
      "www-authenticate": "canary-realm",
      "access-control-allow-origin": "*",
    };
    const statuses = [
      200, 201, 204, 301, 302, 307, 308, 400, 401, 402, 403, 404, 408, 409, 413, 418, 422, 429, 451, 500, 501, 502, 503,
      504, 529, 599,
    ];
    for (const status of statuses) {
      it(`status ${status} that repeats it`, async () => {
        const message = `Incorrect API key provided: ${channelSecret}. Bearer ${channelSecret} at https://canary.example/?key=${channelSecret}`;
        rig().upstream.replyWith({
          status,
          headers,
          body:
            status < 300
              ? ok
              : JSON.stringify({ error: { message, type: "x", code: channelSecret, param: channelSecret } }),
        });
        for (const target of ["/v1/chat/completions", "/v1/messages"]) {
          const body = JSON.stringify({
            model: "open-a",
            max_tokens: 5,
            messages: [{ role: "user", content: "hello" }],
          });
          const response = await rig().exchange(rawRequest({ target, body }));
          assertNoSecret(response);
          assert.notEqual(response.status, 401, "the client's key is fine");
          const names = response.headers.map(([name]) => name);
          for (const name of Object.keys(headers)) {
            if (name !== "openai-version") assert.equal(names.includes(name), false, `${name} came through`);
          }
          assert.doesNotMatch(`${response.headers.flat().join(" ")}${response.body}`, /canary/);
        }
      });
    }

    for (const [name, body] of [
      ["a string", JSON.stringify({ error: `key ${channelSecret} is bad` })],
      ["an array", JSON.stringify([{ error: { message: channelSecret } }])],
      ["FastAPI's detail", JSON.stringify({ detail: [{ loc: [channelSecret], msg: channelSecret }] })],
      ["HTML", `<html><body>${channelSecret}</body></html>`],
      ["no JSON", channelSecret],
      ["base64", JSON.stringify({ error: { message: `Basic ${Buffer.from(channelSecret).toString("base64")}` } })],
    ] as const) {
      it(`a 400 whose body is ${name}`, async () => {
        rig().upstream.replyWith({ status: 400, body });
        const response = await rig().exchange(rawRequest({ body: chatBody() }));
        assertNoSecret(response);
        assert.equal(response.body.includes(Buffer.from(channelSecret).toString("base64")), false);
        assert.equal(response.body.includes("<"), false);
      });
    }
  });

  describe("EG3: redirects are never followed", () => {
    for (const status of [301, 302, 303, 307, 308]) {
      it(`${status}`, async () => {
        const count = rig().upstream.requests.length;
        rig().upstream.replyWith((_request, index) =>
          index > count + 3
            ? { body: ok }
            : { status, headers: { location: `${rig().upstream.origin}/elsewhere` }, body: "" },
        );
        const response = await rig().exchange(rawRequest({ body: chatBody() }));
        assert.ok(response.status >= 500, `status ${response.status}`);
        assert.equal(response.header("location"), undefined);
        assert.equal(
          rig()
            .upstream.requests.slice(count)
            .every(({ target }) => target === "/v1/chat/completions"),
          true,
        );
      });
    }
  });

  describe("D7: response splitting", () => {
    const raw = (headers: string, body = ok): Buffer =>
      Buffer.from(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n\r\n${body}`,
        "latin1",
      );
    for (const [name, bytes] of [
      ["CR in a value", raw("openai-version: a\rX-Evil: 1")],
      ["LF in a value", raw("openai-version: a\nX-Evil: 1")],
      ["NUL in a value", raw("openai-version: a\0X-Evil: 1")],
      ["a folded value", raw("openai-version: a\r\n X-Evil: 1")],
      ["8-bit bytes", raw("openai-version: \xff\xfeX-Evil")],
      [
        "two answers",
        Buffer.concat([raw("a: b"), Buffer.from("HTTP/1.1 200 OK\r\nX-Evil: 1\r\nContent-Length: 4\r\n\r\nEVIL")]),
      ],
      [
        "a length too short",
        Buffer.from(
          raw("a: b")
            .toString()
            .replace(/Content-Length: [0-9]+/, "Content-Length: 2"),
        ),
      ],
      ["two lengths", raw("Content-Length: 2")],
      ["length and chunked", raw("Transfer-Encoding: chunked")],
      [
        "an unasked 101",
        Buffer.from("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nX-Evil: 1"),
      ],
      ["no HTTP", Buffer.from("X-Evil: 1\r\n\r\nEVIL")],
      [
        "a content type with CR",
        Buffer.from(raw("").toString().replace("application/json", "application/json\rX-Evil: 1")),
      ],
      [
        "1,000 interim answers",
        Buffer.concat([Buffer.from("HTTP/1.1 103 Early Hints\r\nX-Evil: 1\r\n\r\n".repeat(1_000)), raw("a: b")]),
      ],
    ] as const) {
      it(`${name}: stripped or 502, and the next answer is its own`, async () => {
        rig().upstream.replyWith({ raw: bytes });
        const client = await rig().connect();
        client.write(rawRequest({ body: chatBody() }));
        const response = await client.readResponse();
        assert.ok([200, 502].includes(response.status), `status ${response.status}: ${response.body}`);
        assert.doesNotMatch(`${response.headers.flat().join("\n")}${response.body}`, /evil/i);
        rig().upstream.replyWith(naturalReply);
        client.write(rawRequest({ body: chatBody("open-a", "next") }));
        const next = await client.readResponse();
        assert.match(next.body.toString(), /echo next/);
        client.close();
      });
    }

    it("a flood of interim answers ends in 502", async () => {
      rig().upstream.replyWith({
        raw: Buffer.concat([Buffer.from("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1_000)), raw("a: b")]),
      });
      const response = await rig().exchange(rawRequest({ body: chatBody() }));
      assert.equal(response.status, 502);
      assert.equal(errorCode(response), "upstream_error");
    });

    for (const model of [
      "a\r\nX-Evil: 1",
      "a\nX-Evil: 1",
      "a\0b",
      "\u2028X-Evil",
      "a\u0085X-Evil",
      "é",
      "x".repeat(9_000),
    ]) {
      it(`a model named ${JSON.stringify(model.slice(0, 20))} splits nothing`, async () => {
        for (const target of ["/v1/chat/completions", "/v1/messages"]) {
          const body = JSON.stringify({ model, max_tokens: 5, messages: [{ role: "user", content: "hello" }] });
          const response = await rig().exchange(rawRequest({ target, body }));
          assert.ok([400, 404].includes(response.status), `status ${response.status}`);
          assert.equal(
            response.headers.some(([name, value]) => /evil/i.test(name + value)),
            false,
          );
          assert.ok(response.body.length < 2_000, "the refusal repeats a long name");
        }
      });
    }
  });
});

/** docs/design/reliability.md A3, A5, A6, A9 to A11 on the wire: places, hosts, methods and ports that open nothing. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { RawClient } from "#test/support/raw-client";
import { chatBody, chunked, forbiddenMark, rawRequest, refusedBody } from "./rig/raw-request.ts";
import { assertNoSecret, checkRefusal, useRig } from "./rig/rig.ts";
import { clientKeys } from "./rig/rig-manifests.ts";

const { good } = clientKeys;

describe("places and ways that open nothing", () => {
  const rig = useRig();

  describe("A3: a key in a place that is none", () => {
    const withKey = JSON.stringify({ api_key: good, key: good, ...JSON.parse(refusedBody) });
    const rows: readonly (readonly [string, Parameters<typeof rawRequest>[0]])[] = [
      ["query key=", { target: `/v1/chat/completions?key=${good}` }],
      ["query api_key=", { target: `/v1/chat/completions?api_key=${good}` }],
      ["query key[]=", { target: `/v1/chat/completions?key[]=${good}` }],
      ["query key%5B%5D=", { target: `/v1/chat/completions?key%5B%5D=${good}` }],
      ["query access_token=", { target: `/v1/chat/completions?access_token=${good}` }],
      ["a body field", { body: withKey }],
      ["a cookie", { headers: [`Cookie: key=${good}; authorization=Bearer ${good}`] }],
      ["Proxy-Authorization", { headers: [`Proxy-Authorization: Bearer ${good}`] }],
      ["x_api_key", { headers: [`x_api_key: ${good}`] }],
      ["x-api-key on A", { headers: [`x-api-key: ${good}`] }],
      ["api-key", { headers: [`api-key: ${good}`] }],
      ["X-Authorization", { headers: [`X-Authorization: Bearer ${good}`] }],
      ["X-Forwarded-Authorization", { headers: [`X-Forwarded-Authorization: Bearer ${good}`] }],
      ["Sec-WebSocket-Protocol", { headers: [`Sec-WebSocket-Protocol: openai-insecure-api-key.${good}`] }],
      ["Authorization_", { headers: [`Authorization_: Bearer ${good}`] }],
      ["From and User-Agent", { headers: [`From: ${good}`, `User-Agent: ${good}`] }],
    ];
    for (const [name, request] of rows) {
      it(`${name} is no credential`, () =>
        checkRefusal(rig(), {
          name,
          bytes: rawRequest({ key: null, ...request }),
          status: 401,
          code: "invalid_api_key",
          connection: "open",
        }));
    }

    const contents = JSON.stringify({ contents: [{ parts: [{ text: forbiddenMark }] }] });
    for (const query of [
      `key[]=${good}`,
      `key%5B%5D=${good}`,
      `%6bey=${good}`,
      `Key=${good}`,
      `a=1#key=${good}`,
      `key=${good}&key=${clientKeys.other}`,
      `key=${good}&key=`,
      `key=`,
      `key=${good}%20`,
      `key=${encodeURIComponent(good).replace("sk", "%73k")}`,
      `$key=${good}`,
      `key=${good};key=${good}`,
    ]) {
      it(`C: ?${query.replaceAll(good, "KEY")} is no credential`, async () => {
        const response = await rig().exchange(
          rawRequest({ key: null, target: `/v1beta/models/open-a:generateContent?${query}`, body: contents }),
        );
        assert.ok([400, 401].includes(response.status), `status ${response.status}`);
        assertNoSecret(response);
      });
    }

    it("a trailer is no credential", () => {
      const body = chunked(refusedBody).subarray(0, -2);
      const trailers = Buffer.from(`Authorization: Bearer ${good}\r\n\r\n`);
      const head = { key: null, framing: "none", body: "", headers: ["Transfer-Encoding: chunked"] } as const;
      const bytes = Buffer.concat([rawRequest({ ...head, type: null }), body, trailers]);
      return checkRefusal(rig(), { name: "trailer", bytes, status: 401, connection: "either" });
    });

    it("a multipart field is no credential", () => {
      const part = `--b\r\nContent-Disposition: form-data; name="authorization"\r\n\r\nBearer ${good}\r\n--b--\r\n`;
      const bytes = rawRequest({ key: null, body: part, type: "multipart/form-data; boundary=b" });
      return checkRefusal(rig(), { name: "multipart", bytes, status: 401, connection: "open" });
    });
  });

  describe("A5: Connection nominates what is dropped, after authentication", () => {
    for (const nominated of [
      "authorization",
      "x-api-key",
      "content-length",
      "host",
      "x-request-id",
      "close, authorization",
    ]) {
      it(`Connection: ${nominated} changes no decision`, async () => {
        const served = await rig().exchange(rawRequest({ headers: [`Connection: ${nominated}`], body: chatBody() }));
        assert.equal(served.status, 200);
        const received = rig().upstream.requests.at(-1);
        assert.equal(received?.headers["authorization"], "Bearer canary-channel-secret-98765432109876543210");
        assert.equal(received?.headers["connection"] === nominated, false);
        const refused = await rig().exchange(rawRequest({ headers: [`Connection: ${nominated}`], key: null }));
        assert.equal(refused.status, 401);
      });
    }

    it("forwards no nominated header, even an allowed one", async () => {
      const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
      const send = (connection: string) =>
        rig().exchange(
          rawRequest({ headers: [`traceparent: ${traceparent}`, `Connection: ${connection}`], body: chatBody() }),
        );
      await send("keep-alive");
      assert.equal(rig().upstream.requests.at(-1)?.headers["traceparent"], traceparent);
      await send("keep-alive, Traceparent");
      assert.equal(rig().upstream.requests.at(-1)?.headers["traceparent"], undefined);
    });
  });

  describe("A6: more headers than anybody needs", () => {
    const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `a${index}:1`);
    for (const [name, headers] of [
      ["1,100 before the credential", [...many(1_100), `Authorization: Bearer ${good}`]],
      ["1,990 before X-Forwarded-For", [`Authorization: Bearer ${good}`, ...many(1_990), "X-Forwarded-For: 10.0.0.1"]],
      ["1,100 after the credential", [`Authorization: Bearer ${good}`, ...many(1_100)]],
      ["101 in all", [`Authorization: Bearer ${good}`, ...many(97)]],
    ] as const) {
      it(`refuses ${name}`, () =>
        checkRefusal(rig(), {
          name,
          bytes: rawRequest({ key: null, headers }),
          status: 431,
          code: "headers_too_large",
          connection: "closed",
        }));
    }

    it("serves 100 in all", async () => {
      const response = await rig().exchange(rawRequest({ headers: many(96), body: chatBody() }));
      assert.equal(response.status, 200);
    });
  });

  describe("A9: hosts and headers that name another place", () => {
    for (const [name, request] of [
      ["no Host", { host: null }],
      ["two different", { headers: ["Host: other.test"] }],
      ["two equal", { headers: ["Host: gateway.test"] }],
      ["userinfo", { host: "user@gateway.test" }],
      ["a path", { host: "gateway.test/admin" }],
      ["a space inside", { host: "gateway test" }],
      ["a tab inside", { host: "gateway\ttest" }],
      ["a comma list", { host: "gateway.test, other.test" }],
      ["a port that is none", { host: "gateway.test:http" }],
      ["port 99999", { host: "gateway.test:99999" }],
      ["an open bracket", { host: "[::1" }],
      ["a backslash", { host: "gateway.test\\x" }],
      ["8-bit bytes", { host: "g\u00e4teway.test" }],
    ] as const) {
      it(`refuses ${name}`, () =>
        checkRefusal(rig(), { name, bytes: rawRequest(request), status: 400, connection: "either" }));
    }

    for (const host of ["", "gateway.test:0", "127.0.0.1:8080", "[::1]:80", "GATEWAY.test.", "evil.test"]) {
      it(`Host '${host}' has no influence`, async () => {
        const count = rig().upstream.requests.length;
        assert.equal((await rig().exchange(rawRequest({ host, key: null }))).status, 401);
        assert.equal(rig().upstream.requests.length, count);
        const served = await rig().exchange(rawRequest({ host, body: chatBody() }));
        assert.equal(served.status, 200);
        assert.match(String(rig().upstream.requests.at(-1)?.headers["host"]), /^127\.0\.0\.1:/);
      });
    }

    for (const header of [
      "X-Forwarded-Host: evil.test",
      "X-Original-URL: /metrics",
      "X-Rewrite-URL: /debug/config",
      "X-HTTP-Method-Override: GET",
      "X-Forwarded-Prefix: /admin",
      "X-Forwarded-Proto: file",
      "Forwarded: host=evil.test;for=10.0.0.1",
    ]) {
      it(`${header} has no influence`, async () => {
        assert.equal((await rig().exchange(rawRequest({ headers: [header], key: null }))).status, 401);
        assert.equal((await rig().exchange(rawRequest({ headers: [header], body: chatBody() }))).status, 200);
        const received = rig().upstream.requests.at(-1);
        assert.equal(
          JSON.stringify(received?.rawHeaders)
            .toLowerCase()
            .includes(header.toLowerCase().split(":")[0] ?? ""),
          false,
        );
      });
    }

    it("refuses an absolute target that names another host", () =>
      checkRefusal(rig(), {
        name: "absolute",
        bytes: rawRequest({ target: "http://evil.test/v1/chat/completions" }),
        status: 400,
        code: "invalid_url",
        connection: "open",
      }));
  });

  describe("A10: methods and upgrades", () => {
    for (const [method, key] of [
      ["OPTIONS", null],
      ["OPTIONS", good],
      ["TRACE", null],
      ["TRACE", good],
      ["GET", good],
      ["PUT", good],
      ["DELETE", good],
      ["PATCH", good],
      ["HEAD", good],
      ["PROPFIND", good],
      ["FOO", good],
    ] as const) {
      it(`${method} ${key === null ? "without" : "with"} a key is 405`, async () => {
        const count = rig().upstream.requests.length;
        const client = await rig().connect();
        client.write(rawRequest({ method, key }));
        const response = await client.readResponse(undefined, method === "HEAD");
        assert.equal(response.status, 405);
        assert.ok(response.header("allow"));
        client.close();
        assert.equal(rig().upstream.requests.length, count);
      });
    }

    for (const [name, bytes] of [
      [
        "CONNECT with a key",
        `CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\nAuthorization: Bearer ${good}\r\n\r\n`,
      ],
      ["CONNECT without", "CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n"],
      ["CONNECT to a path", "CONNECT /v1/chat/completions HTTP/1.1\r\nHost: evil.test\r\n\r\n"],
    ] as const) {
      it(`${name} is 405 and closes`, () => checkRefusal(rig(), { name, bytes, status: 405, connection: "closed" }));
    }

    for (const upgrade of ["websocket", "h2c", "TLS/1.0"]) {
      const headers = [
        "Connection: Upgrade, HTTP2-Settings",
        `Upgrade: ${upgrade}`,
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "HTTP2-Settings: AAMAAABkAAQAAP__",
      ];
      it(`Upgrade: ${upgrade} without a key is 401`, () =>
        checkRefusal(rig(), {
          name: upgrade,
          bytes: rawRequest({ headers, key: null }),
          status: 401,
          connection: "closed",
        }));
      it(`Upgrade: ${upgrade} with a key is served as if it did not ask`, async () => {
        const response = await rig().exchange(rawRequest({ headers, body: chatBody() }));
        assert.equal(response.status, 200);
        assert.equal(rig().upstream.requests.at(-1)?.headers["upgrade"], undefined);
      });
    }

    for (const key of [null, good]) {
      it(`pitfall 169: a WebSocket for responses ${key === null ? "without" : "with"} a key is 426, and says what to use`, async () => {
        const authorization = key === null ? "" : `Authorization: Bearer ${key}\r\n`;
        const asked = "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";
        const head = `GET /v1/responses HTTP/1.1\r\nHost: x\r\n${authorization}${asked}\r\n`;
        const count = rig().upstream.requests.length;
        const response = await rig().exchange(head);
        assert.equal(response.status, 426);
        const said = ["upgrade", "connection", "allow"].map((name) => response.header(name));
        assert.deepEqual(said, ["HTTP/1.1", "close, upgrade", "POST"]);
        assert.match(String(response.body), /"code":"upgrade_required"/);
        assert.equal(rig().upstream.requests.length, count);
      });
    }

    it("the preface of HTTP/2 is no HTTP/1", () =>
      checkRefusal(rig(), {
        name: "h2",
        bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        status: 400,
        connection: "closed",
      }));
  });

  describe("A11: the two ports share no path", () => {
    for (const target of [
      "/metrics",
      "/healthz",
      "/readyz",
      "/debug/config",
      "/debug/explain?key=default/good&model=open-a",
      "/debug/fleet",
      "/",
      "/push/v1/stream",
    ]) {
      it(`GET ${target} is 404 on the data port, with and without a key`, async () => {
        for (const key of [null, good]) {
          const response = await rig().exchange(rawRequest({ method: "GET", target, key }));
          assert.equal(response.status, 404);
          assertNoSecret(response);
        }
      });
    }

    for (const [method, target] of [
      ["POST", "/v1/chat/completions"],
      ["POST", "/v1/messages"],
      ["GET", "/v1/models"],
      ["GET", "/V1/models"],
      ["GET", "/Metrics"],
      ["GET", "/metrics/"],
      ["POST", "/metrics"],
      ["DELETE", "/debug/config"],
    ] as const) {
      it(`${method} ${target} is 404 on both admin ports`, async () => {
        const count = rig().upstream.requests.length;
        for (const origin of [rig().gateway.adminOrigin, rig().gateway.operatorOrigin]) {
          const client = await RawClient.connect({ port: Number(new URL(origin).port) });
          client.write(rawRequest({ method, target }));
          const response = await client.readResponse();
          assert.equal(response.status, 404, target);
          assertNoSecret(response);
          client.close();
        }
        assert.equal(rig().upstream.requests.length, count);
      });
    }
  });
});

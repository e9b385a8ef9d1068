/** What is refused with an HTTP status, before a realtime session is open (docs/design/realtime.md 1). */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import { RawClient } from "#test/support/raw-client";
import { usual } from "#test/support/realtime/fake-realtime";
import type { ConnectOptions } from "#test/support/realtime/realtime-client";
import {
  type RealtimeRig,
  realtimeChannel,
  realtimeRoute,
  startRealtimeRig,
} from "#test/support/realtime/realtime-rig";
import { account, apiKey, channelSecret, rawKey, route, secret } from "#test/support/resilience/manifests";

const past = "2020-01-01T00:00:00Z";

interface Row extends Omit<ConnectOptions, "port"> {
  readonly name: string;
  readonly status: number;
  readonly code: string;
  readonly message?: RegExp;
}

const rows: readonly Row[] = [
  { name: "no key", key: null, status: 401, code: "invalid_api_key" },
  { name: "an unknown key", key: "nobody", status: 401, code: "invalid_api_key" },
  { name: "a key that has expired", key: "expired", status: 401, code: "invalid_api_key" },
  { name: "a suspended key", key: "suspended", status: 401, code: "invalid_api_key" },
  {
    name: "a key in the query",
    key: null,
    target: `/v1/realtime?model=talk&key=${rawKey("main")}`,
    status: 401,
    code: "invalid_api_key",
  },
  {
    name: "a key among the subprotocols",
    key: null,
    protocols: ["realtime", `openai-insecure-api-key.${rawKey("main")}`],
    status: 401,
    code: "invalid_api_key",
    message: /browsers must not/,
  },
  {
    name: "a good key beside one among the subprotocols",
    protocols: ["realtime", `openai-insecure-api-key.${rawKey("main")}`],
    status: 401,
    code: "invalid_api_key",
    message: /browsers must not/,
  },
  {
    name: "an ephemeral secret",
    key: null,
    headers: { authorization: "Bearer ek_0123456789abcdef" },
    status: 401,
    code: "invalid_api_key",
    message: /browsers must not/,
  },
  { name: "a key for other addresses", key: "elsewhere", status: 403, code: "ip_not_allowed" },
  { name: "a key for other models", key: "other-models", status: 403, code: "model_not_allowed" },
  { name: "a key for other endpoints", key: "chat-only", status: 403, code: "capability_not_allowed" },
  { name: "an unknown model", target: "/v1/realtime?model=nothing", status: 404, code: "model_not_found" },
  { name: "a model of another endpoint", target: "/v1/realtime?model=chat", status: 400, code: "unsupported_endpoint" },
  { name: "no model", target: "/v1/realtime", status: 400, code: "missing_required_parameter" },
  { name: "an empty model", target: "/v1/realtime?model=", status: 400, code: "missing_required_parameter" },
  { name: "two models", target: "/v1/realtime?model=talk&model=scribe", status: 400, code: "invalid_value" },
  {
    name: "a model and an intent",
    target: "/v1/realtime?model=talk&intent=transcription",
    status: 400,
    code: "invalid_value",
  },
  { name: "another intent", target: "/v1/realtime?intent=conversation", status: 400, code: "invalid_value" },
  { name: "a call of the account", target: "/v1/realtime?call_id=rtc_1", status: 400, code: "unsupported_parameter" },
  { name: "a broken escape", target: "/v1/realtime?model=%ff", status: 400, code: "invalid_value" },
  { name: "an account without credit", key: "poor", status: 429, code: "insufficient_quota" },
  { name: "a key whose calls in flight are used up", key: "none-in-flight", status: 429, code: "insufficient_quota" },
  { name: "another path", target: "/v1/realtime/calls", status: 404, code: "unknown_url" },
];

describe("the handshake of a realtime session", function () {
  this.timeout(30_000);
  let rig: RealtimeRig;
  before(async () => {
    rig = await startRealtimeRig({
      upstreams: 2,
      objects: ([first = 0, second = 0]) => [
        secret(),
        apiKey("main"),
        apiKey("expired", { expiresAt: past }),
        apiKey("suspended", { state: "Suspended" }),
        apiKey("elsewhere", { clientCIDRs: { allow: ["10.0.0.0/8"] } }),
        apiKey("other-models", { models: { allow: ["scribe"] } }),
        apiKey("chat-only", { capabilities: ["Chat"] }),
        apiKey("one-at-a-time", { concurrency: { maxInFlight: 1 } }),
        apiKey("none-in-flight", {
          limits: [{ name: "day", unit: "Requests", limit: "0", period: "Day", mode: "Enforce" }],
        }),
        account("poor", { credit: "0.000001" }),
        apiKey("poor", { accountRef: { name: "poor" } }),
        realtimeChannel("c0", first),
        realtimeChannel("c1", second),
        realtimeRoute("talk", ["c0", "c1"], {
          failover: { maxAttempts: 2, on: ["ConnectFailure", "ServerError", "CredentialRejected", "RateLimited"] },
        }),
        realtimeRoute("scribe", ["c0"]),
        route("chat", ["c0"]),
      ],
    });
  });
  after(() => rig?.close());
  afterEach(async () => {
    await rig.settleDown();
    for (const upstream of rig.upstreams) {
      upstream.script = usual;
      upstream.refusal = undefined;
    }
  });

  const handshakes = (): number => rig.upstreams.reduce((sum, upstream) => sum + upstream.handshakes, 0);

  for (const { name, status, code, message, ...options } of rows) {
    it(`refuses ${name} with ${status}, and asks no upstream`, async () => {
      const before = handshakes();
      const refused = await rig.refused(options);
      assert.equal(refused.status, status, refused.body);
      const { error } = JSON.parse(refused.body);
      assert.equal(error.code, code);
      if (message !== undefined) assert.match(error.message, message);
      assert.equal(refused.headers["connection"], "close");
      assert.equal(handshakes(), before);
    });
  }

  for (const [name, head] of [
    ["no upgrade", "GET /v1/realtime?model=talk HTTP/1.1\r\n"],
    [
      "another version",
      "GET /v1/realtime?model=talk HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
    ],
    [
      "no key",
      "GET /v1/realtime?model=talk HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
    ],
    [
      "two keys",
      "GET /v1/realtime?model=talk HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
    ],
    [
      "a body",
      "GET /v1/realtime?model=talk HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nContent-Length: 0\r\n",
    ],
    [
      "HTTP/1.0",
      "GET /v1/realtime?model=talk HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
    ],
  ] as const) {
    it(`refuses a handshake with ${name}`, async () => {
      const before = handshakes();
      const client = await RawClient.connect({ port: rig.gateway.port });
      client.write(`${head}Host: x\r\nAuthorization: Bearer ${rawKey("main")}\r\n\r\n`);
      const { status, body } = await client.readResponse();
      client.close();
      assert.equal(status, 400, String(body));
      assert.equal(handshakes(), before);
    });
  }

  it("refuses POST with 405", async () => {
    const authorization = `Bearer ${rawKey("main")}`;
    const reply = await fetch(`${rig.gateway.origin}/v1/realtime`, {
      method: "POST",
      headers: { authorization },
      body: "{}",
    });
    assert.equal(reply.status, 405);
    assert.equal(reply.headers.get("allow"), "GET");
  });

  for (const target of ["/realtime?model=talk", "/v1/v1/realtime?model=talk", "/v1/realtime?model=ta%6Ck&other=1"]) {
    it(`takes ${target}`, async () => {
      const client = await rig.connect({ target });
      await client.waitFor("session.created");
      assert.equal(rig.upstream.session.url.search, "?model=up-talk");
    });
  }

  it("accepts the subprotocol realtime and no other", async () => {
    const both = await rig.connect({ protocols: ["openai-beta.realtime-v1", "realtime"] });
    assert.equal(both.socket.protocol, "realtime");
    assert.equal(both.socket.extensions, "");
  });

  it("holds a place among the calls in flight for as long as it is open", async () => {
    const first = await rig.connect({ key: "one-at-a-time" });
    const refused = await rig.refused({ key: "one-at-a-time" });
    assert.equal(refused.status, 429);
    assert.equal(JSON.parse(refused.body).error.code, "concurrency_limit_exceeded");
    first.send({ type: "response.create" });
    await first.waitFor("response.done");
    first.socket.close(1000);
    await first.waitClosed();
    await rig.logLine("the end of the first", (line) => line["status"] === 101 && line["end"] === "--");
    await rig.connect({ key: "one-at-a-time" });
  });

  for (const [status, body, wanted, code] of [
    [
      401,
      '{"error":{"code":"invalid_api_key","message":"Incorrect API key provided: sk-up"}}',
      503,
      "no_available_channel",
    ],
    [429, '{"error":{"code":"rate_limit_exceeded","message":"slow down"}}', 429, "rate_limit_exceeded"],
    [500, "", 502, "upstream_error"],
    [404, '{"error":{"code":"model_not_found","message":"no up-talk"}}', 404, "model_not_found"],
    [302, "", 502, "upstream_error"],
    [200, "{}", 502, "upstream_error"],
  ] as const) {
    it(`says in its own words that every upstream answered ${status}`, async () => {
      const location = `location: http://127.0.0.1:${rig.upstreams[1]?.port}/v1/elsewhere`;
      for (const upstream of rig.upstreams) upstream.refusal = { status, body, headers: [location] };
      const refused = await rig.refused();
      assert.equal(refused.status, wanted, refused.body);
      assert.equal(JSON.parse(refused.body).error.code, code);
      assert.ok(
        !refused.body.includes(channelSecret) && !refused.body.includes("up-talk") && !refused.body.includes("sk-up"),
      );
    });
  }

  it("goes to the next target where one refuses, and no redirect is followed", async () => {
    rig.upstream.refusal = {
      status: 500,
      headers: [`location: http://127.0.0.1:${rig.upstreams[1]?.port}/v1/elsewhere`],
    };
    const client = await rig.connect();
    await client.waitFor("session.created");
    const [, second] = rig.upstreams;
    assert.equal(second?.session.url.pathname, "/v1/realtime");
    client.socket.close();
    const line = await rig.logLine("the session", ({ status, attempts }) => status === 101 && attempts === 2);
    assert.equal(line["channel"], "default/c1");
  });
});

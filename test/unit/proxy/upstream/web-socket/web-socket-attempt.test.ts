/** How a WebSocket to a channel is opened, under the same egress rules as every other connection to it. */
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, createServer as createTcpServer, type Socket } from "node:net";
import { afterEach, beforeEach, describe, it } from "mocha";
import { WebSocketServer } from "ws";
import { buildAuthority, buildLeaf } from "#operator/certificates/build-certificate";
import { defaultLimits } from "#proxy/limits";
import type { Channel } from "#proxy/snapshot/types.gen";
import { UpstreamPools } from "#proxy/upstream/pools/upstream-pool";
import { WebSocketAttempt, type WebSocketOutcome } from "#proxy/upstream/web-socket/web-socket-attempt";
import { FakeRealtime } from "#test/support/realtime/fake-realtime";
import { waitFor } from "#test/support/wait-for";
import { wireChannel } from "#test/support/wire-objects";

const loopback = ["127.0.0.0/8"];

describe("a WebSocket to a channel", () => {
  let pools: UpstreamPools;
  let upstream: FakeRealtime;
  let proxy: Server;
  let seen: string[];
  let onTunnel: (client: Socket, target: string) => void;
  const opened: WebSocketOutcome[] = [];

  beforeEach(async () => {
    pools = new UpstreamPools(defaultLimits);
    upstream = await FakeRealtime.start();
    seen = [];
    proxy = createServer((_request, response) => response.writeHead(502).end());
    proxy.on("connect", ({ url = "", headers }, client: Socket) => {
      seen.push(`CONNECT ${url} ${headers["proxy-authorization"] ?? ""}`.trim());
      client.on("error", () => undefined);
      onTunnel(client, url);
    });
    onTunnel = (client, target) => {
      const [host = "", port] = target.split(":");
      const onward = connect(Number(port), host, () => {
        client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
        client.pipe(onward).pipe(client);
      });
      onward.on("error", () => client.destroy());
    };
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  });

  afterEach(async () => {
    for (const outcome of opened.splice(0)) if (outcome.kind === "open") outcome.webSocket.terminate();
    await upstream.close();
    await pools.destroy();
    proxy.close();
    proxy.closeAllConnections();
  });

  const portOf = (server: { address(): unknown }): number => {
    const address = server.address();
    return typeof address === "object" && address !== null && "port" in address ? Number(address.port) : 0;
  };

  interface Options {
    readonly channel?: Partial<Channel>;
    readonly cidrs?: readonly string[];
    readonly connectTimeoutMs?: number;
    readonly replyTimeoutMs?: number;
  }

  function attempt({ channel = {}, cidrs = loopback, connectTimeoutMs = 1_000, replyTimeoutMs = 1_000 }: Options = {}) {
    const wired = wireChannel("a", { baseURL: `http://127.0.0.1:${upstream.port}/v1`, ...channel });
    return new WebSocketAttempt({
      origin: new URL(wired.baseURL).origin,
      path: "/v1/realtime?model=m",
      headers: ["authorization", "Bearer secret"],
      connect: (onRead) => pools.openSocket(wired, cidrs, connectTimeoutMs, onRead),
      connectTimeoutMs,
      replyTimeoutMs,
      messageBytesMax: 1_000_000,
      headBytesMax: 16_384,
    });
  }

  async function outcomeOf(options: Options = {}): Promise<WebSocketOutcome> {
    const outcome = await attempt(options).outcome;
    opened.push(outcome);
    return outcome;
  }

  async function failureOf(options: Options): Promise<{ kind: string; isSent: boolean }> {
    const outcome = await outcomeOf(options);
    assert.ok(outcome.kind === "failure", outcome.kind);
    return { kind: outcome.failure.kind, isSent: outcome.failure.isSent };
  }

  it("keeps the first message until its owner listens", async () => {
    const outcome = await outcomeOf();
    assert.ok(outcome.kind === "open");
    const { webSocket } = outcome;
    await waitFor("the upstream's first message to be on its way", () => upstream.sessions.length === 1);
    const first = new Promise((resolve) => {
      webSocket.listen({
        onMessage: (message) => resolve(message.toString()),
        onReadEnd: () => undefined,
        onDrained: () => undefined,
        onClosed: () => undefined,
      });
    });
    assert.match(String(await first), /session\.created/);
    assert.equal(upstream.session.headers.authorization, "Bearer secret");
    assert.equal(upstream.session.headers["sec-websocket-extensions"], undefined);
  });

  it("passes messages both ways over TLS, through the memory that all connections read into", async () => {
    const day = 24 * 3_600_000;
    const validity = { notBeforeMs: Date.now() - day, notAfterMs: Date.now() + day };
    const authority = await buildAuthority("test", validity);
    const leaf = await buildLeaf(authority, { ...validity, dnsNames: ["localhost"] });
    const server = createTlsServer({ cert: leaf.certificate, key: leaf.privateKey });
    const echo = new WebSocketServer({ server });
    echo.on("connection", (socket) => socket.on("message", (data) => socket.send(data, { binary: false })));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const baseURL = `https://localhost:${portOf(server)}/v1`;
    const outcome = await outcomeOf({ channel: { baseURL, tls: { ca: authority.certificate } } });
    assert.ok(outcome.kind === "open", JSON.stringify(outcome));
    const { webSocket } = outcome;
    const received: string[] = [];
    webSocket.listen({
      onMessage: (message) => received.push(message.toString()),
      onReadEnd: () => undefined,
      onDrained: () => undefined,
      onClosed: () => undefined,
    });
    const messages = Array.from({ length: 40 }, (_, index) => String(index % 10).repeat(1 + index * 5_000));
    for (const message of messages) webSocket.send(message);
    await waitFor("all to come back", () => received.length === messages.length);
    assert.deepEqual(received, messages);
    webSocket.terminate();
    echo.close();
    server.close();
  });

  for (const [name, channel] of [
    ["a private address", {}],
    ["the metadata address", { baseURL: "http://169.254.169.254/v1" }],
    ["a name that resolves to a private address", { baseURL: "http://localhost:1/v1" }],
    ["a proxy at a private address", { baseURL: "http://203.0.113.1/v1", proxyURL: "http://127.0.0.1:1" }],
  ] as const) {
    it(`is not opened to ${name} that the policy does not allow`, async () => {
      assert.deepEqual(await failureOf({ channel, cidrs: [] }), { kind: "egress", isSent: false });
      assert.equal(upstream.openConnections, 0);
    });
  }

  it("goes through a tunnel where the channel has a proxy, also without TLS", async () => {
    const outcome = await outcomeOf({ channel: { proxyURL: `http://me:p%40ss@127.0.0.1:${portOf(proxy)}` } });
    assert.equal(outcome.kind, "open");
    assert.deepEqual(seen, [`CONNECT 127.0.0.1:${upstream.port} Basic ${Buffer.from("me:p@ss").toString("base64")}`]);
  });

  it("cannot be opened where the proxy refuses", async () => {
    onTunnel = (client) => client.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
    const channel = { proxyURL: `http://127.0.0.1:${portOf(proxy)}` };
    assert.deepEqual(await failureOf({ channel }), { kind: "connect", isSent: false });
  });

  it("is given up when the tunnel does not stand in time", async () => {
    onTunnel = () => undefined;
    const channel = { proxyURL: `http://127.0.0.1:${portOf(proxy)}` };
    assert.deepEqual(await failureOf({ channel, connectTimeoutMs: 60 }), { kind: "connect-timeout", isSent: false });
    assert.equal(upstream.handshakes, 0);
  });

  it("cannot be opened where nobody listens", async () => {
    const { port } = upstream;
    await upstream.close();
    assert.deepEqual(await failureOf({ channel: { baseURL: `http://127.0.0.1:${port}/v1` } }), {
      kind: "connect",
      isSent: false,
    });
  });

  it("is given up when the handshake is not answered in time", async () => {
    upstream.isSilent = true;
    assert.deepEqual(await failureOf({ replyTimeoutMs: 60 }), { kind: "first-byte-timeout", isSent: true });
    await waitFor("the connection to end", () => upstream.openConnections === 0);
  });

  it("hands on what the upstream answers instead, and follows no redirect", async () => {
    const elsewhere = await FakeRealtime.start();
    upstream.refusal = { status: 307, headers: [`location: http://127.0.0.1:${elsewhere.port}/`], body: "moved" };
    const outcome = await outcomeOf();
    assert.ok(outcome.kind === "refused");
    assert.deepEqual([outcome.status, String(outcome.body)], [307, "moved"]);
    assert.equal(elsewhere.openConnections, 0);
    await elsewhere.close();
  });

  it("takes the head of a long refusal, and no more", async () => {
    upstream.refusal = { status: 500, body: "x".repeat(1_000_000) };
    const outcome = await outcomeOf();
    assert.ok(outcome.kind === "refused");
    assert.ok(outcome.body.length <= 64 * 1_024);
    await waitFor("the connection to end", () => upstream.openConnections === 0);
  });

  it("fails where what answers is no HTTP, or accepts another key", async () => {
    for (const answer of [
      "garbage\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: AAAA\r\n\r\n",
    ]) {
      const server = createTcpServer((socket) =>
        socket.on("error", () => undefined).once("data", () => socket.write(answer)),
      );
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const channel = { baseURL: `http://127.0.0.1:${portOf(server)}/v1` };
      assert.deepEqual(await failureOf({ channel }), { kind: "broken", isSent: true });
      server.close();
    }
  });

  it("ends when it is aborted, before and after the connection stands", async () => {
    const early = attempt();
    early.abort();
    assert.equal((await early.outcome).kind, "aborted");
    upstream.isSilent = true;
    const before = upstream.handshakes;
    const late = attempt();
    await waitFor("the handshake", () => upstream.handshakes > before);
    late.abort();
    assert.equal((await late.outcome).kind, "aborted");
    await waitFor("the connections to end", () => upstream.openConnections === 0);
  });
});

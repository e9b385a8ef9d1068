import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Upstream } from "#proxy/http1/client/upstream";
import { defaultLimits } from "#proxy/limits";
import type { Channel } from "#proxy/snapshot/types.gen";
import { UpstreamPools } from "#proxy/upstream/pools/upstream-pool";
import { waitFor, within } from "#test/support/wait-for";
import { wireChannel } from "#test/support/wire-objects";

const loopback: readonly string[] = ["127.0.0.0/8", "::1/128"];
const nothing: readonly string[] = [];

describe("UpstreamPools", () => {
  let server: Server;
  let port = 0;
  let connections = 0;
  let pools: UpstreamPools;
  /** Ends the responses that wait. */
  let release: () => void = () => undefined;

  beforeEach(async () => {
    connections = 0;
    server = createServer((request, response) => {
      if (request.url !== "/slow") response.end("ok");
      else release = () => response.end("late");
    });
    server.on("connection", () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    port = typeof address === "object" && address !== null ? address.port : 0;
    pools = new UpstreamPools(defaultLimits);
  });

  afterEach(async () => {
    await pools.destroy();
    server.close();
    server.closeAllConnections();
  });

  function channelAt(host: string, changes: Partial<Channel> = {}): Channel {
    return wireChannel("a", { baseURL: `http://${host}:${port}/v1`, ...changes });
  }

  async function get(upstream: Upstream, path = "/", connectTimeoutMs = 1_000): Promise<string> {
    const reply = new Promise<string>((resolve, reject) => {
      let text = "";
      upstream.send(
        { path, headers: [], body: Buffer.alloc(0), connectTimeoutMs },
        {
          onStart: () => undefined,
          onHead: () => undefined,
          onData: (chunk) => {
            text += chunk.toString();
          },
          onEnd: () => resolve(text),
          onError: reject,
        },
      );
    });
    return await within(5_000, "the reply", reply);
  }

  for (const host of ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"]) {
    it(`refuses ${host} unless its address is allowed, before anything connects`, async () => {
      const channel = channelAt(host);
      await assert.rejects(get(pools.upstreamFor(channel, nothing)), { code: "EGRESS_REFUSED" });
      assert.equal(connections, 0);
    });
  }

  for (const host of ["127.0.0.1", "localhost"]) {
    it(`reaches ${host} where loopback is allowed`, async () => {
      const channel = channelAt(host);
      assert.equal(await get(pools.upstreamFor(channel, loopback)), "ok");
    });
  }

  for (const host of ["169.254.169.254", "0.0.0.0", "[fe80::1]", "[::]"]) {
    it(`never connects to ${host}, whatever is allowed`, async () => {
      const channel = channelAt(host);
      const dispatcher = pools.upstreamFor(channel, ["0.0.0.0/0", "::/0"]);
      await assert.rejects(get(dispatcher), { code: "EGRESS_REFUSED" });
    });
  }

  it("judges the address of a proxy too", () => {
    const channel = wireChannel("a", { proxyURL: `http://127.0.0.1:${port}` });
    assert.throws(() => pools.upstreamFor(channel, nothing), { code: "EGRESS_REFUSED" });
    assert.ok(pools.upstreamFor(channel, loopback) !== undefined);
  });

  it("gives up a connection that does not come about in time, and closes it", async () => {
    let opened = 0;
    const sockets = new Set<Socket>();
    // Takes the connection and never shakes hands.
    const mute = createTcpServer((socket) => {
      opened += 1;
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
      socket.resume();
    });
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    try {
      const address = mute.address();
      const origin = `https://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
      const channel = wireChannel("a", { baseURL: origin });
      const startedMs = performance.now();
      await assert.rejects(get(pools.upstreamFor(channel, loopback), "/", 50), { code: "CONNECT_TIMEOUT" });
      assert.ok(performance.now() - startedMs >= 45);
      await waitFor("the socket to be closed", () => opened === 1 && sockets.size === 0);
    } finally {
      for (const socket of sockets) socket.destroy();
      mute.close();
    }
  });

  it("tells a refused connection from a slow one", async () => {
    const channel = channelAt("127.0.0.1");
    await new Promise((resolve) => server.close(resolve));
    await assert.rejects(get(pools.upstreamFor(channel, loopback)), { code: "ECONNREFUSED" });
  });

  it("shares a pool among channels that connect alike", () => {
    const one = pools.upstreamFor(channelAt("127.0.0.1"), loopback);
    const prefix = wireChannel("b", { baseURL: `http://127.0.0.1:${port}/other` });
    assert.equal(pools.upstreamFor(prefix, loopback), one);
    assert.equal(
      pools.upstreamFor(channelAt("127.0.0.1", { state: "Draining", timeouts: { connectMs: 77 } }), loopback),
      one,
    );
  });

  for (const [name, changes] of Object.entries<Partial<Channel>>({
    "another authority": { tls: { ca: "a" } },
    "another server name": { tls: { serverName: "b" } },
    "another origin": { baseURL: "http://127.0.0.2:9/v1" },
    "a proxy": { proxyURL: "http://127.0.0.1:9" },
  })) {
    it(`keeps ${name} apart`, () => {
      const one = pools.upstreamFor(channelAt("127.0.0.1"), loopback);
      assert.notEqual(pools.upstreamFor(channelAt("127.0.0.1", changes), loopback), one);
    });
  }

  it("uses a connection again", async () => {
    const channel = channelAt("127.0.0.1");
    for (let call = 0; call < 10; call += 1) await get(pools.upstreamFor(channel, loopback));
    // A second one where a call comes before the last one's connection is free.
    assert.ok(connections <= 2, `${connections} connections`);
  });

  it("keeps the pools of channels that stay, and lets the others go once their calls have ended", async () => {
    const channel = channelAt("127.0.0.1");
    const first = pools.upstreamFor(channel, loopback);
    pools.retain([channelAt("127.0.0.1", { headersSet: [] })]);
    assert.equal(pools.upstreamFor(channel, loopback), first);
    let isHeard = false;
    server.on("request", ({ url }) => {
      isHeard ||= url === "/slow";
    });
    const running = get(first, "/slow");
    await waitFor("the call to arrive", () => isHeard);
    pools.retain([]);
    release();
    assert.equal(await running, "late");
    assert.notEqual(pools.upstreamFor(channel, loopback), first);
  });

  it("applies a narrower egress policy to open connections at once", async () => {
    const channel = channelAt("127.0.0.1");
    assert.equal(await get(pools.upstreamFor(channel, loopback)), "ok");
    await assert.rejects(get(pools.upstreamFor(channel, nothing)), { code: "EGRESS_REFUSED" });
  });

  it("keeps its pools while the policy says the same in another list", () => {
    const channel = channelAt("127.0.0.1");
    assert.equal(pools.upstreamFor(channel, [...loopback]), pools.upstreamFor(channel, [...loopback]));
  });

  it("fails what runs when it is destroyed", async () => {
    const channel = channelAt("127.0.0.1");
    const running = assert.rejects(get(pools.upstreamFor(channel, loopback), "/slow"));
    await waitFor("the connection", () => connections === 1);
    await pools.destroy();
    await running;
  });
});

/** Channels with `proxyURL`: through a tunnel and in no other way, within the time that the request gives it. */
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, it } from "mocha";
import { defaultLimits } from "#proxy/limits";
import { UpstreamPools } from "#proxy/upstream/pools/upstream-pool";
import { waitFor } from "#test/support/wait-for";
import { wireChannel } from "#test/support/wire-objects";

const loopback = ["127.0.0.0/8"];

describe("an upstream behind a proxy", () => {
  let pools: UpstreamPools;
  let upstream: Server;
  let proxy: Server;
  /** Request lines and credentials that the proxy saw. */
  let seen: string[];
  let sockets: Set<Socket>;
  let onTunnel: (client: Socket, target: string) => void;

  beforeEach(async () => {
    pools = new UpstreamPools(defaultLimits);
    seen = [];
    sockets = new Set();
    upstream = createServer((request, response) => response.end(`${request.method} ${request.url}`));
    proxy = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.writeHead(502).end();
    });
    proxy.on("connection", (socket) => sockets.add(socket.on("close", () => sockets.delete(socket))));
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
    for (const server of [upstream, proxy])
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });

  afterEach(async () => {
    await pools.destroy();
    for (const socket of sockets) socket.destroy();
    for (const server of [upstream, proxy]) {
      server.close();
      server.closeAllConnections();
    }
  });

  const portOf = (server: Server): number => {
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  };

  function call({ connectTimeoutMs = 1_000, user = "" } = {}): Promise<string> {
    const channel = wireChannel("a", {
      baseURL: `http://127.0.0.1:${portOf(upstream)}/v1`,
      proxyURL: `http://${user}127.0.0.1:${portOf(proxy)}`,
    });
    return new Promise((resolve, reject) => {
      let text = "";
      pools.upstreamFor(channel, loopback).send(
        { path: "/v1/x", headers: ["authorization", "Bearer secret"], body: Buffer.from("{}"), connectTimeoutMs },
        {
          onStart: () => undefined,
          onHead: () => undefined,
          onData: (chunk) => {
            text += chunk;
          },
          onEnd: () => resolve(text),
          onError: reject,
        },
      );
    });
  }

  it("is asked through a tunnel without TLS, too: the proxy sees no call", async () => {
    assert.equal(await call(), "POST /v1/x");
    assert.deepEqual(seen, [`CONNECT 127.0.0.1:${portOf(upstream)}`]);
  });

  it("gives the proxy the credentials that its address holds", async () => {
    await call({ user: "me:p%40ss@" });
    assert.deepEqual(seen, [
      `CONNECT 127.0.0.1:${portOf(upstream)} Basic ${Buffer.from("me:p@ss").toString("base64")}`,
    ]);
  });

  it("is given up when the tunnel does not stand in time, and is not asked afterwards", async () => {
    let held: Socket | undefined;
    onTunnel = (client) => {
      held = client;
    };
    const startedMs = performance.now();
    await assert.rejects(call({ connectTimeoutMs: 60 }), { code: "CONNECT_TIMEOUT" });
    assert.ok(performance.now() - startedMs < 1_000);
    assert.ok(held);
    let asked = "";
    held.on("data", (bytes) => {
      asked += bytes;
    });
    held.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    assert.equal(
      await waitFor("the next call to go its own way", () => call({ connectTimeoutMs: 60 }).catch(() => "none")),
      "none",
    );
    assert.equal(asked, "");
  });

  it("cannot be reached when the proxy refuses", async () => {
    onTunnel = (client) => client.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
    await assert.rejects(call());
  });
});

import assert from "node:assert/strict";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { buildAuthority, buildLeaf, type KeyPair } from "#operator/certificates/build-certificate";
import { ConnectionPool, type ConnectionPoolOptions } from "#proxy/http1/client/connection-pool";
import { armDeadline } from "#proxy/runtime/deadlines";
import { EgressPolicy } from "#proxy/snapshot/egress-policy";
import { guardedLookup } from "#proxy/upstream/pools/guarded-connector";
import { within } from "#test/support/wait-for";

describe("ConnectionPool over TLS", () => {
  let authority: KeyPair;
  let server: Server;
  let port = 0;
  let sockets: TLSSocket[] = [];
  const names: (string | false)[] = [];
  const pools: ConnectionPool[] = [];

  before(async () => {
    const validity = { notBeforeMs: Date.now() - 3_600_000, notAfterMs: Date.now() + 3_600_000 };
    authority = await buildAuthority("models", validity);
    const leaf = await buildLeaf(authority, { ...validity, dnsNames: ["localhost", "models.example.com"] });
    server = createServer({ cert: leaf.certificate, key: leaf.privateKey, ALPNProtocols: ["http/1.1"] }, (socket) => {
      sockets.push(socket);
      names.push(socket.servername ?? false);
      socket.on("error", () => undefined);
      socket.on("data", (bytes) => {
        const body = bytes.toString("latin1").split("\r\n\r\n")[1] ?? "";
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      });
    });
    server.on("tlsClientError", () => undefined);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    port = typeof address === "object" && address !== null ? address.port : 0;
  });

  afterEach(async () => {
    for (const pool of pools.splice(0)) await pool.destroy();
    for (const socket of sockets) socket.destroy();
    sockets = [];
    names.length = 0;
  });
  after(() => server.close());

  function poolTo(host: string, tls: ConnectionPoolOptions["tls"]): ConnectionPool {
    const pool = new ConnectionPool({
      origin: new URL(`https://${host}:${port}`),
      headBytesMax: 16_384,
      lookup: guardedLookup(new EgressPolicy(["127.0.0.0/8", "::1/128"])),
      armDeadline,
      checkHost: () => undefined,
      tls,
    });
    pools.push(pool);
    return pool;
  }

  function send(pool: ConnectionPool, body: string): Promise<string> {
    const whole = new Promise<string>((resolve, reject) => {
      let text = "";
      pool.send(
        { path: "/v1", headers: [], body: Buffer.from(body), connectTimeoutMs: 2_000 },
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
    return within(5_000, "the answer", whole);
  }

  it("speaks to an upstream whose authority the channel names, and keeps the connection", async () => {
    const pool = poolTo("localhost", { ca: authority.certificate });
    for (const body of ["one", "two", "three"]) assert.equal(await send(pool, body), body);
    assert.equal(sockets.length, 1);
    assert.deepEqual(names, ["localhost"]);
  });

  it("asks for the name that the channel gives instead of the host's", async () => {
    const tls = { ca: authority.certificate, servername: "models.example.com" };
    assert.equal(await send(poolTo("127.0.0.1", tls), "x"), "x");
    assert.deepEqual(names, ["models.example.com"]);
  });

  it("refuses an upstream that no known authority vouches for, and sends it nothing", async () => {
    await assert.rejects(send(poolTo("localhost", {}), "secret"), { code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" });
    assert.ok(sockets.every((socket) => socket.bytesRead === 0));
  });

  it("refuses an upstream whose certificate is for another name", async () => {
    const pool = poolTo("127.0.0.1", { ca: authority.certificate });
    await assert.rejects(send(pool, "secret"), { code: "ERR_TLS_CERT_ALTNAME_INVALID" });
    assert.ok(sockets.every((socket) => socket.bytesRead === 0));
  });

  it("tells its caller of a client certificate that is none", async () => {
    const pool = poolTo("localhost", { cert: "foo", key: "bar" });
    await assert.rejects(send(pool, "x"), /PEM/);
  });
});

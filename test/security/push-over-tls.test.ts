/**
 * docs/design/reliability.md J15 over TLS: an impostor sees no byte of the configuration, whatever it shows, and is
 * counted.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { request } from "node:https";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { buildAuthority } from "#operator/certificates/build-certificate";
import { PushClient } from "#proxy/sync/push-client";
import { SnapshotStore } from "#proxy/sync/snapshot-store";
import { tlsTransport } from "#proxy/sync/tls-transport";
import { type RigOperator, serverName, TlsRig } from "#test/support/fleet/tls-rig";
import { accounts } from "#test/support/fleet/tokens";
import { eventually } from "#test/support/push-rig";
import { sha256Of, wireCredential, wireKey } from "#test/support/wire-objects";

const canary = "canary-secret";

function helloOf(proxy: string): string {
  return JSON.stringify({
    type: "hello",
    protocols: [1],
    build: "test",
    proxy,
    capabilities: [],
    epoch: 0,
    revision: 0,
    digest: "",
    sums: "",
    rejects: [],
    versions: {},
  });
}

describe("push endpoint over TLS", () => {
  let rig: TlsRig;
  let operator: RigOperator;

  before(async () => {
    rig = await TlsRig.start();
    operator = await rig.operator("operator-a", [wireKey("one"), wireCredential("main", "main", canary)]);
    rig.lead(operator);
  });
  after(() => rig.close());

  interface Reply {
    readonly status: number;
    readonly text: string;
  }

  /** Sends one request and gives what came within a moment of its head, be it a stream. */
  function post(path: string, body: string, authorization: string | string[] | undefined): Promise<Reply> {
    const headers: Record<string, string | string[]> = { "content-type": "application/json" };
    if (authorization !== undefined) headers["authorization"] = authorization;
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const outgoing = request(
      {
        host: operator.address,
        port: rig.port,
        method: "POST",
        path,
        headers,
        servername: serverName,
        ca: rig.trusted,
      },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (piece: string) => {
          text += piece;
          if (answer.statusCode === 200 && text.includes("\n")) answer.destroy();
        });
        answer.on("close", () => resolve({ status: answer.statusCode ?? 0, text }));
        answer.on("error", () => {});
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
    return promise;
  }

  /** A stream that stays open, by its id. */
  function openStream(proxy: string, authorization: string): Promise<{ id: string; close: () => void }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ id: string; close: () => void }>();
    const headers = { "content-type": "application/json", authorization };
    const outgoing = request(
      {
        host: operator.address,
        port: rig.port,
        method: "POST",
        path: "/push/v1/stream",
        headers,
        servername: serverName,
        ca: rig.trusted,
      },
      (answer) => {
        let text = "";
        answer.on("error", () => {});
        answer.setEncoding("utf8").on("data", (piece: string) => {
          text += piece;
          const id = /^\{"type":"welcome".*"stream":"([^"]+)"/.exec(text)?.[1];
          if (id !== undefined) resolve({ id, close: () => answer.destroy() });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(helloOf(proxy));
    return promise;
  }

  async function refusals(reason: string): Promise<number> {
    const metrics = await operator.registry.metrics();
    return Number(new RegExp(`^tollgate_push_refused_total{reason="${reason}"} ([0-9]+)$`, "m").exec(metrics)?.[1]);
  }

  const bearer = (token: string) => `Bearer ${token}`;
  const forged = (token: string) => `${token.slice(0, -4)}AAAA`;

  for (const row of [
    { name: "no token", header: () => undefined, status: 401, reason: "no_token" },
    { name: "a password", header: () => "Basic cHJveHk6cHJveHk=", status: 401, reason: "malformed_token" },
    { name: "a guess", header: () => bearer("guess"), status: 401, reason: "malformed_token" },
    {
      name: "a token that nobody signed",
      header: () => bearer(forged(rig.issuer.issue({ pod: "proxy-1" }))),
      status: 401,
      reason: "not_authenticated",
    },
    {
      name: "two tokens, the first of them good",
      header: () => [bearer(rig.issuer.issue({ pod: "proxy-1" })), bearer("guess")],
      status: 401,
      reason: "malformed_token",
    },
    {
      name: "a token for another audience",
      header: () => bearer(rig.issuer.issue({ pod: "proxy-1", audiences: ["https://kubernetes.default.svc"] })),
      status: 401,
      reason: "wrong_audience",
    },
    {
      name: "the token of another namespace's pod",
      header: () =>
        bearer(rig.issuer.issue({ pod: "proxy-1", username: "system:serviceaccount:elsewhere:tollgate-proxy" })),
      status: 401,
      reason: "wrong_account",
    },
    {
      name: "the token of another account",
      header: () => bearer(rig.issuer.issue({ pod: "proxy-1", username: "system:serviceaccount:tollgate:default" })),
      status: 401,
      reason: "wrong_account",
    },
    {
      name: "a token of no pod",
      header: () => bearer(rig.issuer.issue({})),
      status: 401,
      reason: "no_pod",
    },
    {
      name: "an expired token",
      header: () => bearer(rig.issuer.issue({ pod: "proxy-1", expiresAtMs: Date.now() - 1_000 })),
      status: 401,
      reason: "not_authenticated",
    },
    {
      name: "the token of a pod that is gone",
      header: () => {
        const token = rig.issuer.issue({ pod: "proxy-1" });
        rig.issuer.revoke(token);
        return bearer(token);
      },
      status: 401,
      reason: "not_authenticated",
    },
    {
      name: "another pod's token, replayed",
      header: () => bearer(rig.issuer.issue({ pod: "proxy-2" })),
      status: 403,
      reason: "wrong_pod",
    },
    {
      name: "an operator's token",
      header: () => bearer(rig.issuer.issue({ pod: "operator-b", username: accounts.operator })),
      status: 403,
      reason: "wrong_role",
    },
  ]) {
    it(`answers ${row.name} with ${row.status} and no byte of the configuration`, async () => {
      const before = await refusals(row.reason);
      const { status, text } = await post("/push/v1/stream", helloOf("proxy-1"), row.header());
      assert.equal(status, row.status);
      assert.doesNotMatch(text, /canary|digest|team-a|transaction/);
      assert.equal(await refusals(row.reason), before + 1);
    });
  }

  it("answers a good token with the configuration, as the cases above would otherwise prove nothing", async () => {
    const token = bearer(rig.issuer.issue({ pod: "proxy-1" }));
    const { status, text } = await post("/push/v1/stream", helloOf("proxy-1"), token);
    assert.equal(status, 200);
    assert.match(text, /^\{"type":"welcome"/);
  });

  it("refuses a proxy's token where operators talk to each other", async () => {
    const before = await refusals("wrong_role");
    const summary = JSON.stringify({ type: "summary", operator: "x", groups: [], joining: [] });
    const token = bearer(rig.issuer.issue({ pod: "proxy-1" }));
    assert.equal((await post("/peers/v1/summary", summary, token)).status, 403);
    assert.equal((await post("/peers/v1/reports/proxy-2", "{}", token)).status, 403);
    assert.equal(await refusals("wrong_role"), before + 2);
    const operators = bearer(rig.issuer.issue({ pod: "operator-b", username: accounts.operator }));
    assert.equal((await post("/peers/v1/summary", '{"type":"summary","groups":"canary"}', operators)).status, 400);
    assert.equal((await post("/peers/v1/summary", summary, operators)).status, 204);
  });

  it("lets nobody post for another pod's stream", async () => {
    const own = bearer(rig.issuer.issue({ pod: "proxy-9" }));
    const { id, close } = await openStream("proxy-9", own);
    const path = `/push/v1/streams/${id}/messages`;
    const pong = JSON.stringify({ type: "pong", at: 1 });
    assert.equal((await post(path, pong, bearer(rig.issuer.issue({ pod: "proxy-1" })))).status, 409);
    assert.equal((await post(path, pong, undefined)).status, 401);
    const operators = bearer(rig.issuer.issue({ pod: "proxy-9", username: accounts.operator }));
    assert.equal((await post(path, pong, operators)).status, 403);
    assert.equal((await post(path, pong, own)).status, 204);
    const renewed = bearer(rig.issuer.issue({ pod: "proxy-9" }));
    assert.equal((await post(path, pong, renewed)).status, 204, "a renewed token of the same pod");
    close();
  });

  it("refuses an epoch that no restore explains, and raises nothing for it", async () => {
    const token = bearer(rig.issuer.issue({ pod: "proxy-1" }));
    const hello = helloOf("proxy-1").replace('"epoch":0', '"epoch":9007199254740991');
    assert.equal((await post("/push/v1/stream", hello, token)).status, 400);
    assert.equal(rig.epochs.data, undefined);
  });

  it("closes on plain HTTP without a byte", async () => {
    const before = await refusals("not_tls");
    const socket = connectTcp(rig.port, operator.address);
    let received = "";
    socket.on("data", (piece) => {
      received += piece;
    });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {});
    socket.write(`POST /push/v1/stream HTTP/1.1\r\nhost: push\r\ncontent-length: 0\r\n\r\n`);
    await closed;
    assert.doesNotMatch(received, /canary|team-a|HTTP\/1.1 200/);
    assert.equal(await refusals("not_tls"), before + 1);
  });

  it("closes on TLS 1.2 before anything is sent", async () => {
    const before = await refusals("tls_version");
    const socket = connectTls({
      host: operator.address,
      port: rig.port,
      servername: serverName,
      ca: rig.trusted,
      maxVersion: "TLSv1.2",
    });
    const [error] = await new Promise<[Error]>((resolve, reject) => {
      socket.once("error", (cause) => resolve([cause]));
      socket.once("secureConnect", () => reject(new Error("TLS 1.2 was taken")));
    });
    assert.match(error.message, /protocol|version/i);
    await eventually("closed", () => socket.destroyed);
    assert.equal(await refusals("tls_version"), before + 1);
  });

  for (const row of [
    { name: "an authority that it does not know", trusted: async () => (await foreignAuthority()).certificate },
    { name: "a bundle without any authority", trusted: async () => "" },
    { name: "a certificate of another name", trusted: async () => rig.trusted, otherName: "other.tollgate.svc" },
  ]) {
    it(`shows no token to an operator with ${row.name}`, async () => {
      const caFile = join(rig.folder, "impostor.ca");
      const tokenFile = join(rig.folder, "impostor.token");
      await writeFile(caFile, await row.trusted());
      await writeFile(tokenFile, rig.issuer.issue({ pod: "proxy-1" }));
      const reviewsBefore = rig.issuer.reviews;
      const store = new SnapshotStore();
      let reason = "";
      const client = new PushClient({
        transport: tlsTransport({
          url: `https://push.test:${rig.port}`,
          serverName: row.otherName ?? serverName,
          caFile,
          tokenFile,
          replyTimeoutMs: 5_000,
          resolve: async () => [operator.address],
        }),
        store,
        proxy: "proxy-1",
        build: "test",
        heartbeatMs: 10_000,
        deadMs: 30_000,
        onEvent: (event) => {
          if (event.type === "disconnected") reason = event.reason;
        },
      });
      client.start();
      await eventually("refused", () => reason !== "");
      await client.close();
      assert.match(reason, /certificate|altnames/i);
      assert.equal(store.pin().findKey(sha256Of("sk-one")), undefined);
      assert.equal(rig.issuer.reviews, reviewsBefore);
    });
  }

  function foreignAuthority() {
    return buildAuthority("tollgate push", { notBeforeMs: Date.now() - 1_000, notAfterMs: Date.now() + 60_000 });
  }
});

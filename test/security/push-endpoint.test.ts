/**
 * docs/design/reliability.md J15: who may not be served sees no byte of the configuration, and nobody speaks for
 * another's stream.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Server } from "node:http";
import { Fleet } from "#operator/push/fleet";
import { Publisher } from "#operator/push/publisher";
import { createPushServer } from "#operator/push/push-server";
import { byId } from "#test/support/push-rig";
import { wireCredential, wireKey } from "#test/support/wire-objects";

const hello = {
  type: "hello",
  protocols: [1],
  build: "test",
  proxy: "proxy-1",
  capabilities: [],
  epoch: 0,
  revision: 0,
  digest: "",
  sums: "",
  rejects: [],
};

describe("push endpoint", () => {
  let server: Server;
  let publisher: Publisher;
  let base: string;

  beforeEach(async () => {
    publisher = new Publisher();
    publisher.publish(byId(wireKey("one"), wireCredential("main", "main", "canary-secret")));
    server = createPushServer({
      publisher,
      fleet: new Fleet(publisher),
      operator: "operator",
      heartbeatMs: 10_000,
      deadMs: 30_000,
      authenticateProxy: async ({ headers }) => {
        const name = /^Bearer token-of-(.+)$/.exec(headers.authorization ?? "")?.[1];
        return name === undefined ? undefined : { name };
      },
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    base = `http://127.0.0.1:${address.port}/push/v1`;
  });
  afterEach(async () => {
    publisher.close();
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });

  function post(path: string, body: string, authorization?: string): Promise<Response> {
    const headers = { "content-type": "application/json", ...(authorization === undefined ? {} : { authorization }) };
    return fetch(base + path, { method: "POST", headers, body });
  }

  for (const row of [
    { name: "no token", authorization: undefined },
    { name: "a wrong token", authorization: "Bearer guess" },
    { name: "another scheme", authorization: "Basic token-of-a" },
  ]) {
    it(`answers ${row.name} with 401 and no byte of the configuration`, async () => {
      const response = await post("/stream", JSON.stringify(hello), row.authorization);
      assert.equal(response.status, 401);
      assert.doesNotMatch(await response.text(), /canary|digest|team-a/);
    });
  }

  for (const row of [
    { name: "a body that is not JSON", body: '{"canary' },
    { name: "no hello", body: "{}" },
    { name: "a hello with a damaged member", body: JSON.stringify({ ...hello, revision: "canary" }) },
    { name: "an array", body: "[]" },
  ]) {
    it(`answers ${row.name} with 400 that repeats nothing of it`, async () => {
      const response = await post("/stream", row.body, "Bearer token-of-a");
      assert.equal(response.status, 400);
      assert.doesNotMatch(await response.text(), /canary/);
    });
  }

  it("answers a version that it does not speak with 426", async () => {
    const response = await post("/stream", JSON.stringify({ ...hello, protocols: [7] }), "Bearer token-of-a");
    assert.equal(response.status, 426);
    await response.body?.cancel();
  });

  it("answers a body beyond its bound with 413", async () => {
    const response = await post("/stream", `"${"x".repeat(3 * 1024 * 1024)}"`, "Bearer token-of-a");
    assert.equal(response.status, 413);
    await response.body?.cancel();
  });

  it("takes messages for a stream only from whoever opened it", async () => {
    const stream = await post("/stream", JSON.stringify(hello), "Bearer token-of-a");
    const reader = stream.body?.getReader();
    const first = Buffer.from((await reader?.read())?.value ?? new Uint8Array()).toString();
    const id: unknown = JSON.parse(first.slice(0, first.indexOf("\n"))).stream;
    const pong = JSON.stringify({ type: "pong", at: 1 });
    assert.equal((await post(`/streams/${id}/messages`, pong, "Bearer token-of-b")).status, 409);
    assert.equal((await post(`/streams/${id}/messages`, pong)).status, 401);
    assert.equal((await post("/streams/unknown/messages", pong, "Bearer token-of-a")).status, 409);
    assert.equal((await post(`/streams/${id}/messages`, '{"type":"replace"}', "Bearer token-of-a")).status, 400);
    assert.equal((await post(`/streams/${id}/messages`, pong, "Bearer token-of-a")).status, 204);
    await reader?.cancel();
  });
});

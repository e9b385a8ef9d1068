/** The tools of the other tests do what they say: an oracle that lies would make every other test worthless. */
import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { FakeUpstream } from "#test/support/fake-upstream";
import { FaultRelay } from "#test/support/fault-relay";
import { RawClient } from "#test/support/raw-client";
import { waitFor, within } from "#test/support/wait-for";

const request = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}";

describe("fault tools", () => {
  const open: { close(): unknown }[] = [];

  afterEach(async () => {
    for (const tool of open.splice(0).reverse()) await tool.close();
  });

  async function setUp(port?: number): Promise<{ upstream: FakeUpstream; client: RawClient }> {
    const upstream = await FakeUpstream.start({ body: "0123456789", headers: { "content-type": "text/plain" } });
    const client = await RawClient.connect({ port: port ?? upstream.port });
    open.push(upstream, client);
    return { upstream, client };
  }

  for (const row of [
    { name: "replays a body with its length", reply: {}, body: "0123456789", isComplete: true },
    { name: "replays a body in single bytes", reply: { fragmentBytes: 1 }, body: "0123456789", isComplete: true },
    {
      name: "replays a body until the connection ends",
      reply: { framing: "close" as const },
      body: "0123456789",
      isComplete: true,
    },
    { name: "cuts after 4 bytes with FIN", reply: { cutAt: 4 }, body: "0123", isComplete: false },
    { name: "cuts before any byte", reply: { cutAt: 0 }, body: "", isComplete: false },
    {
      name: "cuts a body of known length",
      reply: { cutAt: 4, framing: "length" as const },
      body: "0123",
      isComplete: false,
    },
  ]) {
    it(row.name, async () => {
      const { upstream, client } = await setUp();
      upstream.replyWith({ body: "0123456789", ...row.reply });
      client.write(request);
      const response = await client.readResponse();
      assert.deepEqual(
        [response.status, response.body.toString(), response.isComplete],
        [200, row.body, row.isComplete],
      );
      assert.equal(upstream.requests.length, 1);
      assert.deepEqual(upstream.requests[0]?.json(), {});
    });
  }

  it("resets, and the client sees the reset", async () => {
    const { upstream, client } = await setUp();
    upstream.replyWith({ resetAtOnce: true });
    client.write(request);
    await client.readToEnd();
    assert.equal(client.error !== undefined && "code" in client.error && client.error.code, "ECONNRESET");
  });

  it("stalls, and sees the client leave", async () => {
    const { upstream, client } = await setUp();
    upstream.replyWith({ body: "0123456789", stallAt: 3 });
    client.write(request);
    await client.readUntil("three bytes", (bytes) => bytes.includes("012"));
    const leftAtMs = performance.now();
    client.close();
    const abortedAtMs = await waitFor("the close to be seen", () => upstream.requests[0]?.abortedAtMs);
    assert.ok(abortedAtMs >= leftAtMs && abortedAtMs - leftAtMs < 1000);
  });

  it("serves several requests of one connection", async () => {
    const { upstream, client } = await setUp();
    await client.writeInPieces(request + request, 1);
    await client.readResponse();
    await client.readResponse();
    assert.deepEqual([upstream.requests.length, upstream.connectionCount], [2, 1]);
  });

  it("relays, stalls, resumes and cuts", async () => {
    const upstream = await FakeUpstream.start({ body: "{}" });
    const relay = await FaultRelay.start({ port: upstream.port });
    const client = await RawClient.connect({ port: relay.port });
    open.push(upstream, relay, client);
    client.write(request);
    assert.equal((await client.readResponse()).status, 200);
    relay.stall();
    client.write(request);
    await assert.rejects(client.readResponse(100), /still waiting/);
    relay.resume();
    assert.equal((await client.readResponse()).status, 200);
    relay.cut();
    await client.readToEnd();
    assert.equal(relay.bytesUp, request.length * 2);
  });

  it("fails a wait with the name of what was waited for", async () => {
    await assert.rejects(
      waitFor("rain", () => false, { deadlineMs: 20 }),
      /still waiting: rain/,
    );
    await assert.rejects(within(20, "snow", new Promise(() => undefined)), /still waiting: snow/);
  });
});

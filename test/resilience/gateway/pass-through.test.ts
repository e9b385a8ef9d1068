/**
 * What is passed on keeps the promises of every reply: a client that leaves closes its upstream, a slow one holds it back
 * and is cut, a reply that broke off never looks whole, and each call is settled once (docs/design/reliability.md F4, G10,
 * H1).
 */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { after, before, beforeEach, describe, it } from "mocha";
import { RawClient } from "#test/support/raw-client";
import { chunk, reply, streamHead } from "#test/support/resilience/byte-upstream";
import { apiKey, channel, channelSecret, rawKey, route, secret } from "#test/support/resilience/manifests";
import { proxyProcessOf, residentBytes } from "#test/support/resilience/processes";
import { type Rig, startRig } from "#test/support/resilience/rig";
import { waitFor } from "#test/support/wait-for";

const mebibyte = 1024 * 1024;
const call = [
  "GET /v1/passthrough/files/files/file-1/content?limit=1 HTTP/1.1",
  "host: gateway",
  `authorization: Bearer ${rawKey("main")}`,
  "",
  "",
].join("\r\n");

const textOf = ({ received }: RawClient): string => received.toString("latin1");

describe("what is passed on", function () {
  this.timeout(60_000);
  let rig: Rig;

  before(async () => {
    const formats = [{ type: "ChatCompletions" }, { type: "Passthrough", paths: ["/files/{id}/content"] }];
    rig = await startRig({
      flags: ["--timeouts-slow-reader=2s", "--timeouts-stream-idle=20s"],
      objects: ([port = 0]) => [
        secret(),
        apiKey("main"),
        channel("c0", port, { formats }),
        route("echo", ["c0"]),
        route("files", ["c0"], { capabilities: ["Passthrough"], price: { perRequest: "1" } }),
      ],
    });
  });
  after(() => rig?.close());
  beforeEach(() => rig.settleDown());

  async function open(): Promise<RawClient> {
    const client = await RawClient.connect({ port: rig.port });
    client.write(call);
    return client;
  }

  for (const how of ["close", "reset"] as const) {
    it(`ends its request to the upstream when the client leaves (${how})`, async () => {
      rig.upstream.replyWith(({ socket }) => socket.write(Buffer.concat([Buffer.from(streamHead), chunk("one")])));
      const client = await open();
      await waitFor("the first piece", () => textOf(client).includes("one"));
      const leftMs = performance.now();
      client[how]();
      const closedAtMs = await waitFor("the upstream's close", () => rig.upstream.requests[0]?.closedAtMs, {
        everyMs: 1,
      });
      assert.ok(closedAtMs - leftMs < 1_000, `${closedAtMs - leftMs} ms`);
      const line = await rig.logLine("the line of who left", ({ end }) => end === "CD");
      assert.deepEqual([line["format"], line["status"]], ["Passthrough", 200]);
      await rig.settleDown();
    });
  }

  it("ends its request to the upstream when the client leaves before the head", async () => {
    rig.upstream.replyWith(() => {});
    const client = await open();
    await waitFor("the upstream to have the request", () => rig.upstream.requests.length === 1);
    client.close();
    await waitFor("the upstream's close", () => rig.upstream.requests[0]?.closedAtMs);
    await rig.logLine("the line of who left", ({ end }) => end === "CH");
    await rig.settleDown();
  });

  const body = "z".repeat(100_000);
  const whole = reply(body);
  const chunked = Buffer.concat([Buffer.from(streamHead), chunk(body), chunk("")]);
  for (const [form, bytes, headBytes] of [
    ["of a known length", whole, whole.length - body.length],
    ["in chunks", chunked, streamHead.length],
  ] as const) {
    it(`never looks whole ${form}, wherever the upstream breaks off`, async () => {
      for (const at of [headBytes + 1, headBytes + 70_000, bytes.length - 6, bytes.length - 1]) {
        rig.upstream.replyWith(({ socket }) => socket.end(bytes.subarray(0, at)));
        const client = await open();
        const { status, isComplete } = await client.readResponse();
        client.close();
        assert.ok(status === 502 || !isComplete, `cut at ${at} of ${bytes.length} it looks whole`);
        await rig.settleDown();
      }
    });
  }

  it("says its end only when the upstream has said its own", async () => {
    let upstream: Socket | undefined;
    rig.upstream.replyWith(({ socket }) => {
      upstream = socket;
      socket.write(Buffer.concat([Buffer.from(streamHead), chunk(body)]));
    });
    const client = await open();
    await waitFor("all bytes", () => textOf(client).length > body.length);
    assert.ok(!textOf(client).endsWith("0\r\n\r\n"));
    upstream?.write(chunk(""));
    await waitFor("the end of the body", () => textOf(client).endsWith("0\r\n\r\n"));
    client.close();
  });

  it("holds its upstream back for a client that does not read, at a bounded cost, and cuts it in time", async () => {
    const proxy = await proxyProcessOf(rig.gateway);
    const piece = chunk(Buffer.alloc(64 * 1024, "q"));
    let sent = 0;
    rig.upstream.replyWith(({ socket }) => {
      const next = (): void => {
        while (!socket.destroyed && sent < 512 * mebibyte) {
          sent += piece.length;
          if (!socket.write(piece)) {
            socket.once("drain", next);
            return;
          }
        }
      };
      socket.write(streamHead);
      next();
    });
    const residentBefore = residentBytes(proxy);
    const socket = connect({ port: rig.port, host: "127.0.0.1" });
    socket.on("error", () => undefined);
    await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
    socket.pause();
    socket.write(call);
    await rig.logLine("the cut", ({ end }) => end === "cD");
    const grown = residentBytes(proxy) - residentBefore;
    assert.ok(sent < 64 * mebibyte, `${sent} bytes were taken of the upstream`);
    assert.ok(grown < 48 * mebibyte, `${grown} bytes of memory`);
    await waitFor("the upstream's close", () => rig.upstream.requests[0]?.closedAtMs);
    socket.destroy();
    await rig.settleDown();
  });

  it("follows no redirect, and tells nobody where it leads", async () => {
    const before = rig.upstream.connectionCount;
    rig.upstream.replyWith(({ socket }) =>
      socket.write(reply("moved", "307 Temporary Redirect", `location: http://127.0.0.1:${rig.port}/metrics\r\n`)),
    );
    const client = await open();
    await waitFor("the response", () => textOf(client).includes("\r\n\r\n"));
    assert.ok(textOf(client).startsWith("HTTP/1.1 502 "), textOf(client));
    assert.ok(!/location/i.test(textOf(client)));
    assert.equal(rig.upstream.requests.length, 1);
    assert.ok(rig.upstream.connectionCount - before <= 1);
    client.close();
  });

  it("has neither the key nor the channel's secret in its logs", () => {
    assert.ok(rig.gateway.logs.includes('"Passthrough"'));
    for (const one of [rawKey("main"), channelSecret]) assert.ok(!rig.gateway.logs.includes(one));
  });
});

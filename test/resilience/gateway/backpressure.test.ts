/** docs/design/reliability.md G10: floods and slow readers cost bounded memory, and a slow reader is cut in time. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { after, before, describe, it } from "mocha";
import { type ByteRequest, chunk, streamHead } from "#test/support/resilience/byte-upstream";
import { callBytes } from "#test/support/resilience/call-gateway";
import { formatNamed, formats } from "#test/support/resilience/formats";
import { proxyProcessOf, residentBytes } from "#test/support/resilience/processes";
import { type Rig, startRig } from "#test/support/resilience/rig";
import { waitFor } from "#test/support/wait-for";

const chat = formatNamed("ChatCompletions");
const mebibyte = 1024 * 1024;

describe("a client that reads slowly", function () {
  this.timeout(60_000);
  let rig: Rig;
  let proxy: number;

  before(async () => {
    rig = await startRig({ flags: ["--timeouts-slow-reader=2s", "--timeouts-stream-idle=20s"] });
    proxy = await proxyProcessOf(rig.gateway);
  });
  after(() => rig?.close());

  /** Writes events as fast as they are taken; counts the bytes. */
  function flood(request: ByteRequest, piece: Buffer, limitBytes: number): { bytes: number } {
    const sent = { bytes: 0 };
    const next = (): void => {
      while (!request.socket.destroyed && sent.bytes < limitBytes) {
        sent.bytes += piece.length;
        if (!request.socket.write(piece)) {
          request.socket.once("drain", next);
          return;
        }
      }
    };
    request.socket.write(streamHead);
    next();
    return sent;
  }

  async function openUnread(format = chat): Promise<Socket> {
    const socket = connect({ port: rig.port, host: "127.0.0.1" });
    await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
    socket.on("error", () => undefined);
    socket.pause();
    socket.write(callBytes({ port: rig.port, format, model: "echo" }));
    return socket;
  }

  it("holds back its upstream, costs at most 2 MiB a stream, and is cut in time", async () => {
    const piece = chunk((chat.events()[1] ?? "").repeat(16));
    const streams = 10;
    const sent: { bytes: number }[] = [];
    rig.upstream.replyWith((request) => sent.push(flood(request, piece, 1024 * mebibyte)));
    const open = async (): Promise<Socket[]> => {
      sent.length = 0;
      const opened = await Promise.all(Array.from({ length: streams }, () => openUnread()));
      await waitFor("all floods", () => sent.length === streams);
      return opened;
    };
    /** How much memory the proxy took for all of them until they were held back. */
    const grownBytes = async (): Promise<number> => {
      const residentBefore = residentBytes(proxy);
      sockets = await open();
      let most = 0;
      let lastBytes = -1;
      await waitFor(
        "the floods to be held back",
        () => {
          most = Math.max(most, residentBytes(proxy));
          const bytes = sent.reduce((sum, one) => sum + one.bytes, 0);
          const isHeld = bytes === lastBytes;
          lastBytes = bytes;
          return isHeld;
        },
        { everyMs: 200, deadlineMs: 10_000 },
      );
      const grown = (most - residentBefore) / mebibyte / streams;
      console.log(
        `      RSS grew ${grown.toFixed(2)} MiB a stream, limit 2 (and 30 MiB for all, which collection may keep); each upstream sent ${(lastBytes / streams / mebibyte).toFixed(1)} MiB of 1,024`,
      );
      return most - residentBefore;
    };
    const letGo = async (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      await rig.settleDown();
    };
    // Memory that the first floods brought in is there for the next.
    let sockets = await open();
    await letGo();
    const grownMax = (2 * streams + 30) * mebibyte;
    // What has gone through to the kernel is garbage until it is collected: when that is, is not the same every time.
    for (let tries = 1; (await grownBytes()) > grownMax; tries += 1) {
      assert.ok(tries < 3, "too much in each try");
      await letGo();
    }
    const startedMs = performance.now();
    // Twice the limit: the machine may be busy.
    await waitFor(
      "the upstreams to be closed",
      () => rig.upstream.requests.every((one) => one.closedAtMs !== undefined),
      { deadlineMs: 6_000 },
    );
    console.log(`      cut after ${Math.round(performance.now() - startedMs)} ms, limit 3000`);
    const line = await rig.logLine("the cut call's line", ({ end }) => end === "cD");
    assert.equal(line["estimated"], true);
    await letGo();
  });

  it("a burst of 200,000 tiny events arrives whole, in every format", async () => {
    for (const format of formats) {
      const [first = "", second = ""] = format.events();
      const tail = format.events().slice(2).join("");
      // Of a comment Google's clients would get nothing.
      const pings = (format.name === "GenerateContent" ? "data: {}\n\n" : ": p\n\n").repeat(50_000);
      rig.upstream.replyWith(({ socket }) => {
        socket.write(streamHead);
        socket.write(chunk(first + second));
        socket.write(chunk(pings));
        socket.write(chunk(pings));
        socket.write(chunk(pings));
        socket.write(chunk(pings));
        socket.write(chunk(tail));
        socket.write(chunk(""));
      });
      const answer = await rig.call({ format }, 20_000);
      assert.equal(answer.isComplete, true);
      assert.equal(answer.body.length, Buffer.byteLength(first + second + tail) + 4 * pings.length);
      console.log(`      ${format.name}: ${Math.round(answer.tookMs)} ms, limit 2000`);
      assert.ok(answer.tookMs <= 2_000);
    }
  });

  it("a compressed flood does not pass the brake", async () => {
    const event = chat.events()[1] ?? "";
    const inflated = event.repeat(Math.ceil((256 * mebibyte) / event.length));
    const bytes = gzipSync(inflated);
    const residentBefore = residentBytes(proxy);
    rig.upstream.replyWith(({ socket }) => {
      socket.write(streamHead.replace("transfer", "content-encoding: gzip\r\ntransfer"));
      socket.write(chunk(bytes));
    });
    const socket = await openUnread();
    await waitFor("the request", () => rig.upstream.requests.length === 1);
    let most = 0;
    await waitFor(
      "the stream to be cut",
      () => {
        most = Math.max(most, residentBytes(proxy));
        return rig.upstream.requests[0]?.closedAtMs !== undefined;
      },
      { deadlineMs: 15_000 },
    );
    console.log(
      `      256 MiB in ${(bytes.length / mebibyte).toFixed(2)} MiB: RSS grew ${((most - residentBefore) / mebibyte).toFixed(0)} MiB, limit 100`,
    );
    assert.ok(most - residentBefore <= 100 * mebibyte);
    socket.destroy();
    await rig.settleDown();
  });
});

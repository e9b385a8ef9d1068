/**
 * docs/design/reliability.md G2: timeouts hold within 5 %, and a stream that stalls ends with an error event of its
 * format.
 */
import assert from "node:assert/strict";
import { createServer, type Server } from "node:net";
import { after, before, describe, it } from "mocha";
import { chunk, streamHead } from "#test/support/resilience/byte-upstream";
import { type FormatUnderTest, formatNamed, formatOf, formats } from "#test/support/resilience/formats";
import { apiKey, channel, route, secret } from "#test/support/resilience/manifests";
import { type Rig, startRig } from "#test/support/resilience/rig";
import { waitFor } from "#test/support/wait-for";

const firstByteMs = 800;
const idleMs = 1_000;
const totalMs = 1_500;
const connectMs = 700;
/** Both processes share two busy cores: what the test itself adds. */
const slackMs = 60;

describe("an upstream that is silent", function () {
  this.timeout(30_000);
  let rig: Rig;
  let mute: Server;

  before(async () => {
    // Takes connections and never speaks TLS.
    mute = createServer((socket) => socket.on("error", () => undefined).resume());
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    const address = mute.address();
    const mutePort = typeof address === "object" && address !== null ? address.port : 0;
    rig = await startRig({
      objects: ([port = 0]) => [
        secret(),
        apiKey("main"),
        channel("first", port, { timeouts: { firstByte: `${firstByteMs}ms` } }),
        channel("idle", port, { timeouts: { streamIdle: `${idleMs}ms` } }),
        channel("total", port, { timeouts: { total: `${totalMs}ms` } }),
        channel("total-too", port, { timeouts: { total: `${totalMs}ms` } }),
        channel("mute", `https://127.0.0.1:${mutePort}`, { timeouts: { connect: "20s" } }),
        ...["first", "idle", "total"].map((name) => route(name, [name])),
        route("twice", ["first", "total-too"], { timeouts: { total: `${totalMs}ms` } }),
        route("connect", ["mute"], { timeouts: { connect: `${connectMs}ms` } }),
      ],
      served: ["main", "total"],
    });
  });

  after(async () => {
    await rig?.close();
    mute.close();
  });

  function assertTook(what: string, tookMs: number, limitMs: number): void {
    console.log(`      ${what} ${Math.round(tookMs)} ms, limit ${limitMs} +- 5 %`);
    assert.ok(tookMs >= limitMs * 0.95 && tookMs <= limitMs * 1.05 + slackMs, `${what} took ${tookMs} ms`);
  }

  /** All formats at once: the waits are what costs. */
  async function eachFormat(test: (format: FormatUnderTest) => Promise<void>): Promise<void> {
    await Promise.all(formats.map(test));
  }

  for (const stream of [false, true]) {
    it(`is 504 when no byte comes, ${stream ? "" : "not "}streamed`, async () => {
      rig.upstream.replyWith(() => undefined);
      await eachFormat(async (format) => {
        const answer = await rig.call({ format, model: "first", stream });
        assert.equal(answer.status, 504, answer.text);
        assertTook(`${format.name}: first byte`, answer.tookMs, firstByteMs);
      });
      await waitFor("the upstream's closes", () => rig.upstream.requests.every((one) => one.closedAtMs !== undefined));
    });
  }

  it("is 504 when the head comes and no event does", async () => {
    rig.upstream.replyWith(({ socket }) => socket.write(streamHead));
    await eachFormat(async (format) => {
      const answer = await rig.call({ format, model: "idle" });
      assert.equal(answer.status, 504, answer.text);
      assertTook(`${format.name}: idle before the first event`, answer.tookMs, idleMs);
    });
  });

  it("is an error event when the stream stalls, even inside an event", async () => {
    rig.upstream.replyWith(({ socket, head }) => {
      const [first = "", second = "", third = ""] = formatOf(head).events();
      socket.write(Buffer.concat([Buffer.from(streamHead), chunk(first + second), chunk(third.slice(0, 20))]));
    });
    await eachFormat(async (format) => {
      const [first = "", second = ""] = format.events();
      const answer = await rig.call({ format, model: "idle" });
      assert.equal(answer.status, 200);
      assert.ok(answer.text.startsWith(first + second), "the events that came were passed on");
      assert.match(answer.text, format.errorEvent);
      assert.equal(answer.isComplete, format.failsCleanly);
      assertTook(`${format.name}: idle`, answer.tookMs, idleMs);
    });
  });

  it("is an error event when the total time is over, however busy the stream", async () => {
    rig.upstream.replyWith(({ socket, head }) => {
      const [first = "", ...rest] = formatOf(head).events();
      const piece = rest.find((event) => event.includes("delta") || event.includes("parts")) ?? first;
      socket.write(Buffer.concat([Buffer.from(streamHead), chunk(first)]));
      const timer = setInterval(() => socket.write(chunk(piece)), 50);
      socket.on("close", () => clearInterval(timer)).on("end", () => clearInterval(timer));
    });
    await eachFormat(async (format) => {
      const answer = await rig.call({ format, model: "total" });
      assert.equal(answer.status, 200);
      assert.match(answer.text, format.errorEvent);
      assert.equal(answer.isComplete, format.failsCleanly);
      assertTook(`${format.name}: total`, answer.tookMs, totalMs);
    });
  });

  it("pings count as progress, bytes that complete no event do not", async () => {
    const format = formatNamed("ChatCompletions");
    const events = format.events();
    rig.upstream.replyWith(({ socket }) => {
      socket.write(streamHead);
      socket.write(chunk(events[0] ?? ""));
      let pings = 0;
      const timer = setInterval(() => {
        pings += 1;
        if (pings < 8) socket.write(chunk(": ping\n\n"));
        else {
          clearInterval(timer);
          socket.write(Buffer.concat([chunk(events.slice(1).join("")), chunk("")]));
        }
      }, idleMs / 4);
    });
    const pinged = await rig.call({ format, model: "idle" });
    assert.equal(pinged.isComplete, true, "pings kept the stream alive");
    assert.doesNotMatch(pinged.text, format.errorEvent);
    assert.ok(pinged.tookMs > idleMs * 1.5);
    rig.upstream.replyWith(({ socket }) => {
      socket.write(streamHead);
      socket.write(chunk(events[0] ?? ""));
      const timer = setInterval(() => socket.write(chunk("x")), 20);
      socket.on("close", () => clearInterval(timer)).on("end", () => clearInterval(timer));
    });
    const dripped = await rig.call({ format, model: "idle" });
    assert.match(dripped.text, format.errorEvent);
    assertTook("idle under a drip", dripped.tookMs, idleMs);
  });

  it("is given up when it does not connect in the time that the route gives, though the channel would wait longer", async () => {
    const answer = await rig.call({ format: formatNamed("Messages"), model: "connect", stream: false });
    assert.equal(answer.status, 504, answer.text);
    assertTook("connect", answer.tookMs, connectMs);
  });

  it("is 504 when the total time is over, however many attempts it took", async () => {
    rig.upstream.replyWith(() => undefined);
    await eachFormat(async (format) => {
      const answer = await rig.call({ format, model: "twice", stream: false });
      assert.equal(answer.status, 504, answer.text);
      assertTook(`${format.name}: total of two attempts`, answer.tookMs, totalMs);
    });
  });
});

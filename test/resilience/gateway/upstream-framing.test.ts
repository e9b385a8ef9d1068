/**
 * docs/design/reliability.md G4, G9: bad HTTP from an upstream is a 502 or an error event, and no byte of it reaches
 * the next answer.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { type ByteScript, chunk, reply, streamHead } from "#test/support/resilience/byte-upstream";
import { formatNamed, formatOf, formats } from "#test/support/resilience/formats";
import { channel, route } from "#test/support/resilience/manifests";
import { type Rig, startRig, usualObjects } from "#test/support/resilience/rig";

const marked = "MARKED-BYTES-OF-ANOTHER-ANSWER";
const json = "content-type: application/json\r\n";
const format = formatNamed("ChatCompletions");
const body = format.reply();
const length = `content-length: ${Buffer.byteLength(body)}\r\n`;

interface Row {
  readonly name: string;
  readonly bytes: Buffer | string;
  /** Closes after the bytes; else leaves the connection open. */
  readonly ends?: boolean;
  /** 200 where the reply is bad only after its end, or is allowed. */
  readonly status: number;
}

const rows: readonly Row[] = [
  {
    name: "a short body",
    bytes: `HTTP/1.1 200 OK\r\n${json}content-length: 9999\r\n\r\n${body}`,
    ends: true,
    status: 502,
  },
  {
    name: "extra bytes after the body",
    bytes: `HTTP/1.1 200 OK\r\n${json}${length}\r\n${body}${marked}`,
    status: 200,
  },
  {
    name: "a second answer behind the first",
    bytes: Buffer.concat([reply(body), reply(JSON.stringify({ id: marked, choices: [] }))]),
    status: 200,
  },
  {
    name: "both a length and chunks",
    bytes: `HTTP/1.1 200 OK\r\n${json}${length}transfer-encoding: chunked\r\n\r\n${chunk(body)}0\r\n\r\n`,
    status: 502,
  },
  {
    name: "two lengths",
    bytes: `HTTP/1.1 200 OK\r\n${json}${length}content-length: 3\r\n\r\n${body}${marked}`,
    status: 502,
  },
  {
    name: "a bad chunk size",
    bytes: `${streamHead.replace("text/event-stream", "application/json")}zz\r\n${marked}`,
    status: 502,
  },
  {
    name: "a head of 80 KB",
    bytes: `HTTP/1.1 200 OK\r\n${json}x-long: ${"a".repeat(80_000)}\r\n${length}\r\n${body}`,
    status: 502,
  },
  { name: "no HTTP at all", bytes: `${marked}\r\n\r\n`, status: 502 },
  {
    name: "TLS",
    bytes: Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x00]),
    ends: true,
    status: 502,
  },
  { name: "status 999", bytes: reply(body, "999 Odd"), status: 502 },
  {
    name: "an upgrade nobody asked for",
    bytes: `HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n${marked}`,
    status: 502,
  },
  { name: "a body of 204", bytes: `HTTP/1.1 204 No Content\r\n\r\n${marked}`, status: 502 },
  { name: "an empty body", bytes: reply(""), status: 502 },
  { name: "half a JSON value", bytes: reply(body.slice(0, -10)), status: 502 },
  { name: "a reply of HTTP/1.0", bytes: `HTTP/1.0 200 OK\r\n${json}${length}\r\n${body}`, ends: true, status: 200 },
  {
    name: "a close-delimited body",
    bytes: `HTTP/1.1 200 OK\r\n${json}connection: close\r\n\r\n${body}`,
    ends: true,
    status: 200,
  },
  {
    name: "a header with a bare CR",
    bytes: `HTTP/1.1 200 OK\r\n${json}x-a: b\rset-cookie: c\r\n${length}\r\n${body}`,
    status: 502,
  },
];

describe("an upstream that breaks HTTP", function () {
  this.timeout(60_000);
  let rig: Rig;

  before(async () => {
    rig = await startRig({
      upstreams: 2,
      // One of its own for answers that come early, so that their connections are nobody else's.
      objects: ([one = 0, two = 0]) => [...usualObjects([one]), channel("early", two), route("early", ["early"])],
      flags: ["--timeouts-first-byte=3s", "--timeouts-first-byte-stream=3s", "--timeouts-stream-idle=3s"],
    });
  });
  after(() => rig?.close());

  const good: ByteScript = ({ socket, head }) => socket.write(reply(formatOf(head).reply("good")));

  for (const row of rows) {
    it(`${row.name}: ${row.status}, and the next answer is clean`, async () => {
      for (const isFirst of [true, false, true]) {
        rig.upstream.replyWith(({ socket }) => {
          socket.write(row.bytes, () => (row.ends === true ? socket.end() : undefined));
        });
        const answer = await rig.call({ format, stream: false });
        assert.equal(answer.status, row.status, answer.text);
        assert.ok(!answer.text.includes(marked), "the marked bytes were passed on");
        if (isFirst) rig.upstream.replyWith(good);
        for (let round = 0; round < 3; round += 1) {
          rig.upstream.replyWith(good);
          const next = await rig.call({ format, stream: false, prompt: "good" });
          assert.equal(next.status, 200, next.text);
          assert.equal(next.text, format.reply("good"));
        }
      }
    });
  }

  it("never passes bytes of a poisoned connection on, in 1,000 answers", async () => {
    let poisoned = 0;
    const bad = rows.filter(({ ends }) => ends !== true);
    let failures = 0;
    for (let round = 0; round < 500; round += 1) {
      const row = bad[round % bad.length];
      rig.upstream.replyWith(({ socket }) => socket.write(row?.bytes ?? ""));
      const answers = [rig.call({ format, stream: false })];
      const first = await answers[0];
      if (first?.text.includes(marked)) failures += 1;
      rig.upstream.replyWith(good);
      const next = await Promise.all([
        rig.call({ format, stream: false, prompt: "good" }),
        rig.call({ format, stream: false, prompt: "good" }),
      ]);
      for (const answer of next) {
        poisoned += 1;
        if (answer.status !== 200 || answer.text !== format.reply("good")) failures += 1;
      }
    }
    console.log(`      answers after a poisoned one: ${poisoned}, wrong: ${failures}, limit 0`);
    assert.equal(failures, 0);
  });

  for (const each of formats) {
    it(`${each.name}: a bad chunk in mid-stream is an error event, and no sign of success`, async () => {
      const [first = "", second = ""] = each.events();
      rig.upstream.replyWith(({ socket }) => {
        socket.write(Buffer.concat([Buffer.from(streamHead), chunk(first + second), Buffer.from(`zz\r\n${marked}`)]));
      });
      const answer = await rig.call({ format: each });
      assert.ok(answer.text.startsWith(first + second));
      assert.match(answer.text, each.errorEvent);
      assert.equal(answer.isComplete, each.failsCleanly);
      assert.ok(!answer.text.includes(marked));
    });
  }

  for (const closes of [true, false]) {
    it(`an answer before the request was read is passed on${closes ? ", though the connection closes" : ""}`, async () => {
      const prompt = "x".repeat(3_000_000);
      const refusal = JSON.stringify({ error: { message: "too long", type: "invalid_request_error", code: null } });
      rig.upstreams[1]?.replyToHeadWith((socket) => {
        socket.write(reply(refusal, "413 Too Large"), () => (closes ? socket.end() : undefined));
      });
      const answer = await rig.call({ format, model: "early", stream: false, prompt });
      assert.equal(answer.status, 413, answer.text);
      assert.ok(answer.tookMs < 2_500, `took ${answer.tookMs} ms`);
      // One that keeps the connection and reads no more must not hold the next request.
      rig.upstreams[1]?.replyWith(good);
      assert.equal((await rig.call({ format, model: "early", stream: false })).status, 200);
    });
  }

  it("a connection closed at the moment of reuse costs no request that was never sent", async () => {
    let failed = 0;
    let late = 0;
    const ended = new WeakSet<object>();
    rig.upstream.replyWith(({ socket }) => {
      // What arrives behind our FIN was sent: the gateway must not send it again.
      if (ended.has(socket)) {
        late += 1;
        return;
      }
      socket.write(reply(format.reply("good")), () =>
        setTimeout(() => {
          ended.add(socket);
          socket.end();
        }, 2),
      );
    });
    for (let round = 0; round < 200; round += 1) {
      const answer = await rig.call({ format, stream: false });
      if (answer.status !== 200) failed += 1;
      assert.ok([200, 502].includes(answer.status), answer.text);
    }
    console.log(
      `      connections closed at reuse: 200, requests sent behind the close: ${late}, calls that failed: ${failed}`,
    );
    assert.ok(failed <= late, "a request that was never sent failed");
  });

  it("a request that was sent and got no answer is never sent twice", async () => {
    for (const how of ["fin", "reset"] as const) {
      rig.upstream.replyWith(good);
      await rig.call({ format, stream: false });
      rig.upstream.replyWith(({ socket }) => (how === "fin" ? socket.end() : socket.resetAndDestroy()));
      const answer = await rig.call({ format, stream: false });
      assert.equal(answer.status, 502);
      assert.equal(rig.upstream.requests.length, 1);
    }
  });
});

/**
 * docs/design/reliability.md G6 to G8: what an upstream's status, error, encoding and headers become for the client.
 */
import assert from "node:assert/strict";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { after, before, describe, it } from "mocha";
import { chunk, reply, streamHead } from "#test/support/resilience/byte-upstream";
import { type FormatUnderTest, formatNamed, formatOf, formats } from "#test/support/resilience/formats";
import { channel, channelSecret, route, spareSecret } from "#test/support/resilience/manifests";
import { type Rig, startRig, usualObjects } from "#test/support/resilience/rig";

const leak = "Incorrect key sk-upstream-9999 of org-secret, see https://internal.example/";

/** The error body of each format's provider. */
function errorBody(format: FormatUnderTest, status: number, type: string, message = leak): string {
  if (format.name === "Messages") return JSON.stringify({ type: "error", error: { type, message } });
  if (format.name === "GenerateContent")
    return JSON.stringify({ error: { code: status, message, status: type.toUpperCase() } });
  return JSON.stringify({ error: { message, type, param: null, code: type } });
}

interface StatusRow {
  readonly name: string;
  readonly script: (format: FormatUnderTest) => Buffer;
  /** Expected by protocol: OpenAI-style, Anthropic-style, Gemini-style. */
  readonly status: readonly [number, number, number];
  readonly retryAfter?: string;
  /** Served by the second target where there is one. */
  readonly failsOver: boolean;
}

const rows: readonly StatusRow[] = [
  {
    name: "500 with HTML",
    script: () => reply("<html>oops</html>", "500 Oops"),
    status: [502, 502, 502],
    failsOver: true,
  },
  {
    name: "400 with HTML",
    script: () => reply("<html>oops</html>", "400 Bad"),
    status: [502, 502, 502],
    failsOver: true,
  },
  {
    name: "401",
    script: (format) => reply(errorBody(format, 401, "authentication_error"), "401 No"),
    status: [503, 529, 503],
    failsOver: true,
  },
  {
    name: "402",
    script: (format) => reply(errorBody(format, 402, "billing_error"), "402 Pay"),
    status: [503, 529, 503],
    failsOver: true,
  },
  {
    name: "403",
    script: (format) => reply(errorBody(format, 403, "permission_error"), "403 No"),
    status: [503, 529, 503],
    failsOver: true,
  },
  {
    name: "429",
    script: (format) => reply(errorBody(format, 429, "rate_limit_error"), "429 Slow"),
    status: [429, 429, 429],
    failsOver: true,
  },
  {
    name: "429 with seconds",
    script: (format) => reply(errorBody(format, 429, "rate_limit_error"), "429 Slow", "retry-after: 7\r\n"),
    status: [429, 429, 429],
    retryAfter: "7",
    failsOver: true,
  },
  {
    name: "429 with 10^9 seconds",
    script: (format) => reply(errorBody(format, 429, "rate_limit_error"), "429 Slow", "retry-after: 1000000000\r\n"),
    status: [429, 429, 429],
    retryAfter: "60",
    failsOver: true,
  },
  {
    name: "429 with a date long gone",
    script: (format) =>
      reply(errorBody(format, 429, "rate_limit_error"), "429 Slow", "retry-after: Wed, 21 Oct 2015 07:28:00 GMT\r\n"),
    status: [429, 429, 429],
    retryAfter: "1",
    failsOver: true,
  },
  {
    name: "429 with nonsense",
    script: (format) => reply(errorBody(format, 429, "rate_limit_error"), "429 Slow", "retry-after: soon\r\n"),
    status: [429, 429, 429],
    failsOver: true,
  },
  {
    name: "301 to elsewhere",
    script: () => reply("", "301 Moved", "location: http://127.0.0.1:1/stolen\r\n"),
    status: [502, 502, 502],
    failsOver: true,
  },
  {
    name: "307 to elsewhere",
    script: () => reply("", "307 Moved", "location: http://127.0.0.1:1/stolen\r\n"),
    status: [502, 502, 502],
    failsOver: true,
  },
  {
    name: "503",
    script: (format) => reply(errorBody(format, 503, "overloaded_error"), "503 Busy"),
    status: [503, 529, 503],
    failsOver: true,
  },
  {
    name: "204",
    script: () => Buffer.from("HTTP/1.1 204 No Content\r\n\r\n"),
    status: [502, 502, 502],
    failsOver: true,
  },
  {
    name: "200 with an error body",
    script: (format) =>
      reply(errorBody(format, 503, format.name === "GenerateContent" ? "unavailable" : "overloaded_error")),
    status: [503, 529, 503],
    failsOver: true,
  },
  {
    name: "a flood of interim answers",
    script: (format) =>
      Buffer.concat([Buffer.from("HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n".repeat(1000)), reply(format.reply())]),
    status: [502, 502, 502],
    failsOver: true,
  },
  {
    name: "400 of the provider",
    script: (format) => reply(errorBody(format, 400, "invalid_request_error", "bad thing"), "400 Bad"),
    status: [400, 400, 400],
    failsOver: false,
  },
];

/** Asks with the usual credential first, because the other has weight 0. */
function pooledChannel(port: number): object {
  const secretKeyRef = { name: "upstream" };
  return channel("pool", port, {
    credentials: [
      { name: "main", secretKeyRef },
      { name: "spare", secretKeyRef: { ...secretKeyRef, key: "spare" }, weight: 0 },
    ],
  });
}

describe("an upstream's statuses, encodings and headers", function () {
  this.timeout(60_000);
  let rig: Rig;

  before(async () => {
    rig = await startRig({
      upstreams: 2,
      objects: (ports) => [
        ...usualObjects(ports),
        route("single", ["c0"]),
        pooledChannel(ports[0] ?? 0),
        route("pooled", ["pool"]),
      ],
      flags: [
        "--limits-reply-body=1MiB",
        "--limits-event-bytes=1MiB",
        "--timeouts-first-byte=3s",
        "--timeouts-first-byte-stream=3s",
      ],
    });
    rig.upstreams[1]?.replyWith(({ socket, head, body }) => {
      const format = formatOf(head);
      const isStream = body.includes('"stream":true') || head.includes("streamGenerate");
      if (!isStream) socket.write(reply(format.reply("second")));
      else socket.write(Buffer.concat([Buffer.from(streamHead), chunk(format.events("second").join("")), chunk("")]));
    });
  });
  after(() => rig?.close());

  const protocolOf = (format: FormatUnderTest): 0 | 1 | 2 =>
    format.name === "Messages" ? 1 : format.name === "GenerateContent" ? 2 : 0;

  for (const row of rows) {
    it(`${row.name} becomes ${[...new Set(row.status)].join(" or ")}${row.failsOver ? ", and another target is tried first" : ""}`, async () => {
      for (const format of formats) {
        for (const stream of [false, true]) {
          rig.upstream.replyWith(({ socket }) => socket.write(row.script(format)));
          const where = `${format.name} ${stream ? "streamed" : ""}`;
          const answer = await rig.call({ format, model: "single", stream });
          assert.equal(answer.status, row.status[protocolOf(format)], `${where}: ${answer.text}`);
          if (row.retryAfter !== undefined) assert.equal(answer.header("retry-after"), row.retryAfter, where);
          assert.doesNotMatch(answer.text, /sk-upstream|org-secret|internal\.example|<html|stolen/, where);
          assert.notEqual(format.errorType(answer.json()), "undefined", answer.text);
          const other = await rig.call({ format, model: "echo", stream });
          assert.equal(other.status, row.failsOver ? 200 : 400, `${where}: ${other.text}`);
          if (row.failsOver) assert.match(other.text, /second/);
        }
      }
    });
  }

  for (const status of ["401", "402", "403", "429"]) {
    it(`${status} is followed by an attempt with another credential of the same channel`, async () => {
      for (const format of formats) {
        rig.upstream.replyWith(({ socket, head }) => {
          const isSpare = head.includes(spareSecret);
          socket.write(
            isSpare ? reply(format.reply()) : reply(errorBody(format, Number(status), "error"), `${status} No`),
          );
        });
        const answer = await rig.call({ format, model: "pooled", stream: false });
        assert.equal(answer.status, 200, `${format.name}: ${answer.text}`);
      }
    });
  }

  it("an error as the first event of a stream is an HTTP error or another target, never an empty 200", async () => {
    for (const format of formats) {
      const named = format.name === "Messages" || format.name === "Responses";
      const data =
        format.name === "Responses"
          ? JSON.stringify({ type: "error", code: "server_error", message: leak, param: null, sequence_number: 0 })
          : errorBody(format, 503, format.name === "GenerateContent" ? "unavailable" : "overloaded_error");
      rig.upstream.replyWith(({ socket }) =>
        socket.write(
          Buffer.concat([
            Buffer.from(streamHead),
            chunk(`${named ? "event: error\n" : ""}data: ${data}\n\n`),
            chunk(""),
          ]),
        ),
      );
      const answer = await rig.call({ format, model: "single" });
      assert.ok(answer.status >= 500, `${format.name}: ${answer.status} ${answer.text}`);
      assert.doesNotMatch(answer.text, /sk-upstream/);
      const other = await rig.call({ format, model: "echo" });
      assert.equal(other.status, 200);
      assert.ok(other.text.includes(format.terminator));
    }
  });

  it("an empty stream is an HTTP error", async () => {
    for (const format of formats) {
      rig.upstream.replyWith(({ socket }) => socket.write(Buffer.concat([Buffer.from(streamHead), chunk("")])));
      assert.equal((await rig.call({ format, model: "single" })).status, 502);
    }
  });

  const compressed: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
  ];
  for (const [encoding, compress] of compressed) {
    it(`${encoding} answers are inflated, whole and streamed`, async () => {
      for (const format of formats) {
        rig.upstream.replyWith(({ socket }) =>
          socket.write(reply(compress(Buffer.from(format.reply())), "200 OK", `content-encoding: ${encoding}\r\n`)),
        );
        const whole = await rig.call({ format, model: "single", stream: false });
        assert.equal(whole.text, format.reply());
        assert.equal(whole.header("content-encoding"), undefined);
        const head = streamHead.replace("transfer", `content-encoding: ${encoding}\r\ntransfer`);
        const bytes = compress(Buffer.from(format.events().join("")));
        rig.upstream.replyWith(({ socket }) =>
          socket.write(
            Buffer.concat([Buffer.from(head), chunk(bytes.subarray(0, 9)), chunk(bytes.subarray(9)), chunk("")]),
          ),
        );
        const streamed = await rig.call({ format, model: "single" });
        assert.equal(streamed.text, format.events().join(""));
        assert.equal(streamed.isComplete, true);
      }
    });

    it(`a bomb or a wrong label in ${encoding} is a 502`, async () => {
      const format = formatNamed("ChatCompletions");
      const bomb = compress(Buffer.alloc(100 * 1024 * 1024, 0x20));
      const head = `content-encoding: ${encoding}\r\n`;
      for (const body of [bomb, Buffer.from(format.reply()), bomb.subarray(0, -5)]) {
        rig.upstream.replyWith(({ socket }) => socket.write(reply(body, "200 OK", head)));
        const answer = await rig.call({ format, model: "single", stream: false });
        assert.equal(answer.status, 502, answer.text.slice(0, 200));
      }
      rig.upstream.replyWith(({ socket }) =>
        socket.write(reply(bomb, "200 OK", head.replace("\r\n", "\r\ncontent-type: text/event-stream\r\n"))),
      );
      assert.equal((await rig.call({ format, model: "single" })).status, 502);
    });
  }

  it("an unknown or stacked encoding is a 502", async () => {
    const format = formatNamed("ChatCompletions");
    for (const encoding of ["snappy", "gzip, gzip"]) {
      rig.upstream.replyWith(({ socket }) =>
        socket.write(reply(format.reply(), "200 OK", `content-encoding: ${encoding}\r\n`)),
      );
      assert.equal((await rig.call({ format, model: "single", stream: false })).status, 502);
    }
  });

  it("passes no header of the upstream but the gateway's own", async () => {
    const extra =
      "server: secret-server\r\nset-cookie: a=b\r\nopenai-organization: org-x\r\nx-internal: 1\r\ncache-control: public\r\n" +
      "x-ratelimit-remaining-requests: 3\r\nvia: 1.1 hidden\r\naccess-control-allow-origin: *\r\nalt-svc: h3\r\nx-8bit: \xe4\r\n";
    const allowed = new Set([
      "x-request-id",
      "request-id",
      "content-type",
      "content-length",
      "date",
      "connection",
      "keep-alive",
      "transfer-encoding",
      "cache-control",
      "x-accel-buffering",
    ]);
    for (const format of formats) {
      rig.upstream.replyWith(({ socket }) =>
        socket.write(Buffer.from(reply(format.reply(), "200 OK", extra).toString("latin1"), "latin1")),
      );
      const whole = await rig.call({ format, model: "single", stream: false });
      const head = streamHead.replace("transfer-encoding", `${extra}transfer-encoding`);
      rig.upstream.replyWith(({ socket }) =>
        socket.write(
          Buffer.concat([
            Buffer.from(head, "latin1"),
            chunk(format.events().join("")),
            Buffer.from("0\r\nx-trailer: t\r\n\r\n"),
          ]),
        ),
      );
      const streamed = await rig.call({ format, model: "single" });
      assert.equal(streamed.isComplete, true);
      for (const answer of [whole, streamed]) {
        assert.equal(answer.status, 200);
        assert.deepEqual(
          answer.headers.map(([name]) => name).filter((name) => !allowed.has(name)),
          [],
        );
        assert.notEqual(answer.header("cache-control"), "public");
      }
    }
    assert.ok(!rig.gateway.logs.includes(channelSecret));
  });
});

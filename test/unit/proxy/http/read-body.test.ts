import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { GatewayError } from "#proxy/errors";
import { InFlightBytes } from "#proxy/http/in-flight-bytes";
import { ClientGoneError, type RequestBody, readBody } from "#proxy/http/read-body";
import type { ClientRequest } from "#proxy/http1/server/client-request";
import { defaultLimits, type ProxyLimits } from "#proxy/limits";
import { joinBatch } from "#proxy/runtime/request-batch";
import { Http1Server } from "#test/support/http1-server";

const limits: ProxyLimits = { ...defaultLimits, jsonBodyBytesMax: 100_000 };
const json = "Content-Type: application/json";

/** A call waits for its turn before its body is asked for: by then it may be whole, under way or not begun. */
const moments = [
  { when: "asked for as its head arrives", turn: () => Promise.resolve() },
  { when: "asked for in the next turn", turn: joinBatch },
];

for (const { when, turn } of moments)
  describe(`readBody, ${when}`, () => {
    let server: Http1Server;
    let inFlight: InFlightBytes;
    let requests: { resolve: (request: ClientRequest) => void }[] = [];
    const sockets: Socket[] = [];

    before(async () => {
      server = await Http1Server.start({ handle: ({ request }) => requests.shift()?.resolve(request) });
    });
    beforeEach(() => {
      inFlight = new InFlightBytes(1_000_000);
      requests = [];
    });
    afterEach(() => {
      for (const socket of sockets.splice(0)) socket.destroy();
    });
    after(() => server.close());

    /** Sends raw bytes and reads what arrives; the socket stays open for more. */
    async function send(
      parts: readonly (string | Buffer)[],
      given = limits,
    ): Promise<{ socket: Socket; request: ClientRequest; body: Promise<RequestBody> }> {
      const arrived = new Promise<ClientRequest>((resolve) => requests.push({ resolve }));
      const socket = connect(server.port, "127.0.0.1");
      socket.on("error", () => {});
      sockets.push(socket);
      socket.write(Buffer.concat(parts.map((part) => Buffer.from(part))));
      const request = await arrived;
      await turn();
      const body = (async () => readBody(request, given, inFlight))();
      body.catch(() => {});
      return { socket, request, body };
    }

    function head(...headers: string[]): string {
      return `POST / HTTP/1.1\r\nHost: a\r\n${headers.join("\r\n")}\r\n\r\n`;
    }

    /** The text of the body, or the code of the refusal; nothing may stay counted but a body that was delivered. */
    async function outcome(parts: readonly (string | Buffer)[], given = limits): Promise<string> {
      const { body } = await send(parts, given);
      try {
        const { bytes, heldBytes } = await body;
        assert.equal(heldBytes, bytes.length);
        assert.equal(inFlight.bytes, heldBytes);
        inFlight.release(heldBytes);
        return bytes.toString();
      } catch (error) {
        assert.ok(error instanceof GatewayError || error instanceof ClientGoneError, String(error));
        assert.equal(inFlight.bytes, 0);
        return error.code;
      }
    }

    it("reads a body of declared length", async () => {
      assert.equal(await outcome([head(json, "Content-Length: 7"), '{"a":1}']), '{"a":1}');
    });

    it("reads an empty body", async () => {
      assert.equal(await outcome([head(json, "Content-Length: 0")]), "");
      assert.equal(await outcome([head(json)]), "");
    });

    it("reads a chunked body", async () => {
      assert.equal(
        await outcome([head(json, "Transfer-Encoding: chunked"), '3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n']),
        '{"a":1}',
      );
    });

    for (const framing of ["declared", "chunked"]) {
      it(`joins a ${framing} body that arrives byte by byte`, async () => {
        const text = `{"a":"${"é".repeat(40)}"}`;
        const bytes = Buffer.from(text);
        const isChunked = framing === "chunked";
        const framed = isChunked
          ? Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n0\r\n\r\n")])
          : bytes;
        const field = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes.length}`;
        const { socket, body } = await send([head(json, field)]);
        socket.setNoDelay(true);
        for (const byte of framed) {
          socket.write(Buffer.of(byte));
          await new Promise((resolve) => setImmediate(resolve));
        }
        assert.equal((await body).bytes.toString(), text);
      });
    }

    for (const { name, bytesMax } of [
      { name: "that is joined", bytesMax: 8_000_000 },
      { name: "that is refused", bytesMax: 1_000_000 },
    ]) {
      it(`gives back the memory of a large body ${name}`, async () => {
        const bytes = Buffer.alloc(3_000_000, "a");
        inFlight = new InFlightBytes(bytesMax);
        const large = { ...limits, jsonBodyBytesMax: 7_500_000 };
        const { request, body } = await send([head(json, `Content-Length: ${bytes.length}`), bytes], large);
        // What the reader has left of each chunk.
        const left: number[] = [];
        const push = request.push.bind(request);
        request.push = (chunk) => {
          push(chunk);
          left.push(chunk.length);
        };
        const outcome = await body.then(
          (whole) => whole.bytes.equals(bytes),
          (error) => error.code,
        );
        request.push = () => {};
        assert.equal(outcome, bytesMax > bytes.length ? true : "overloaded");
        assert.ok(left.length > (bytesMax > bytes.length ? 20 : 10));
        // The first may be the whole body, and little ones are left to the collector.
        assert.deepEqual(
          left.slice(1).filter((length) => length >= 16_384),
          [],
        );
      });
    }

    for (const { framing, length } of [
      { framing: "declared", length: 3_000_000 },
      { framing: "declared", length: 7_000_000 },
      { framing: "chunked", length: 3_000_000 },
      { framing: "chunked", length: 7_000_000 },
    ]) {
      it(`joins a ${framing} body of ${length} bytes, more than is allocated at once`, async () => {
        const bytes = Buffer.alloc(length);
        for (let at = 0; at < length; at += 1) bytes[at] = 97 + ((at * 31 + (at >> 12)) % 26);
        const large = { ...limits, jsonBodyBytesMax: 7_500_000 };
        inFlight = new InFlightBytes(8_000_000);
        const parts =
          framing === "declared"
            ? [head(json, `Content-Length: ${length}`), bytes]
            : [head(json, "Transfer-Encoding: chunked"), `${length.toString(16)}\r\n`, bytes, "\r\n0\r\n\r\n"];
        const body = await (await send(parts, large)).body;
        assert.ok(body.bytes.equals(bytes));
        assert.equal(inFlight.bytes, length);
      });
    }

    const refusals: { name: string; parts: (string | Buffer)[]; want: string }[] = [
      {
        name: "a declared length over the cap before any byte",
        parts: [head(json, "Content-Length: 100001")],
        want: "body_too_large",
      },
      {
        name: "a chunked body at its first excess byte",
        parts: [head(json, "Transfer-Encoding: chunked"), "186a1\r\n", "x".repeat(100_001)],
        want: "body_too_large",
      },
      { name: "no content type", parts: [head("Content-Length: 2"), "{}"], want: "unsupported_media_type" },
      {
        name: "two content types",
        parts: [head(json, json, "Content-Length: 2"), "{}"],
        want: "unsupported_media_type",
      },
      ...[
        "text/plain",
        "text/json",
        "application/jsonx",
        "application/json;boundary=x",
        "application/json; charset=utf-16",
        "application/json; charset=utf-8; charset=utf-8",
        "application/json;",
        "application/json, application/json",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
      ].map((type) => ({
        name: `content type ${type}`,
        parts: [head(`Content-Type: ${type}`, "Content-Length: 2"), "{}"],
        want: "unsupported_media_type",
      })),
      ...["compress", "gzip, gzip", "gzip, br", "gzip\r\nContent-Encoding: gzip", "", "*"].map((encoding) => ({
        name: `content encoding ${JSON.stringify(encoding)}`,
        parts: [head(json, `Content-Encoding: ${encoding}`, "Content-Length: 2"), "{}"],
        want: "unsupported_media_type",
      })),
    ];
    for (const { name, parts, want } of refusals)
      it(`refuses ${name}`, async () => assert.equal(await outcome(parts), want));

    for (const type of [
      "application/json",
      "Application/JSON",
      "application/json; charset=utf-8",
      'application/json;charset="UTF-8"',
    ]) {
      it(`takes content type ${type}`, async () => {
        assert.equal(await outcome([head(`content-type: ${type}`, "Content-Length: 2"), "{}"]), "{}");
      });
    }

    const text = `{"text":"${"lorem ".repeat(500)}"}`;
    const codings: [string, (data: string | Buffer) => Buffer][] = [
      ["gzip", gzipSync],
      ["x-gzip", gzipSync],
      ["deflate", deflateSync],
      ["br", brotliCompressSync],
      ["zstd", zstdCompressSync],
    ];
    for (const [encoding, pack] of codings) {
      const sent = (packed: Buffer): (string | Buffer)[] => [
        head(json, `Content-Encoding: ${encoding}`, `Content-Length: ${packed.length}`),
        packed,
      ];
      it(`unpacks ${encoding}`, async () => assert.equal(await outcome(sent(pack(text))), text));
      it(`refuses a bomb in ${encoding}`, async () => {
        assert.equal(await outcome(sent(pack(Buffer.alloc(20_000_000)))), "body_too_large");
      });
      it(`refuses ${encoding} that is cut short, followed by other bytes, or something else`, async () => {
        const packed = pack(text);
        assert.equal(await outcome(sent(packed.subarray(0, -5))), "invalid_json");
        assert.equal(await outcome(sent(Buffer.concat([packed, Buffer.from("junk")]))), "invalid_json");
        assert.equal(await outcome(sent(Buffer.from(text))), "invalid_json");
        assert.equal(await outcome(sent(Buffer.alloc(0))), "invalid_json");
      });
    }

    it("takes identity as no encoding", async () => {
      assert.equal(await outcome([head(json, "Content-Encoding: identity", "Content-Length: 2"), "{}"]), "{}");
    });

    it("refuses a body that would pass the in-flight cap, and takes nothing", async () => {
      inFlight = new InFlightBytes(10);
      const { body } = await send([head(json, "Content-Length: 20"), "x".repeat(20)]);
      await assert.rejects(body, { code: "overloaded" });
      assert.equal(inFlight.bytes, 0);
    });

    it("counts bytes as they arrive, not as they are declared", async () => {
      const { socket, body } = await send([head(json, "Content-Length: 1000"), "x".repeat(10)]);
      const deadline = Date.now() + 5_000;
      while (inFlight.bytes !== 10 && Date.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(inFlight.bytes, 10);
      socket.destroy();
      await assert.rejects(body, { code: "client_gone" });
      assert.equal(inFlight.bytes, 0);
    });

    it("gives up on silence", async () => {
      const startMs = performance.now();
      assert.equal(
        await outcome([head(json, "Content-Length: 20"), "x"], { ...limits, bodyIdleTimeoutMs: 60 }),
        "request_timeout",
      );
      assert.ok(performance.now() - startMs >= 55);
    });

    it("gives up on a drip that never falls silent", async () => {
      const { socket, body } = await send([head(json, "Content-Length: 100000")], {
        ...limits,
        bodyIdleTimeoutMs: 1_000,
        bodyTimeoutMs: 150,
      });
      const drip = setInterval(() => socket.write("x"), 5);
      await assert.rejects(body, { code: "request_timeout" });
      clearInterval(drip);
      assert.equal(inFlight.bytes, 0);
    });

    for (const field of ["Content-Length: 20", "Transfer-Encoding: chunked"]) {
      it(`notices a client that leaves in the middle of ${field}`, async () => {
        const { socket, body } = await send([head(json, field), "5\r\nabcde"]);
        socket.end();
        await assert.rejects(body, { code: "client_gone" });
        assert.equal(inFlight.bytes, 0);
      });
    }
  });

describe("InFlightBytes", () => {
  it("takes up to its cap and not a byte more", () => {
    const bytes = new InFlightBytes(10);
    bytes.acquire(6);
    bytes.acquire(4);
    assert.throws(() => bytes.acquire(1), { code: "overloaded" });
    assert.equal(bytes.bytes, 10);
    bytes.release(10);
    assert.equal(bytes.bytes, 0);
  });

  it("is loud when more is released than was taken", () => {
    assert.throws(() => new InFlightBytes(10).release(1), RangeError);
  });
});

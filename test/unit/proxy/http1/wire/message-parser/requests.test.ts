import assert from "node:assert/strict";
import fc from "fast-check";
import { checkRequestHead } from "#proxy/http1/wire/check-request-head";
import { HttpError } from "#proxy/http1/wire/http-error";
import { MessageParser } from "#proxy/http1/wire/message-parser";
import { requestKind } from "#proxy/http1/wire/request-head";
import { defaultLimits } from "#proxy/limits";

interface Parsed {
  readonly events: readonly string[];
  /** `between` requests, `open` inside one, or the code of the error. */
  readonly end: string;
}

/** Reads one request after the other. @param cuts offsets at which the bytes are handed over in pieces of their own */
function parse(text: string, cuts: readonly number[] = []): Parsed {
  const bytes = Buffer.from(text, "latin1");
  const events: string[] = [];
  let body = "";
  const parser = new MessageParser(requestKind, 2_048, {
    onHead: (head) => {
      events.push(`${head.method} ${head.target}${head.keepsAlive ? "" : " (closes)"} ${head.headers.join(" ")}`);
      body = "";
      try {
        return checkRequestHead(head, defaultLimits);
      } catch (error) {
        assert.ok(error instanceof HttpError);
        events.push(error.code);
        return undefined;
      }
    },
    onBody: (chunk) => {
      body += chunk.toString("latin1");
      chunk.fill(0x7e);
    },
    onComplete: () => events.push(`body '${body}'`),
  });
  parser.next();
  const edges = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  try {
    for (const [index, from] of edges.entries()) {
      let piece = Buffer.from(bytes.subarray(from, edges[index + 1] ?? bytes.length));
      while (piece.length > 0) {
        const { length } = piece;
        const end = parser.push(piece);
        if (parser.isWhole) parser.next();
        piece = end === length ? Buffer.alloc(0) : Buffer.from(piece.subarray(end));
      }
    }
    return { events, end: parser.isBetween ? "between" : "open" };
  } catch (error) {
    assert.ok(error instanceof Error && "code" in error, String(error));
    return { events, end: String(error.code) };
  }
}

/** However the bytes are cut. */
function assertParsed(text: string, want: Parsed): void {
  assert.deepEqual(parse(text), want);
  for (let cut = 1; cut < text.length; cut += 1) assert.deepEqual(parse(text, [cut]), want, `cut at ${cut}`);
  const all = Array.from(text, (_, index) => index);
  assert.deepEqual(parse(text, all), want);
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
      assert.deepEqual(parse(text, cuts), want);
    }),
    { numRuns: 50 },
  );
}

const start = "POST /v1/a HTTP/1.1\r\nHost: x\r\n";
const chunked = `${start}Transfer-Encoding: chunked\r\n\r\n`;
const chunkedHead = "POST /v1/a Host x Transfer-Encoding chunked";

describe("MessageParser of requests", () => {
  const good: readonly (readonly [name: string, text: string, events: readonly string[]])[] = [
    ["no body", `${start}\r\n`, ["POST /v1/a Host x", "body ''"]],
    ["a length of nothing", `${start}Content-Length: 0\r\n\r\n`, ["POST /v1/a Host x Content-Length 0", "body ''"]],
    ["a length", `${start}Content-Length: 5\r\n\r\nhello`, ["POST /v1/a Host x Content-Length 5", "body 'hello'"]],
    [
      "one request behind the other",
      `${start}Content-Length: 1\r\n\r\na${start}\r\n${chunked}1\r\nb\r\n0\r\n\r\n`,
      ["POST /v1/a Host x Content-Length 1", "body 'a'", "POST /v1/a Host x", "body ''", chunkedHead, "body 'b'"],
    ],
    [
      "chunks with extensions and trailers, which are dropped",
      `${chunked}5;a="b"\r\nhello\r\nA\r\n0123456789\r\n00\r\nx-t: 1\r\ny:2\r\n\r\n`,
      [chunkedHead, "body 'hello0123456789'"],
    ],
    ["empty lines before a request", `\r\n\r\n${start}\r\n\r\n\r\n`, ["POST /v1/a Host x", "body ''"]],
    [
      "blanks around a value, and none",
      `GET * HTTP/1.1\r\nhost:x\r\nA:\t b c \t\r\nB:\r\nC: \x80\xff\r\n\r\n`,
      ["GET * host x A b c B  C \x80\xff", "body ''"],
    ],
    [
      "a connection that is told to close among other things",
      `${start}Connection: Foo, Close\r\n\r\n`,
      ["POST /v1/a (closes) Host x Connection Foo, Close", "body ''"],
    ],
    [
      "HTTP/1.0, which closes whatever it says",
      "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      ["GET / (closes) Connection keep-alive", "body ''"],
    ],
  ];
  for (const [name, text, events] of good)
    it(`reads ${name}, cut anywhere`, () => assertParsed(text, { events, end: "between" }));

  const open: readonly (readonly [name: string, text: string, events: readonly string[]])[] = [
    ["half a head", start, []],
    ["half a line", "POST /v1/a HT", []],
    ["half a body", `${start}Content-Length: 5\r\n\r\nhell`, ["POST /v1/a Host x Content-Length 5"]],
    ["chunks without the last one", `${chunked}5\r\nhello\r\n`, [chunkedHead]],
    ["trailers that go on", `${chunked}0\r\nx: 1\r\n`, [chunkedHead]],
  ];
  for (const [name, text, events] of open)
    it(`waits behind ${name}, cut anywhere`, () => assertParsed(text, { events, end: "open" }));

  const broken: readonly (readonly [name: string, text: string])[] = [
    ["a lower-case method", "post / HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["two spaces behind the method", "POST  / HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a tab before the version", "POST /\tHTTP/1.1\r\nHost: x\r\n\r\n"],
    ["no version", "POST /\r\nHost: x\r\n\r\n"],
    ["HTTP/1.2", "POST / HTTP/1.2\r\nHost: x\r\n\r\n"],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["8-bit bytes in the target", "POST /\xe9 HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a target that is no path, address or host", "POST ,/ HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a space behind the version", "POST / HTTP/1.1 \r\nHost: x\r\n\r\n"],
    ["a folded line", `${start}A: b\r\n c\r\n\r\n`],
    ["a space before the colon", `${start}A : b\r\n\r\n`],
    ["a line without a colon", `${start}A\r\n\r\n`],
    ["a line without a name", `${start}: b\r\n\r\n`],
    ["8-bit bytes in a name", `${start}\xe9: b\r\n\r\n`],
    ["a line of blanks", `${start} \r\n\r\n`],
    ["a bare LF before a request", `\n${start}\r\n`],
  ];
  for (const [name, text] of broken)
    it(`refuses ${name}, cut anywhere`, () => assertParsed(text, { events: [], end: "HTTP_SYNTAX" }));

  const endless: readonly (readonly [name: string, text: string])[] = [
    ["a bare LF", `${start}A: b\nC`],
    ["a bare CR", `${start}A: b\rC`],
    ["NUL", `${start}A: b\0`],
    ["TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
  ];
  for (const [name, text] of endless)
    it(`refuses ${name} at once, cut anywhere`, () => assertParsed(text, { events: [], end: "HTTP_SYNTAX" }));

  const brokenChunks: readonly (readonly [name: string, text: string])[] = [
    ["a size that is none", "zz\r\n"],
    ["a size with a sign", "+5\r\n"],
    ["a size with a space", "5 \r\n"],
    ["a size of sixteen digits", "0000000000000005\r\n"],
    ["LF behind a size", "5\nhello"],
    ["a chunk longer than its size", "5\r\nhelloX"],
    ["a chunk that ends in LF", "5\r\nhello\n"],
    ["a bare CR in an extension", "5;a=\rb\r\n"],
    ["extensions of 5 KB", `5;${"a".repeat(5_000)}\r\n`],
    ["trailers of 5 KB", `0\r\nx: ${"a".repeat(5_000)}\r\n`],
    ["a length among the trailers", "0\r\nContent-LENGTH: 3\r\n\r\n"],
    ["a coding among the trailers", "0\r\ntransfer-encoding: chunked\r\n\r\n"],
    ["a trailer without a name", "0\r\n: 3\r\n\r\n"],
    ["a trailer without a colon", "0\r\nabc\r\n\r\n"],
    ["a folded trailer", "0\r\na: b\r\n c\r\n\r\n"],
  ];
  for (const [name, text] of brokenChunks)
    it(`refuses ${name}`, () => {
      const whole = `${chunked}${text}`;
      const want = { events: [chunkedHead], end: "HTTP_SYNTAX" };
      assert.deepEqual(parse(whole), want);
      assert.deepEqual(
        parse(
          whole,
          Array.from(whole, (_, index) => index),
        ),
        want,
      );
    });

  for (const target of ["[::1]:443", "127.0.0.1:443", "a.test:443", "http://a.test/b", "*"]) {
    it(`takes the target ${target}`, () =>
      assert.equal(parse(`OPTIONS ${target} HTTP/1.1\r\nHost: x\r\n\r\n`).events.length, 2));
  }

  it("refuses a head that is too long as soon as it is", () => {
    assert.equal(parse(`${start}A: ${"b".repeat(2_048)}`).end, "HEAD_TOO_LARGE");
    const long = `${start}A: ${"b".repeat(2_048 - start.length - 7)}\r\n\r\n`;
    assert.equal(long.length, 2_048);
    assert.equal(parse(long).end, "between");
    assert.equal(parse(`${start}A: b${long.slice(start.length + 3)}`).end, "HEAD_TOO_LARGE");
  });

  it("reads nothing behind a head whose end cannot be told", () => {
    const text = `${start}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${start}\r\n`;
    assertParsed(text, {
      events: ["POST /v1/a Host x Content-Length 1 Transfer-Encoding chunked", "AMBIGUOUS_FRAMING"],
      end: "open",
    });
  });
});

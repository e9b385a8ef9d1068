/** The same framing of the same body, read as a request and as a response: one rule for both, wherever the bytes are cut. */
import assert from "node:assert/strict";
import { checkRequestHead } from "#proxy/http1/wire/check-request-head";
import { HttpError } from "#proxy/http1/wire/http-error";
import { type MessageListener, MessageParser } from "#proxy/http1/wire/message-parser";
import { requestKind } from "#proxy/http1/wire/request-head";
import { responseKind } from "#proxy/http1/wire/response-head";
import { defaultLimits } from "#proxy/limits";

const headBytesMax = 1_024;
const behind = "BEHIND";

interface Side {
  readonly name: string;
  readonly startLine: (version: string) => string;
  readonly open: (listener: Pick<MessageListener<unknown>, "onBody" | "onComplete">) => MessageParser<unknown>;
}

const sides: readonly Side[] = [
  {
    name: "request",
    startLine: (version) => `POST / HTTP/${version}\r\nHost: x\r\n`,
    open: (listener) =>
      new MessageParser(requestKind, headBytesMax, {
        ...listener,
        onHead: (head) => checkRequestHead(head, defaultLimits),
      }),
  },
  {
    name: "response",
    startLine: (version) => `HTTP/${version} 200 OK\r\n`,
    open: (listener) =>
      new MessageParser(responseKind, headBytesMax, { ...listener, onHead: ({ framing }) => framing }),
  },
];

/** The body and what comes behind the message; `open` where more is due; or the code of the refusal. */
function parse(side: Side, text: string, pieceBytes: number): string {
  let body = "";
  let isWhole = false;
  const parser = side.open({
    onBody: (chunk) => {
      assert.ok(chunk.length > 0);
      body += chunk.toString("latin1");
    },
    onComplete: () => {
      isWhole = true;
    },
  });
  parser.next();
  try {
    for (let from = 0; from < text.length; from += pieceBytes) {
      const piece = Buffer.from(text.slice(from, from + pieceBytes), "latin1");
      const end = parser.push(piece);
      if (isWhole) return `'${body}' before '${text.slice(from + end)}'`;
      assert.equal(end, piece.length);
    }
    return "open";
  } catch (error) {
    assert.ok(error instanceof HttpError, String(error));
    return error.code;
  }
}

const chunks = (text: string): string => `Transfer-Encoding: chunked\r\n\r\n${text}`;
const hello = `'hello' before '${behind}'`;
const empty = `'' before '${behind}'`;
const ambiguous = "AMBIGUOUS_FRAMING";
const syntax = "HTTP_SYNTAX";
const tooLarge = "HEAD_TOO_LARGE";

/** Fields and body as they come behind the start line. */
const rows: readonly (readonly [name: string, rest: string, want: string, version?: "1.0"])[] = [
  ["a length", `Content-Length: 5\r\n\r\nhello${behind}`, hello],
  ["a length with zeros in front", `content-length:005 \t\r\n\r\nhello${behind}`, hello],
  ["a length of nothing", `Content-Length: 0\r\n\r\n${behind}`, empty],
  ["a length over HTTP/1.0", `Content-Length: 5\r\n\r\nhello${behind}`, hello, "1.0"],
  ["a body shorter than its length", "Content-Length: 5\r\n\r\nhell", "open"],
  ["two lengths", "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", ambiguous],
  ["a list of lengths", "Content-Length: 5, 5\r\n\r\nhello", ambiguous],
  ["an empty length", "Content-Length:\r\n\r\n", ambiguous],
  ["a signed length", "Content-Length: +5\r\n\r\nhello", ambiguous],
  ["a hexadecimal length", "Content-Length: 0x5\r\n\r\nhello", ambiguous],
  ["a length with a point", "Content-Length: 5.0\r\n\r\nhello", ambiguous],
  ["a length beyond exact numbers", "Content-Length: 9999999999999999\r\n\r\n", ambiguous],
  ["a length and a coding", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ambiguous],
  ["two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ambiguous],
  ["a list of codings", "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", ambiguous],
  ["an unknown coding", "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", ambiguous],
  ["no coding where one is named", "Transfer-Encoding: identity\r\n\r\n", ambiguous],
  ["chunks over HTTP/1.0", chunks("0\r\n\r\n"), ambiguous, "1.0"],
  ["a space before the colon", "Content-Length : 5\r\n\r\nhello", syntax],
  ["a folded length", "Content-Length:\r\n 5\r\n\r\nhello", syntax],
  ["a length behind a bare line feed", "A: b\nContent-Length: 5\r\n\r\nhello", syntax],
  ["a length behind a bare carriage return", "A: b\rContent-Length: 5\r\n\r\nhello", syntax],
  ["a head that never ends", `A: ${"b".repeat(headBytesMax)}`, tooLarge],
  ["a head beyond its limit", `A: ${"b".repeat(headBytesMax)}\r\nContent-Length: 0\r\n\r\n`, tooLarge],
  ["one chunk", chunks(`5\r\nhello\r\n0\r\n\r\n${behind}`), hello],
  ["a coding in capitals", `TRANSFER-ENCODING: CHUNKED\r\n\r\n5\r\nhello\r\n0\r\n\r\n${behind}`, hello],
  [
    "several chunks with an extension and trailers",
    chunks(`2;a="b"\r\nhe\r\n03\r\nllo\r\n000\r\nX: y\r\nZ:\r\n\r\n${behind}`),
    hello,
  ],
  ["no chunk but the last", chunks(`0\r\n\r\n${behind}`), empty],
  ["chunks without the last", chunks("5\r\nhello\r\n"), "open"],
  ["chunks without the last line", chunks("5\r\nhello\r\n0\r\n"), "open"],
  ["a chunk of no size", chunks("\r\nhello\r\n0\r\n\r\n"), syntax],
  ["a chunk size that is no number", chunks("g\r\n"), syntax],
  ["a chunk size with a sign", chunks("+5\r\nhello\r\n"), syntax],
  ["a chunk size with a prefix", chunks("0x5\r\nhello\r\n"), syntax],
  ["a chunk size before a space", chunks("5 \r\nhello\r\n"), syntax],
  ["a chunk size behind a space", chunks(" 5\r\nhello\r\n"), syntax],
  ["a chunk size beyond exact numbers", chunks("fffffffffffff\r\n"), syntax],
  ["a chunk size that ends in a line feed", chunks("5\nhello\r\n"), syntax],
  ["a chunk longer than its size", chunks("4\r\nhello\r\n"), syntax],
  ["a chunk that ends in a line feed", chunks("5\r\nhello\n0\r\n\r\n"), syntax],
  ["an extension with a bare carriage return", chunks("5;a\rb\r\nhello\r\n"), syntax],
  ["an extension with a bare line feed", chunks("5;a\nb\r\nhello\r\n"), syntax],
  ["an extension with NUL", chunks("5;a\0b\r\nhello\r\n"), syntax],
  ["extensions without end", chunks(`5;${"a".repeat(20_000)}`), syntax],
  ["trailers without end", chunks(`0\r\n${"a: b\r\n".repeat(8_000)}`), syntax],
  ["a length among the trailers", chunks("0\r\nContent-Length: 5\r\n\r\n"), syntax],
  ["a coding among the trailers", chunks("0\r\nTransfer-Encoding: chunked\r\n\r\n"), syntax],
  ["a folded trailer", chunks("0\r\nA: b\r\n c\r\n\r\n"), syntax],
  ["a trailer without a name", chunks("0\r\n: b\r\n\r\n"), syntax],
  ["a trailer without a colon", chunks("0\r\nabc\r\n\r\n"), syntax],
];

describe("MessageParser", () => {
  for (const [name, rest, want, version = "1.1"] of rows) {
    it(`reads ${name} alike in a request and a response`, () => {
      for (const side of sides) {
        const text = side.startLine(version) + rest;
        for (const pieceBytes of [text.length, 1, 2, 3, 5, 7, 11]) {
          assert.equal(parse(side, text, pieceBytes), want, `${side.name} in pieces of ${pieceBytes}`);
        }
      }
    });
  }

  for (const row of [
    { name: "no declared body", rest: `\r\n${behind}`, request: empty, response: "open" },
    {
      name: "an empty line before the head",
      before: "\r\n",
      rest: `Content-Length: 0\r\n\r\n${behind}`,
      request: empty,
      response: syntax,
    },
    {
      name: "extensions of 5 KB",
      rest: chunks(`5;${"a".repeat(5_000)}\r\nhello\r\n0\r\n\r\n${behind}`),
      request: syntax,
      response: hello,
    },
    {
      name: "a framing field spelt with an underscore",
      rest: `Content_Length: 5\r\nContent-Length: 0\r\n\r\n${behind}`,
      request: ambiguous,
      response: empty,
    },
  ]) {
    it(`reads ${row.name} in its own way on each side`, () => {
      for (const side of sides) {
        const text = (row.before ?? "") + side.startLine("1.1") + row.rest;
        const want = side.name === "request" ? row.request : row.response;
        for (const pieceBytes of [text.length, 1, 2, 3]) {
          assert.equal(parse(side, text, pieceBytes), want, `${side.name} in pieces of ${pieceBytes}`);
        }
      }
    });
  }
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { MessageParser } from "#proxy/http1/wire/message-parser";
import { responseKind } from "#proxy/http1/wire/response-head";

interface Parsed {
  readonly events: readonly string[];
  readonly body: string;
  /** `open` while more is due, `complete`, `dirty` when bytes came behind the end, or the code of the error. */
  readonly end: string;
}

/** @param cuts offsets at which the bytes are handed over in pieces, each in memory that is overwritten afterwards */
function parse(text: string, cuts: readonly number[] = [], closes = false): Parsed {
  const bytes = Buffer.from(text, "latin1");
  const events: string[] = [];
  let body = "";
  const parser = new MessageParser(responseKind, 4_096, {
    onHead: ({ status, headers, keepsAlive, framing }) => {
      events.push(`${status} ${headers.join(" ")}${keepsAlive ? "" : " (closes)"}`);
      return framing;
    },
    onBody: (chunk) => {
      body += chunk.toString("latin1");
    },
    onComplete: () => events.push("complete"),
  });
  parser.next();
  const edges = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  try {
    let isClean = true;
    for (const [index, from] of edges.entries()) {
      const piece = Buffer.from(bytes.subarray(from, edges[index + 1] ?? bytes.length));
      if (piece.length > 0) isClean = parser.push(piece) === piece.length && isClean;
      piece.fill(0x7e);
    }
    if (closes) parser.end();
    return { events, body, end: isClean ? (parser.isWhole ? "complete" : "open") : "dirty" };
  } catch (error) {
    assert.ok(error instanceof Error && "code" in error, String(error));
    return { events, body, end: String(error.code) };
  }
}

const refused = "HTTP_SYNTAX";
const ambiguous = "AMBIGUOUS_FRAMING";
const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

describe("MessageParser of responses", () => {
  const good: { name: string; text: string; closes?: boolean; events: string[]; body: string; end?: string }[] = [
    {
      name: "a body of a length",
      text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A:  b c \t\r\n\r\nhello",
      events: ["200 content-length 5 x-a b c", "complete"],
      body: "hello",
    },
    {
      name: "no reason phrase, nor its space",
      text: "HTTP/1.1 404\r\ncontent-length: 1\r\n\r\nx",
      events: ["404 content-length 1", "complete"],
      body: "x",
    },
    {
      name: "an empty body",
      text: "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
      events: ["200 content-length 0", "complete"],
      body: "",
    },
    {
      name: "chunks with extensions and trailers, which are dropped",
      text: `${chunked}5;a="b"\r\nhello\r\nA\r\n0123456789\r\n00\r\nx-t: 1\r\ny: 2\r\n\r\n`,
      events: ["200 transfer-encoding chunked", "complete"],
      body: "hello0123456789",
    },
    {
      name: "interim answers before the answer",
      text: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx",
      events: ["100 ", "103 link a", "200 content-length 1", "complete"],
      body: "x",
    },
    { name: "a 204 without a body", text: "HTTP/1.1 204 No Content\r\n\r\n", events: ["204 ", "complete"], body: "" },
    {
      name: "a 304 whose length is another's",
      text: "HTTP/1.1 304 N\r\ncontent-length: 9\r\n\r\n",
      events: ["304 content-length 9", "complete"],
      body: "",
    },
    {
      name: "a body that ends with the connection",
      text: "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nall of it",
      closes: true,
      events: ["200 connection close (closes)", "complete"],
      body: "all of it",
    },
    {
      name: "HTTP/1.0, which closes unless it says otherwise",
      text: "HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx",
      events: ["200 content-length 1 (closes)", "complete"],
      body: "x",
    },
    {
      name: "a connection that is told to close among other things",
      text: "HTTP/1.1 200 OK\r\ncontent-length: 1\r\nConnection: Foo, Close\r\n\r\nx",
      events: ["200 content-length 1 connection Foo, Close (closes)", "complete"],
      body: "x",
    },
    {
      name: "bytes behind the answer, which spoil the connection",
      text: "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nxMARK",
      events: ["200 content-length 1", "complete"],
      body: "x",
      end: "dirty",
    },
  ];
  for (const row of good) {
    it(`reads ${row.name}, cut anywhere`, () => {
      const want = { events: row.events, body: row.body, end: row.end ?? "complete" };
      assert.deepEqual(parse(row.text, [], row.closes), want);
      for (let cut = 1; cut < row.text.length; cut += 1) assert.deepEqual(parse(row.text, [cut], row.closes), want);
      const all = Array.from(row.text, (_, index) => index);
      assert.deepEqual(parse(row.text, all, row.closes), want);
      fc.assert(
        fc.property(fc.array(fc.nat(row.text.length), { maxLength: 8 }), (cuts) => {
          assert.deepEqual(parse(row.text, cuts, row.closes), want);
        }),
        { numRuns: 50 },
      );
    });
  }

  const head = (lines: string): string => `HTTP/1.1 200 OK\r\n${lines}\r\n\r\nbody`;
  const bad: { name: string; text: string; end?: string }[] = [
    { name: "a length and chunks", text: head("content-length: 4\r\ntransfer-encoding: chunked"), end: ambiguous },
    { name: "two lengths", text: head("content-length: 4\r\ncontent-length: 5"), end: ambiguous },
    { name: "two equal lengths", text: head("content-length: 4\r\ncontent-length: 4"), end: ambiguous },
    { name: "a list of lengths", text: head("content-length: 4, 4"), end: ambiguous },
    { name: "a signed length", text: head("content-length: +4"), end: ambiguous },
    { name: "a hexadecimal length", text: head("content-length: 0x4"), end: ambiguous },
    { name: "a length behind a no-break space", text: head("content-length: \xa04"), end: ambiguous },
    { name: "a length beyond exact numbers", text: head("content-length: 9999999999999999"), end: ambiguous },
    { name: "a coding beside chunked", text: head("transfer-encoding: gzip, chunked"), end: ambiguous },
    { name: "two codings", text: head("transfer-encoding: chunked\r\ntransfer-encoding: chunked"), end: ambiguous },
    {
      name: "chunks over HTTP/1.0",
      text: "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      end: ambiguous,
    },
    {
      name: "two lengths where no body follows",
      text: "HTTP/1.1 204 N\r\ncontent-length: 0\r\ncontent-length: 0\r\n\r\n",
      end: ambiguous,
    },
    { name: "an empty line before the head", text: `\r\n${chunked}0\r\n\r\n` },
    { name: "a folded line", text: head("x-a: b\r\n c: d") },
    { name: "a space before the colon", text: head("content-length : 4") },
    { name: "a name with a space in it", text: head("x a: b") },
    { name: "no name", text: head(": b") },
    { name: "no colon", text: head("nothing") },
    { name: "a bare carriage return in a value", text: head("x-a: b\rset-cookie: c") },
    { name: "a bare line feed", text: "HTTP/1.1 200 OK\ncontent-length: 4\n\nbody" },
    { name: "a NUL in a value", text: head("x-a: b\0c") },
    { name: "another protocol", text: "SSH-2.0-x\r\n\r\n" },
    { name: "HTTP/2", text: "HTTP/2 200\r\n\r\n" },
    { name: "HTTP/1.2", text: "HTTP/1.2 200 OK\r\n\r\n" },
    { name: "a status of two digits", text: "HTTP/1.1 20 OK\r\n\r\n" },
    { name: "a status below 100", text: "HTTP/1.1 099 OK\r\n\r\n" },
    { name: "a head beyond its limit", text: head(`x-a: ${"a".repeat(5_000)}`), end: "HEAD_TOO_LARGE" },
    { name: "a head that never ends", text: `HTTP/1.1 200 OK\r\nx: ${"a".repeat(5_000)}`, end: "HEAD_TOO_LARGE" },
    { name: "TLS", text: "\x16\x03\x01\x00\x05\x01" },
    { name: "a chunk of no size", text: `${chunked}\r\n` },
    { name: "a chunk size that is no number", text: `${chunked}zz\r\n` },
    { name: "a chunk size with a sign", text: `${chunked}-1\r\n` },
    { name: "a chunk size with a prefix", text: `${chunked}0x5\r\nhello\r\n` },
    { name: "a chunk size behind a space", text: `${chunked} 5\r\nhello\r\n` },
    { name: "a chunk size before a space", text: `${chunked}5 \r\nhello\r\n` },
    { name: "a chunk size beyond exact numbers", text: `${chunked}fffffffffffff\r\n` },
    { name: "a chunk size that ends in a line feed alone", text: `${chunked}5\nhello\r\n` },
    { name: "a chunk longer than its size", text: `${chunked}4\r\nhello\r\n` },
    { name: "a chunk that ends in a line feed alone", text: `${chunked}5\r\nhello\n0\r\n\r\n` },
    { name: "a line feed inside an extension", text: `${chunked}5;a\nb\r\nhello\r\n` },
    { name: "extensions without end", text: `${chunked}5;${"a".repeat(20_000)}` },
    { name: "trailers without end", text: `${chunked}0\r\n${"a: b\r\n".repeat(8_000)}` },
  ];
  for (const row of bad) {
    it(`refuses ${row.name}, cut anywhere`, () => {
      const want = row.end ?? refused;
      assert.equal(parse(row.text).end, want);
      const step = Math.max(1, Math.floor(row.text.length / 100));
      for (let cut = 1; cut < row.text.length; cut += step) assert.equal(parse(row.text, [cut]).end, want);
    });
  }

  const whole = `${chunked}5\r\nhello\r\n0\r\n\r\n`;
  for (const text of [whole, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"]) {
    it(`takes no end of the connection for the end of an answer, wherever it comes: ${JSON.stringify(text.slice(17, 35))}`, () => {
      for (let cut = 0; cut < text.length; cut += 1) assert.equal(parse(text.slice(0, cut), [], true).end, refused);
      assert.equal(parse(text, [], true).end, "complete");
    });
  }

  it("begins anew for the next answer of the same connection", () => {
    const statuses: number[] = [];
    const parser = new MessageParser(responseKind, 4_096, {
      onHead: ({ status, framing }) => {
        statuses.push(status);
        return framing;
      },
      onBody: () => undefined,
      onComplete: () => undefined,
    });
    for (const status of [200, 500, 201]) {
      parser.next();
      const bytes = Buffer.from(`HTTP/1.1 ${status} x\r\ncontent-length: 2\r\n\r\nab`);
      assert.equal(parser.push(bytes), bytes.length);
      assert.equal(parser.isWhole, true);
    }
    assert.deepEqual(statuses, [200, 500, 201]);
    assert.equal(parser.push(Buffer.from("x")), 0);
  });
});

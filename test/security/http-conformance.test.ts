/**
 * docs/design/reliability.md D1: thirty-three rules of HTTP/1.1 framing and heads (RFC 9112), each with the answer they
 * demand; and D5: every case again one byte a packet, with the same verdict.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { chatBody, forbiddenMark, goodRequest, rawRequest, refusedBody } from "./rig/raw-request.ts";
import { checkRefusal, expectServed, type Rig, useRig } from "./rig/rig.ts";
import { clientKeys } from "./rig/rig-manifests.ts";

interface Case {
  readonly name: string;
  readonly bytes: Buffer;
  /** Answers that are right. */
  readonly status: readonly number[];
}

const body = refusedBody;
const size = Buffer.byteLength(body);
const hex = size.toString(16);
const chunk = `${hex}\r\n${body}\r\n`;

/** A POST with these framing lines and this text behind the head. */
function framed(lines: readonly string[], text: string): Buffer {
  return Buffer.concat([
    rawRequest({ framing: "none", body: "", headers: ["Content-Type: application/json", ...lines] }),
    Buffer.from(text, "latin1"),
  ]);
}

const te = "Transfer-Encoding: chunked";

/** What must be refused. */
const refused: readonly Case[] = [
  {
    name: "Content-Length and Transfer-Encoding",
    bytes: framed([`Content-Length: ${size}`, te], `${chunk}0\r\n\r\n`),
    status: [400],
  },
  {
    name: "Transfer-Encoding and Content-Length",
    bytes: framed([te, `Content-Length: ${size}`], `${chunk}0\r\n\r\n`),
    status: [400],
  },
  {
    name: "two Content-Length that differ",
    bytes: framed([`Content-Length: ${size}`, "Content-Length: 1"], body),
    status: [400],
  },
  {
    name: "two Content-Length that are equal",
    bytes: framed([`Content-Length: ${size}`, `Content-Length: ${size}`], body),
    status: [400],
  },
  { name: "a list of lengths", bytes: framed([`Content-Length: ${size}, ${size}`], body), status: [400] },
  { name: "a length with a plus", bytes: framed([`Content-Length: +${size}`], body), status: [400] },
  { name: "a length in hex", bytes: framed([`Content-Length: 0x${hex}`], body), status: [400] },
  { name: "a length beyond 2^64", bytes: framed(["Content-Length: 18446744073709551617"], body), status: [400] },
  { name: "a negative length", bytes: framed(["Content-Length: -1"], body), status: [400] },
  { name: "an unknown coding", bytes: framed(["Transfer-Encoding: xchunked"], `${chunk}0\r\n\r\n`), status: [400] },
  {
    name: "chunked, identity",
    bytes: framed(["Transfer-Encoding: chunked, identity"], `${chunk}0\r\n\r\n`),
    status: [400],
  },
  {
    name: "identity, chunked",
    bytes: framed(["Transfer-Encoding: identity, chunked"], `${chunk}0\r\n\r\n`),
    status: [400],
  },
  { name: "two Transfer-Encoding", bytes: framed([te, te], `${chunk}0\r\n\r\n`), status: [400] },
  {
    name: "Transfer-Encoding over HTTP/1.0",
    bytes: Buffer.from(framed([te], `${chunk}0\r\n\r\n`).toString("latin1").replace("HTTP/1.1", "HTTP/1.0"), "latin1"),
    status: [400],
  },
  {
    name: "a vertical tab before chunked",
    bytes: framed(["Transfer-Encoding: \vchunked"], `${chunk}0\r\n\r\n`),
    status: [400],
  },
  { name: "a space before the colon", bytes: framed([`Content-Length : ${size}`], body), status: [400] },
  { name: "a folded header", bytes: framed(["X-Folded: a\r\n b", `Content-Length: ${size}`], body), status: [400] },
  { name: "a bare LF in the head", bytes: framed([`X-A: b\nContent-Length: ${size}`], body), status: [400] },
  { name: "a bare CR in a value", bytes: framed([`X-A: b\rc`, `Content-Length: ${size}`], body), status: [400] },
  { name: "NUL in a value", bytes: framed(["X-A: b\0c", `Content-Length: ${size}`], body), status: [400] },
  { name: "a header without a name", bytes: framed([": value", `Content-Length: ${size}`], body), status: [400] },
  { name: "a header without a colon", bytes: framed(["no-colon", `Content-Length: ${size}`], body), status: [400] },
  {
    name: "a space at the start of the first header",
    bytes: Buffer.from(
      `POST /v1/chat/completions HTTP/1.1\r\n Host: x\r\nAuthorization: Bearer ${clientKeys.good}\r\n\r\n`,
    ),
    status: [400],
  },
  { name: "a chunk size that is none", bytes: framed([te], `zz\r\n${body}\r\n0\r\n\r\n`), status: [400] },
  {
    name: "a chunk size beyond 2^64",
    bytes: framed([te], `1${"0".repeat(16)}\r\n${body}\r\n0\r\n\r\n`),
    status: [400, 413],
  },
  { name: "a chunk size with 0x", bytes: framed([te], `0x${hex}\r\n${body}\r\n0\r\n\r\n`), status: [400] },
  {
    name: "a chunk that is longer than its size",
    bytes: framed([te], `${hex}\r\n${body}X\r\n0\r\n\r\n`),
    status: [400],
  },
  { name: "LF behind a chunk size", bytes: framed([te], `${hex}\n${body}\r\n0\r\n\r\n`), status: [400] },
  { name: "no Host", bytes: rawRequest({ host: null }), status: [400] },
  { name: "two Host", bytes: rawRequest({ headers: ["Host: b.test"] }), status: [400] },
  { name: "no version", bytes: rawRequest({ version: "" }), status: [400] },
  { name: "HTTP/1.2", bytes: rawRequest({ version: "HTTP/1.2" }), status: [400, 505] },
  { name: "a lower-case method", bytes: rawRequest({ method: "post" }), status: [400] },
];

/** What lies beside the thirty-three and must be refused as well. */
const alsoRefused: readonly Case[] = [
  { name: "Content_Length", bytes: rawRequest({ headers: ["Content_Length: 1"] }), status: [400] },
  { name: "transfer_encoding", bytes: rawRequest({ headers: ["transfer_encoding: chunked"] }), status: [400] },
  { name: "HTTP/2.0", bytes: rawRequest({ version: "HTTP/2.0" }), status: [400, 505] },
  { name: "HTTP/01.1", bytes: rawRequest({ version: "HTTP/01.1" }), status: [400] },
  { name: "http/1.1", bytes: rawRequest({ version: "http/1.1" }), status: [400] },
  {
    name: "a tab before the version",
    bytes: Buffer.from(rawRequest().toString("latin1").replace(" HTTP/1.1", "\tHTTP/1.1"), "latin1"),
    status: [400],
  },
  { name: "a NUL in a name", bytes: framed(["X\0A: b", `Content-Length: ${size}`], body), status: [400] },
  { name: "an 8-bit byte in a name", bytes: framed(["X\u00e9: b", `Content-Length: ${size}`], body), status: [400] },
  { name: "a negative chunk", bytes: framed([te], `-1\r\n${body}\r\n0\r\n\r\n`), status: [400] },
  { name: "a space in a chunk size", bytes: framed([te], `${hex} \r\n${body}\r\n0\r\n\r\n`), status: [400] },
  { name: "LF in a chunk extension", bytes: framed([te], `${hex};a=b\n${body}\r\n0\r\n\r\n`), status: [400] },
  { name: "CR without LF behind a chunk", bytes: framed([te], `${hex}\r\n${body}\r0\r\n\r\n`), status: [400] },
  {
    name: "bytes that are TLS",
    bytes: Buffer.from("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".padEnd(60, "\0"), "latin1"),
    status: [400],
  },
  { name: "an empty line of spaces", bytes: Buffer.from("   \r\n\r\n"), status: [400] },
];

describe("D1: conformance", () => {
  const rig = useRig();

  it("counts thirty-three", () => assert.equal(refused.length, 33));

  for (const row of [...refused, ...alsoRefused]) {
    it(`refuses ${row.name}`, async () => {
      const status = await statusOf(rig(), row.bytes);
      assert.ok(row.status.includes(status), `status ${status}`);
      await checkRefusal(rig(), { name: row.name, bytes: row.bytes, status, connection: "either" });
    });
  }

  for (const row of [...refused, ...alsoRefused]) {
    it(`D5: refuses ${row.name} one byte a packet`, async () => {
      const client = await rig().connect();
      const sending = client.writeInPieces(row.bytes, 1).catch(() => undefined);
      const response = await client.readResponse();
      assert.ok(row.status.includes(response.status), `status ${response.status}`);
      client.close();
      await sending;
    });
  }

  const chunkedBody = (text: string): Buffer =>
    framed([te], `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`);
  const accepted: readonly (readonly [string, Buffer])[] = [
    ["a length", goodRequest("fine")],
    ["chunked", chunkedBody(chatBody("open-a", "fine"))],
    [
      "chunked in upper case",
      Buffer.from(chunkedBody(chatBody("open-a", "fine")).toString().replace("chunked", "CHUNKED")),
    ],
    ["an empty line before the request", Buffer.concat([Buffer.from("\r\n"), goodRequest("fine")])],
    ["tabs around a value", rawRequest({ headers: ["X-A:\t a \t"], body: chatBody("open-a", "fine") })],
    ["an empty value", rawRequest({ headers: ["X-A:"], body: chatBody("open-a", "fine") })],
    [
      "8-bit bytes in a value of no importance",
      rawRequest({ headers: ["X-A: \u00e9"], body: chatBody("open-a", "fine") }),
    ],
    ["names with every legal sign", rawRequest({ headers: ["!#$%&'*+-.^_`|~: a"], body: chatBody("open-a", "fine") })],
    [
      "other names with underscores",
      rawRequest({ headers: ["session_id: 1", "x_forwarded_for: 1"], body: chatBody("open-a", "fine") }),
    ],
  ];
  for (const [name, bytes] of accepted) {
    it(`serves ${name}, whole, one byte a packet, and with a request behind`, async () => {
      const client = await rig().connect();
      client.write(bytes);
      await expectServed(rig(), client, "fine");
      await client.writeInPieces(bytes, 1);
      await expectServed(rig(), client, "fine");
      client.write(Buffer.concat([bytes, goodRequest("behind")]));
      await expectServed(rig(), client, "fine");
      await expectServed(rig(), client, "behind");
      client.close();
    });
  }

  it("D5: a request cut at every offset is the same request", async function () {
    this.timeout(30_000);
    const bytes = chunkedBody(chatBody("open-a", "fine"));
    const client = await rig().connect();
    for (let offset = 1; offset < bytes.length; offset += 1) {
      client.write(bytes.subarray(0, offset));
      await new Promise((resolve) => setImmediate(resolve));
      client.write(bytes.subarray(offset));
      await expectServed(rig(), client, "fine");
    }
    client.close();
  });

  it("HTTP/1.0 without Host is served and closed", async () => {
    const client = await rig().connect();
    client.write(rawRequest({ version: "HTTP/1.0", host: null, body: chatBody("open-a", "fine") }));
    await expectServed(rig(), client, "fine");
    assert.equal((await client.readToEnd()).length, 0);
  });

  it("marks what is refused", () =>
    assert.ok(refused.every(({ bytes }) => bytes.includes(forbiddenMark) || bytes.length < 200)));
});

async function statusOf(rig: Rig, bytes: Buffer): Promise<number> {
  return (await rig.exchange(bytes)).status;
}

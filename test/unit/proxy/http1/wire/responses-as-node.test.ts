/**
 * What our reader of responses takes for a response, Node's own takes for the same or refuses: status, headers and body.
 * Mutated at random, so that no byte of one response can be led into another by an upstream that writes as Node reads.
 */
import assert from "node:assert/strict";
import { type IncomingMessage, request } from "node:http";
import { Duplex } from "node:stream";
import fc from "fast-check";
import { MessageParser } from "#proxy/http1/wire/message-parser";
import { type ResponseHead, responseKind } from "#proxy/http1/wire/response-head";
import { framings, pieces } from "#test/support/http1-mutations";

/** Undefined where the response is refused, or no whole one is there. */
type Seen = string | undefined;

const describeResponse = (status: number, headers: readonly string[], body: string): string =>
  JSON.stringify([status, headers.map((text, index) => (index % 2 === 0 ? text.toLowerCase() : text)), body]);

function readByOurs(bytes: Buffer): Seen {
  let head: ResponseHead | undefined;
  let body = "";
  const parser = new MessageParser(responseKind, 16_384, {
    onHead: (read) => {
      head = read;
      return read.framing;
    },
    onBody: (chunk) => {
      body += chunk.toString("latin1");
    },
    onComplete: () => {},
  });
  parser.next();
  try {
    parser.push(bytes);
    if (!parser.isWhole) parser.end();
  } catch {
    return undefined;
  }
  return head === undefined ? undefined : describeResponse(head.status, head.headers, body);
}

/** The upstream: it says these bytes and ends. */
function connectionThatSays(bytes: Buffer): Duplex {
  return new Duplex({
    read() {
      this.push(bytes);
      this.push(null);
    },
    write: (_chunk, _encoding, done) => done(),
  });
}

function readByNodes(bytes: Buffer): Promise<Seen> {
  const { promise, resolve } = Promise.withResolvers<Seen>();
  const call = request({ method: "POST", path: "/", host: "x", createConnection: () => connectionThatSays(bytes) });
  let hasHead = false;
  const refuse = (): void => resolve(undefined);
  const refuseWithoutHead = (): void => {
    // Behind a head the response itself tells how it ended: bytes that come behind a whole one fail the call, not it.
    if (!hasHead) refuse();
  };
  call.on("response", (response: IncomingMessage) => {
    hasHead = true;
    let body = "";
    response.on("data", (chunk: Buffer) => {
      body += chunk.toString("latin1");
    });
    response.on("end", () => resolve(describeResponse(response.statusCode ?? 0, response.rawHeaders, body)));
    response.on("error", refuse);
    response.on("close", refuse);
  });
  // Where the protocol changes, HTTP ends for Node; ours refuses that above its parser (`client/connection.ts`).
  call.on("upgrade", refuse);
  call.on("error", refuseWithoutHead);
  call.on("close", refuseWithoutHead);
  call.end();
  return promise;
}

const responseFramings = [...framings, "Connection: close\r\n\r\nuntil the end"];
const starts = [
  "HTTP/1.1 200 OK\r\n",
  "HTTP/1.1 404\r\n",
  "HTTP/1.0 200 OK\r\n",
  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n",
  "HTTP/1.1 204 No Content\r\n",
  "HTTP/1.1 304 Not Modified\r\n",
];

/** Most of them damaged in a place or two. */
const messages = fc
  .tuple(
    fc.constantFrom(...starts),
    fc.constantFrom("", "A: b\r\n", "A:\r\n", "X-Y: \t z\t\r\n", "Keep-Alive: timeout=5\r\n"),
    fc.constantFrom(...responseFramings),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(...pieces), fc.nat(2)), { maxLength: 2 }),
  )
  .map(([start, header, framing, damages]) => {
    let text = start + header + framing;
    for (const [at, piece, removed] of damages) {
      const place = at % (text.length + 1);
      text = text.slice(0, place) + piece + text.slice(place + removed);
    }
    return text;
  });

describe("responses as Node's own client reads them", () => {
  it("are never others, whatever is done to their bytes", async () => {
    let agreed = 0;
    await fc.assert(
      fc.asyncProperty(messages, async (text) => {
        const bytes = Buffer.from(text, "latin1");
        const mine = readByOurs(bytes);
        if (mine === undefined) return;
        const theirs = await readByNodes(bytes);
        if (theirs === undefined) return;
        assert.equal(mine, theirs, JSON.stringify(text));
        agreed += 1;
      }),
      { numRuns: Number(process.env["TOLLGATE_PROPERTY_RUNS"] ?? 400) },
    );
    assert.ok(agreed > 50, `only ${agreed} messages were read at all`);
  });
});

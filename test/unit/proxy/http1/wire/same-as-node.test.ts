/**
 * What our reader of requests takes for a request, Node's own takes for the same or refuses: method, target, headers, body,
 * and where the next one begins. Mutated at random, so that no hop in front of the gateway that reads as Node does can be
 * led to see other requests in the same bytes.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import fc from "fast-check";
import type { Exchange } from "#proxy/http1/server/exchange";
import { framings, pieces } from "#test/support/http1-mutations";
import { Http1Server } from "#test/support/http1-server";

/** One line a request that was read to its end, and how the connection ended. */
type Seen = readonly string[];

const describeRequest = (method: string, url: string, headers: readonly string[], body: string): string =>
  JSON.stringify([method, url, ...headers, body]);

/** Sends the bytes and reads until the other side ends the connection, or has answered the mark behind them. */
async function exchange(port: number, bytes: Buffer): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  const ended = once(socket, "close");
  socket.on("error", () => {});
  let received = "";
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
    if (received.includes("x-mark")) socket.destroy();
  });
  socket.write(bytes);
  // What waits for more is told that nothing comes; what is open after that for no reason would hang this test.
  const deadline = setTimeout(() => socket.destroy(), 150);
  await ended;
  clearTimeout(deadline);
}

const mark = "GET /mark HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

const methods = ["POST", "GET", "DELETE"];
const requestFramings = [...framings, "\r\n"];

const request = fc
  .record({
    method: fc.constantFrom(...methods),
    target: fc.constantFrom("/v1/a", "/", "/a?b=%20#c", "http://x/y"),
    framing: fc.constantFrom(...requestFramings),
    header: fc.constantFrom("", "A: b\r\n", "A:\r\n", "X-Y: \t z\t\r\n", "Connection: keep-alive\r\n"),
  })
  .map(({ method, target, framing, header }) => `${method} ${target} HTTP/1.1\r\nHost: x\r\n${header}${framing}`);

/** One or two requests, most of them damaged in a place or two. */
const messages = fc
  .tuple(
    fc.array(request, { minLength: 1, maxLength: 2 }),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(...pieces), fc.nat(2)), { maxLength: 2 }),
  )
  .map(([requests, damages]) => {
    let text = requests.join("");
    for (const [at, piece, removed] of damages) {
      const place = at % (text.length + 1);
      text = text.slice(0, place) + piece + text.slice(place + removed);
    }
    return text;
  });

describe("requests as Node's own server reads them", function () {
  this.timeout(120_000);
  let ours: Http1Server;
  let nodes: Server;
  let seen: string[] = [];
  let hasRefused = false;

  before(async () => {
    ours = await Http1Server.start({ handle: (given) => answerOurs(given, seen) });
    nodes = createServer({ requireHostHeader: false }, (given, response) => {
      const chunks: Buffer[] = [];
      given.on("data", (chunk) => chunks.push(chunk));
      given.on("end", () => {
        const body = Buffer.concat(chunks).toString("latin1");
        seen.push(describeRequest(given.method ?? "", given.url ?? "", given.rawHeaders, body));
        response.writeHead(200, given.url === "/mark" ? { "x-mark": "1" } : {});
        response.end();
      });
    });
    nodes.on("clientError", (_error, socket) => {
      hasRefused = true;
      socket.destroy();
    });
    nodes.listen(0, "127.0.0.1");
    await once(nodes, "listening");
  });
  after(async () => {
    await ours.close();
    nodes.close();
    nodes.closeAllConnections();
  });

  async function readBy(port: number, text: string): Promise<Seen> {
    seen = [];
    hasRefused = false;
    await exchange(port, Buffer.from(text + mark, "latin1"));
    return seen;
  }

  it("are never others, whatever is done to their bytes", async () => {
    const { port } = nodes.address() as AddressInfo;
    let agreed = 0;
    await fc.assert(
      fc.asyncProperty(messages, async (text) => {
        const mine = await readBy(ours.port, text);
        if (mine.length === 0) return;
        const theirs = await readBy(port, text);
        const compared = hasRefused ? Math.min(mine.length, theirs.length) : mine.length;
        assert.deepEqual(mine.slice(0, compared), theirs.slice(0, compared), JSON.stringify(text));
        agreed += 1;
      }),
      { numRuns: Number(process.env["TOLLGATE_PROPERTY_RUNS"] ?? 400) },
    );
    assert.ok(agreed > 50, `only ${agreed} messages were read at all`);
  });
});

async function answerOurs({ request: given, response }: Exchange, seen: string[]): Promise<void> {
  // As the gateway, whose table of methods and paths holds neither others nor addresses.
  if (given.problem !== undefined || !methods.includes(given.method) || !given.url.startsWith("/")) {
    response.closeAfter();
    response.writeHead(400, [], 0);
    response.end();
    return;
  }
  const body = await new Promise<string | undefined>((resolve) => {
    let text = "";
    given.read({
      onChunk: (chunk) => {
        text += chunk.toString("latin1");
      },
      onEnd: () => resolve(text),
      onFailed: () => resolve(undefined),
    });
  });
  if (body === undefined) {
    response.destroy();
    return;
  }
  seen.push(describeRequest(given.method, given.url, given.rawHeaders, body));
  response.writeHead(200, given.url === "/mark" ? ["x-mark", "1"] : [], 0);
  response.end();
}

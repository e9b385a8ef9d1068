/** What clients send and nobody reads: it fills no memory, hides no leaving client, and comes to an end. */
import assert from "node:assert/strict";
import type { Exchange } from "#proxy/http1/server/exchange";
import { Http1Server, type Http1ServerOptions } from "#test/support/http1-server";
import { RawClient } from "#test/support/raw-client";
import { waitFor } from "#test/support/wait-for";

const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const chunkedHead = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
const headOfBytes = (bytes: number): string => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`;
/** More than the kernel takes of an answer whose client reads none of it. */
const largeAnswer = Buffer.alloc(16 * 1024 * 1024, "a");

function answer({ response }: Exchange, body: Buffer): void {
  response.writeHead(200, [], body.length);
  response.end(body);
}

describe("bytes that nobody reads", () => {
  let server: Http1Server | undefined;
  const clients: RawClient[] = [];
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await server?.close();
  });

  async function start(
    handle: Http1ServerOptions["handle"],
    options: Partial<Http1ServerOptions> = {},
  ): Promise<RawClient> {
    server = await Http1Server.start({ handle, ...options });
    return connect();
  }

  async function connect(): Promise<RawClient> {
    const client = await RawClient.connect({ port: server?.port ?? 0 });
    clients.push(client);
    return client;
  }

  it("of a body behind an answer that its client does not take are dropped, and too many end the connection", async () => {
    let chunks = 0;
    const to = await start((exchange) => {
      answer(exchange, largeAnswer);
      const { request } = exchange;
      const push = request.push.bind(request);
      request.push = (chunk) => {
        chunks += 1;
        push(chunk);
      };
    });
    to.socket.pause();
    to.write(headOfBytes(3_000_000));
    await waitFor("the request", () => server?.openRequests === 1);
    to.write("x".repeat(3_000_000));
    await waitFor("the end of the exchange", () => server?.openRequests === 0);
    assert.equal(chunks, 0);
  });

  it("for a while are few pieces, however small their chunks are", async () => {
    const pieces: string[] = [];
    const to = await start(async (exchange) => {
      const { request } = exchange;
      await waitFor("the whole body", () => request.complete);
      request.read({
        onChunk: (chunk) => void pieces.push(chunk.toString("latin1")),
        onEnd: () => answer(exchange, Buffer.from("a")),
        onFailed: () => assert.fail(),
      });
    });
    const letters = Array.from({ length: 10_000 }, (_, index) => String.fromCharCode(97 + (index % 26)));
    to.write(`${chunkedHead}${letters.map((letter) => `1\r\n${letter}\r\n`).join("")}0\r\n\r\n`);
    assert.equal((await to.readResponse()).status, 200);
    assert.equal(pieces.join(""), letters.join(""));
    assert.ok(pieces.length <= 65, `${pieces.length} pieces`);
  });

  it("of a body that is ignored do not hide that their client has left", async () => {
    let hasClosed = false;
    const to = await start((exchange) => {
      exchange.request.ignore();
      exchange.whenClosed(() => {
        hasClosed = true;
      });
    });
    to.write(headOfBytes(200_000) + "x".repeat(150_000));
    to.socket.end();
    await waitFor("the end of the exchange", () => hasClosed && server?.openRequests === 0);
  });

  for (const [name, head] of [
    ["of a body that is ignored", headOfBytes(20_000_000)],
    ["behind a broken body", `${chunkedHead}ZZ\r\n`],
  ] as const) {
    it(`${name} are bounded`, async () => {
      const to = await start((exchange) => exchange.request.ignore());
      to.write(head);
      await waitFor("the request", () => server?.openRequests === 1);
      to.write(Buffer.alloc(20_000_000, "x"));
      await waitFor("the end of the exchange", () => server?.openRequests === 0);
    });
  }

  it("behind requests are bounded over all connections, and given back", async () => {
    const waiting: Exchange[] = [];
    const first = await start((exchange) => void waiting.push(exchange), { earlyBytesMax: 1_000 });
    const fill = async (client: RawClient): Promise<void> => {
      const before = waiting.length;
      client.write(`${get}GET /${"a".repeat(700)} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await waitFor("the request", () => waiting.length === before + 1);
    };
    const answerNext = (): void => answer(waiting.shift() ?? assert.fail(), Buffer.from("a"));
    await fill(first);
    const second = await connect();
    await fill(second);
    answerNext();
    assert.equal((await first.readResponse()).header("connection"), "keep-alive");
    answerNext();
    assert.equal((await second.readResponse()).header("connection"), "close");
    await waitFor("the kept request", () => waiting.length === 1);
    const third = await connect();
    await fill(third);
    answerNext();
    assert.equal((await first.readResponse()).status, 200);
    answerNext();
    assert.equal((await third.readResponse()).header("connection"), "keep-alive");
  });
});

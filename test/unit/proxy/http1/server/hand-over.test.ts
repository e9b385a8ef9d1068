/** A connection that goes on in another protocol: who gets its bytes, and until when its request counts as open. */
import assert from "node:assert/strict";
import type { HandedOver } from "#proxy/http1/server/client-response";
import type { Exchange } from "#proxy/http1/server/exchange";
import { Http1Server } from "#test/support/http1-server";
import { RawClient } from "#test/support/raw-client";
import { waitFor } from "#test/support/wait-for";

const upgrade = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";
const accepted = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";

/** Says back what the client sends, in the other protocol. */
function echo({ socket, bytes }: HandedOver): void {
  socket.write(accepted);
  socket.write(bytes);
  socket.on("data", (chunk: Buffer) => void socket.write(chunk));
  socket.on("end", () => socket.end());
}

describe("a connection handed over", () => {
  let server: Http1Server | undefined;
  let client: RawClient | undefined;
  afterEach(async () => {
    client?.close();
    await server?.close();
  });

  async function start(handle: (exchange: Exchange) => Promise<void> | void, limits = {}): Promise<RawClient> {
    // A request is whole when the head of one without a body has been read to its end.
    const late = async (exchange: Exchange): Promise<void> => {
      await Promise.resolve();
      await handle(exchange);
    };
    server = await Http1Server.start({ handle: late, limits });
    client = await RawClient.connect({ port: server.port });
    return client;
  }

  const takeOver = ({ response }: Exchange): void => {
    const handedOver = response.handOver();
    if (handedOver === undefined) response.destroy();
    else echo(handedOver);
  };

  for (let cut = 0; cut <= upgrade.length; cut += 1) {
    it(`gives every byte behind the head to the other protocol, with a packet that ends at ${cut}`, async () => {
      const to = await start(takeOver);
      to.write(upgrade.slice(0, cut));
      await new Promise((resolve) => setImmediate(resolve));
      to.write(`${upgrade.slice(cut)}GET /`);
      to.write(" of the other protocol");
      await to.readUntil("the echo", (received) => received.toString() === `${accepted}GET / of the other protocol`);
    });
  }

  it("gives what arrived while the handler decided, in order", async () => {
    let decide = (): void => {};
    const to = await start(async (exchange) => {
      await new Promise<void>((resolve) => {
        decide = resolve;
      });
      takeOver(exchange);
    });
    to.write(upgrade);
    to.write("one ");
    to.write("two");
    await waitFor("the handler", () => server?.openRequests === 1);
    await new Promise((resolve) => setImmediate(resolve));
    decide();
    await to.readUntil("the echo", (received) => received.toString() === `${accepted}one two`);
  });

  it("counts the request as open until the socket has closed, and tells its exchange", async () => {
    let isOver = false;
    const to = await start((exchange) => {
      exchange.whenClosed(() => {
        isOver = true;
      });
      takeOver(exchange);
    });
    to.write(`${upgrade}bytes`);
    await to.readUntil("the echo", (received) => received.toString().endsWith("bytes"));
    assert.deepEqual([server?.openRequests, isOver], [1, false]);
    to.end();
    await waitFor("the end", () => server?.openRequests === 0);
    assert.equal(isOver, true);
  });

  it("ends it when the port is drained and its time is over", async () => {
    const to = await start(takeOver);
    to.write(upgrade);
    await to.readUntil("the response", (received) => received.toString() === accepted);
    await server?.drain();
    await waitFor("the end", () => to.isEnded);
  });

  it("hands nothing over with a body still to come, and the client gets a response", async () => {
    const to = await start(({ response }) => {
      assert.equal(response.handOver(), undefined);
      response.writeHead(400, [], 0);
      response.end();
    });
    to.write("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: echo\r\nContent-Length: 5\r\n\r\nab");
    assert.equal((await to.readResponse()).status, 400);
  });

  it("hands nothing over where more came behind the head than is kept", async () => {
    let isHandedOver: boolean | undefined;
    let decide = (): void => {};
    const to = await start(async ({ request, response }) => {
      if (request.url !== "/") {
        response.writeHead(200, [], 0);
        response.end();
        return;
      }
      await new Promise<void>((resolve) => {
        decide = resolve;
      });
      isHandedOver = response.handOver() !== undefined;
      response.destroy();
    });
    to.write(upgrade);
    to.write("x".repeat(100_000));
    await waitFor("all bytes to be sent", () => to.socket.writableLength === 0);
    // The server reads its sockets in turn: when it has served others, it has read what came before them.
    const second = await RawClient.connect({ port: server?.port ?? 0 });
    for (let count = 0; count < 5; count += 1) {
      second.write("GET /other HTTP/1.1\r\nHost: x\r\n\r\n");
      await second.readResponse();
    }
    second.close();
    decide();
    await waitFor("the decision", () => isHandedOver !== undefined);
    assert.equal(isHandedOver, false);
  });

  it("hands nothing over twice, or behind a response that has begun", async () => {
    const to = await start(({ response }) => {
      const handedOver = response.handOver();
      assert.ok(handedOver !== undefined);
      assert.equal(response.handOver(), undefined);
      assert.throws(() => response.writeHead(200, [], 0));
      echo(handedOver);
    });
    to.write(`${upgrade}x`);
    await to.readUntil("the echo", (received) => received.toString() === `${accepted}x`);
  });
});

/** A client that stops reading at the end of a response is cut, whatever it sends; one that reads is not. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { describe, it } from "mocha";
import type { ClientResponse } from "#proxy/http1/server/client-response";
import { endResponse } from "#proxy/upstream/client/end-response";
import { Http1Server } from "#test/support/http1-server";
import { waitFor } from "#test/support/wait-for";

/** More than the kernel may take for a client that reads nothing. */
const large = Buffer.alloc(96 * 1024 * 1024, "x");
/** Longer than a busy machine keeps a process waiting. */
const silenceMs = 1_000;

async function respond(
  manner: "reads" | "reads slowly" | "does not read" | "does not read and goes on sending",
): Promise<{ readonly receivedBytes: number; readonly isWhole: boolean }> {
  let response: ClientResponse | undefined;
  const server = await Http1Server.start({
    limits: { slowReaderTimeoutMs: silenceMs },
    handle: (exchange) => {
      response = exchange.response;
      respondLarge(exchange.response);
    },
  });
  const socket = connect(server.port, "127.0.0.1");
  let receivedBytes = 0;
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    receivedBytes += chunk.length;
  });
  if (manner.startsWith("does not read")) socket.pause();
  const timer = manner === "reads slowly" ? readSlowly(socket) : undefined;
  const sending = manner.endsWith("sending") ? sendOn(socket) : undefined;
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  await waitFor("the end of the response", () => response?.destroyed === true || response?.writableFinished === true, {
    deadlineMs: 20_000,
  });
  const isWhole = response?.writableFinished === true;
  if (isWhole) await waitFor("all bytes", () => receivedBytes > large.length);
  clearInterval(timer);
  clearInterval(sending);
  socket.destroy();
  await server.close();
  return { receivedBytes, isWhole };
}

function respondLarge(response: ClientResponse): void {
  // The gateway responds when it has the whole request.
  setImmediate(() => {
    response.writeHead(200, [], large.length);
    endResponse(response, large);
  });
}

/** Takes some of the response now and then: several times as long as the response may be held without any progress. */
function readSlowly(socket: Socket): NodeJS.Timeout {
  let taken = 0;
  socket.on("data", (chunk) => {
    taken += chunk.length;
    if (taken < 8 * 1024 * 1024) return;
    taken = 0;
    socket.pause();
  });
  return setInterval(() => socket.resume(), silenceMs / 4);
}

/** The head of another request, a byte now and then. */
function sendOn(socket: Socket): NodeJS.Timeout {
  const head = "GET / HTTP/1.1\r\nx-long: ".padEnd(500, "x");
  let sent = 0;
  return setInterval(() => {
    socket.write(head.charAt(sent));
    sent += 1;
  }, silenceMs / 4);
}

describe("endResponse()", function () {
  this.timeout(30_000);

  for (const manner of ["reads", "reads slowly"] as const) {
    it(`lets a client that ${manner} have all of a large response`, async () => {
      const { isWhole, receivedBytes } = await respond(manner);
      assert.ok(isWhole && receivedBytes > large.length);
    });
  }

  for (const manner of ["does not read", "does not read and goes on sending"] as const) {
    it(`cuts a client that ${manner}`, async () => {
      const { isWhole } = await respond(manner);
      assert.equal(isWhole, false);
    });
  }

  it("hears the next request of a client that took all of a large response", async () => {
    let requests = 0;
    const server = await Http1Server.start({
      limits: { slowReaderTimeoutMs: silenceMs },
      handle: ({ response }) => {
        requests += 1;
        respondLarge(response);
      },
    });
    const socket = connect(server.port, "127.0.0.1");
    let receivedBytes = 0;
    socket.on("data", (chunk) => {
      receivedBytes += chunk.length;
    });
    for (const round of [1, 2]) {
      socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
      await waitFor("all bytes", () => receivedBytes > round * large.length, { deadlineMs: 20_000 });
    }
    socket.destroy();
    await server.close();
    assert.equal(requests, 2);
  });
});

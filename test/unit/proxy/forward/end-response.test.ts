/** A client that stops reading at the end of an answer is cut; one that reads is not. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { describe, it } from "mocha";
import { endResponse } from "../../../../proxy/forward/end-response.ts";
import { waitFor } from "../../../support/wait-for.ts";

/** More than the kernel may take for a client that reads nothing. */
const large = Buffer.alloc(96 * 1024 * 1024, "x");
/** Longer than a busy machine keeps a process waiting. */
const silenceMs = 1_000;

async function answer(
  manner: "reads" | "reads slowly" | "does not read",
): Promise<{ readonly receivedBytes: number; readonly isWhole: boolean }> {
  let response: ServerResponse | undefined;
  const server = createServer((_request, answered) => {
    response = answered;
    answered.writeHead(200, { "content-length": large.length });
    endResponse(answered, large, silenceMs);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let receivedBytes = 0;
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    receivedBytes += chunk.length;
  });
  if (manner === "does not read") socket.pause();
  const timer = manner === "reads slowly" ? readSlowly(socket) : undefined;
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  await waitFor("the end of the answer", () => response?.destroyed === true || response?.writableFinished === true, {
    deadlineMs: 20_000,
  });
  const isWhole = response?.writableFinished === true;
  if (isWhole) await waitFor("all bytes", () => receivedBytes > large.length);
  clearInterval(timer);
  socket.destroy();
  server.close();
  server.closeAllConnections();
  return { receivedBytes, isWhole };
}

/** Takes some of the answer now and then: several times as long as the answer may be held without any progress. */
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

describe("endResponse()", function () {
  this.timeout(30_000);

  for (const manner of ["reads", "reads slowly"] as const) {
    it(`lets a client that ${manner} have all of a large answer`, async () => {
      const { isWhole, receivedBytes } = await answer(manner);
      assert.ok(isWhole && receivedBytes > large.length);
    });
  }

  it("cuts a client that does not read", async () => {
    const { isWhole } = await answer("does not read");
    assert.equal(isWhole, false);
  });
});

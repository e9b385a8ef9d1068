/** A client that stops reading at the end of an answer is cut; one that reads is not. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, it } from "mocha";
import { endResponse } from "../../../../proxy/forward/end-response.ts";
import { waitFor } from "../../../support/wait-for.ts";

/** More than the kernel may take for a client that reads nothing. */
const large = Buffer.alloc(96 * 1024 * 1024, "x");

async function answer(isReading: boolean): Promise<{ readonly receivedBytes: number; readonly isWhole: boolean }> {
  let response: ServerResponse | undefined;
  const server = createServer((_request, answered) => {
    response = answered;
    answered.writeHead(200, { "content-length": large.length });
    endResponse(answered, large, 300);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let receivedBytes = 0;
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    receivedBytes += chunk.length;
  });
  if (!isReading) socket.pause();
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  await waitFor("the end of the answer", () => response?.destroyed === true || response?.writableFinished === true);
  if (isReading) await waitFor("all bytes", () => receivedBytes > large.length);
  const isWhole = response?.writableFinished === true;
  socket.destroy();
  server.close();
  server.closeAllConnections();
  return { receivedBytes, isWhole };
}

describe("endResponse()", () => {
  it("lets a client that reads have all of a large answer", async () => {
    const { isWhole, receivedBytes } = await answer(true);
    assert.ok(isWhole && receivedBytes > large.length);
  });

  it("cuts a client that does not read", async () => {
    const { isWhole } = await answer(false);
    assert.equal(isWhole, false);
  });
});

/** A client that writes a byte a chunk makes a form take no more memory than its bytes, and these are counted (F6). */
import assert from "node:assert/strict";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { field, file, formOf, formServers } from "#test/support/form-server";
import { waitFor, within } from "#test/support/wait-for";

const kiB = 1024;
/** What the runtime itself takes and gives back meanwhile; a list of the chunks would take tens of megabytes. */
const noiseBytes = 3 * 1024 * kiB;
/** So many chunks take their time on a busy machine. */
const patience = { deadlineMs: 20_000 };
const headers = ["Content-Type: multipart/form-data; boundary=b", "Transfer-Encoding: chunked"];
setFlagsFromString("--expose-gc");
const collectGarbage: unknown = runInNewContext("gc");

/** What is in use, once all that nobody holds is gone. */
function bytesInUse(): number {
  if (typeof collectGarbage === "function") collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Each byte in a chunk of its own. */
function chunked(bytes: Buffer): Buffer {
  const text = Buffer.from("1\r\nx\r\n");
  const all = Buffer.alloc(bytes.length * text.length);
  for (const [index, byte] of bytes.entries()) {
    text[3] = byte;
    text.copy(all, index * text.length);
  }
  return Buffer.concat([all, Buffer.from("0\r\n\r\n")]);
}

/** Bytes in which no two places near each other look alike. */
function bytesOf(length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, index) => (index * 7 + (index >> 8)) % 256));
}

describe("readForm, a byte a chunk", function () {
  this.timeout(60_000);
  const start = formServers();

  it("holds no more of a file that waits for the disk than is counted", async () => {
    const disk = Promise.withResolvers<void>();
    const server = await start({ openFile: (open) => disk.promise.then(open) });
    const content = bytesOf(320 * kiB);
    const body = chunked(formOf([file("image", content)]));
    const before = bytesInUse();
    const sent = await server.send([body], headers);
    // The last bytes may be those of a boundary until the next ones have come.
    await waitFor("all to wait for the disk", () => server.spool.bytes >= 63 * kiB || undefined, patience);
    const held = bytesInUse() - before;
    assert.ok(held < server.inFlight.bytes + noiseBytes, `${held} bytes for ${server.inFlight.bytes} that are counted`);
    disk.resolve();
    const outcome = await server.outcomeOf(sent);
    assert.deepEqual(outcome, [["image", content.toString("latin1"), "a.png", "image/png"]]);
  });

  it("holds no more of a field than is counted", async () => {
    const server = await start({});
    const value = "v".repeat(256 * kiB);
    const whole = formOf([field("prompt", value)]);
    const body = chunked(whole.subarray(0, whole.length - 10));
    const before = bytesInUse();
    // Its end never comes.
    const sent = await server.send([body.subarray(0, body.length - 5)], headers);
    await waitFor("the field", () => server.inFlight.bytes >= 255 * kiB || undefined, patience);
    const held = bytesInUse() - before;
    assert.ok(held < server.inFlight.bytes + noiseBytes, `${held} bytes for ${server.inFlight.bytes} that are counted`);
    sent.socket.destroy();
    assert.equal(await within(5_000, "the end", server.outcomeOf(sent)), "client_gone");
  });
});

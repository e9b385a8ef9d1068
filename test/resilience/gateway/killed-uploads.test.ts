import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { field, file, formOf } from "#test/support/form-server";
import { waitFor } from "#test/support/wait-for";

const relay = fileURLToPath(new URL("../../support/upload-relay.ts", import.meta.url));
const uploadsAtOnce = 5;

/** A process that is killed has no moment to clean up: its temporary files must never have had a name. */
describe("uploads of a proxy that is killed", () => {
  let folder: string;
  let process_: ChildProcess | undefined;
  const sockets: Socket[] = [];

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-killed-"));
  });
  afterEach(() => {
    process_?.kill("SIGKILL");
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function spooledBytes(child: ChildProcess): Promise<number> {
    const message = once(child, "message");
    child.send("usage");
    const [usage] = await message;
    return usage.spooledBytes;
  }

  for (let round = 1; round <= 20; round += 1) {
    // At once: the file is just being opened.
    const isEarly = round % 2 === 0;
    it(`leaves no file in round ${round}, ${isEarly ? "while they begin" : "while files are on disk"}`, async () => {
      const child = fork(relay, ["forms", "9", folder]);
      process_ = child;
      const [{ port }] = await once(child, "message");
      const body = formOf([field("model", "m"), file("image", Buffer.alloc(3_000_000, "x"))]);
      const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${body.length}\r\n\r\n`;
      for (let upload = 0; upload < uploadsAtOnce; upload += 1) {
        const socket = connect({ port, host: "127.0.0.1" });
        socket.on("error", () => {});
        sockets.push(socket);
        socket.write(head);
        socket.write(body.subarray(0, 2_500_000));
      }
      const least = isEarly ? 1 : uploadsAtOnce * 1_000_000;
      await waitFor("the uploads to be spooled", async () => (await spooledBytes(child)) >= least);
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      assert.deepEqual(await ended, [null, "SIGKILL"]);
      assert.deepEqual(readdirSync(folder), []);
    });
  }
});

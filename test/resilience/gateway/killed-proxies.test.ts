/** Kills proxies of the real program while pictures are uploaded to them: no file of theirs stays. */
import assert from "node:assert/strict";
import { mkdtemp, readdir, readlink, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "mocha";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { FakeUpstream } from "#test/support/fake-upstream";
import { field, file, formOf } from "#test/support/form-server";
import { type Gateway, startGateway } from "#test/support/start-gateway";
import { waitFor } from "#test/support/wait-for";

const rounds = 20;
const uploadsAtOnce = 3;

describe("uploads to proxies of the program that are killed", function () {
  this.timeout(60_000);
  let spool: string;
  let upstream: FakeUpstream;
  let gateway: Gateway | undefined;
  let manifests: string;
  const sockets: Socket[] = [];

  before(async () => {
    spool = await mkdtemp(join(tmpdir(), "tollgate-killed-"));
    upstream = await FakeUpstream.start();
    manifests = manifestOf(
      keyManifest("k"),
      channelSecretManifest(),
      channelManifest("pictures", upstream.origin, { formats: [{ type: "ImageEdits" }] }),
      routeManifest("pictures", { capabilities: ["ImageEdit"] }),
    );
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await gateway?.close();
    gateway = undefined;
  });
  after(async () => {
    await upstream?.close();
    await rm(spool, { recursive: true, force: true });
  });

  async function openFiles(pid: number): Promise<number> {
    const fds = await readdir(`/proc/${pid}/fd`).catch(() => []);
    const targets = await Promise.all(fds.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => "")));
    return targets.filter((target) => target.startsWith(spool)).length;
  }

  function upload(port: number): void {
    const body = formOf([
      field("model", "pictures"),
      field("prompt", "night"),
      file("image", Buffer.alloc(3_000_000, "x")),
    ]);
    const head = [
      "POST /v1/images/edits HTTP/1.1",
      "Host: a",
      `Authorization: Bearer ${clientKey("k")}`,
      "Content-Type: multipart/form-data; boundary=b",
      `Content-Length: ${body.length}`,
      "",
      "",
    ].join("\r\n");
    const socket = connect({ port, host: "127.0.0.1" }).on("error", () => {});
    sockets.push(socket);
    socket.write(head);
    socket.write(body.subarray(0, 2_500_000));
  }

  for (let round = 1; round <= rounds; round += 1) {
    it(`leaves no file in round ${round}`, async () => {
      gateway = await startGateway({ manifests: { "all.json": manifests }, flags: [`--spool=${spool}`] });
      const { port, logs } = gateway;
      // The proxy's own process; the operator stays.
      const pid = Number(/"process":(\d+)/.exec(logs)?.[1]);
      for (let index = 0; index < uploadsAtOnce; index += 1) upload(port);
      await waitFor("the uploads to be on disk", async () => (await openFiles(pid)) === uploadsAtOnce);
      process.kill(pid, "SIGKILL");
      await waitFor("its end", async () => (await openFiles(pid)) === 0);
      assert.deepEqual(await readdir(spool), []);
      assert.equal(upstream.requests.length, 0);
    });
  }
});

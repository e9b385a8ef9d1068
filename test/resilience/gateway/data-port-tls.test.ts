/** The data port over TLS: what holds for plain connections holds here as well. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { after, before, describe, it } from "mocha";
import { buildAuthority, buildLeaf, type KeyPair } from "#operator/certificates/build-certificate";
import { RawClient } from "#test/support/raw-client";
import { chunk, streamHead } from "#test/support/resilience/byte-upstream";
import { callBytes } from "#test/support/resilience/call-gateway";
import { formatNamed } from "#test/support/resilience/formats";
import { proxyProcessOf } from "#test/support/resilience/processes";
import { type Rig, startRig } from "#test/support/resilience/rig";
import { waitFor } from "#test/support/wait-for";

const chat = formatNamed("ChatCompletions");
const day = 24 * 3_600_000;

describe("the data port over TLS", function () {
  this.timeout(30_000);
  let rig: Rig;
  let folder: string;
  let ca: string;
  let authority: KeyPair;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-tls-"));
    const validity = { notBeforeMs: Date.now() - day, notAfterMs: Date.now() + day };
    authority = await buildAuthority("test", { ...validity, notBeforeMs: Date.now() - 9 * day });
    const leaf = await buildLeaf(authority, { ...validity, dnsNames: ["localhost"] });
    ca = authority.certificate;
    const [cert, key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
    await writeFile(cert, leaf.certificate);
    await writeFile(key, leaf.privateKey);
    rig = await startRig({ flags: [`--tls-cert=${cert}`, `--tls-key=${key}`] });
  });
  after(async () => {
    await rig?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function open(version: string): Promise<RawClient> {
    const client = await RawClient.connect({ port: rig.port, ca });
    client.write(callBytes({ port: rig.port, format: chat, model: "echo" }).replace("HTTP/1.1", version));
    return client;
  }

  for (const version of ["HTTP/1.1", "HTTP/1.0"]) {
    it(`a stream that is cut ends over ${version} for its client alone`, async () => {
      const proxy = await proxyProcessOf(rig.gateway);
      const [first = "", second = ""] = chat.events();
      rig.upstream.replyWith(({ socket }) => {
        socket.write(streamHead);
        socket.end(chunk(first + second));
      });
      const client = await open(version);
      const text = (await client.readResponse()).body.toString("utf8");
      client.close();
      assert.ok(text.includes(first.trim()), text);
      assert.match(text, chat.errorEvent);
      assert.ok(!text.includes(chat.terminator), text);
      rig.upstream.replyWith(({ socket }) => {
        socket.write(streamHead);
        socket.write(chunk(chat.events().join("")));
        socket.write(chunk(""));
      });
      const next = await open("HTTP/1.1");
      assert.equal((await next.readResponse()).isComplete, true);
      next.close();
      assert.equal(await proxyProcessOf(rig.gateway), proxy, "the proxy is another one now");
    });
  }

  it("serves a certificate that has ended, and says so in log and metrics, until it is renewed", async () => {
    const write = async (fromDays: number, toDays: number) => {
      const validity = { notBeforeMs: Date.now() + fromDays * day, notAfterMs: Date.now() + toDays * day };
      const leaf = await buildLeaf(authority, { ...validity, dnsNames: ["localhost"] });
      await writeFile(join(folder, "tls.key"), leaf.privateKey);
      await writeFile(join(folder, "tls.crt"), leaf.certificate);
    };
    const leftDays = async () => {
      const text = await (await fetch(`${rig.gateway.adminOrigin}/metrics`)).text();
      return (
        Number(/^tollgate_data_certificate_expiry_seconds\{certificate="data port"\} (\S+)$/m.exec(text)?.[1]) / 86_400
      );
    };
    assert.equal(Math.round(await leftDays()), 1);
    await write(-9, -2);
    await waitFor("the gauge to fall", async () => Math.round(await leftDays()) === -2);
    assert.match(rig.gateway.logs, /"level":"warn".*the certificate of the data port expired at .* set the clock/);
    const client = connect({ port: rig.port, ca, servername: "localhost" });
    const [error] = await once(client, "error");
    assert.equal(error.code, "CERT_HAS_EXPIRED", "it is served, and the client refuses it");
    await write(-1, 1);
    await waitFor("the gauge to rise", async () => Math.round(await leftDays()) === 1);
    assert.match(rig.gateway.logs, /the certificate of the data port is valid again/);
    assert.equal(rig.gateway.logs.match(/certificate of the data port expired/g)?.length, 1);
  });
});

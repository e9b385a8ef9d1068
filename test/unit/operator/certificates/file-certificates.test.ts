import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildAuthority, buildLeaf, type KeyPair } from "#operator/certificates/build-certificate";
import { FileCertificates } from "#operator/certificates/file-certificates";
import { ManualTimers } from "#test/support/manual-timers";
import { waitFor } from "#test/support/wait-for";

const validity = { notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2027, 0, 1) };

describe("FileCertificates", () => {
  let folder: string;
  let authority: KeyPair;
  let timers: ManualTimers;
  let failures: number;
  let told: string[];
  let certificates: FileCertificates;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-files-"));
    authority = await buildAuthority("somebody else's", validity);
    timers = new ManualTimers();
    failures = 0;
    told = [];
    certificates = new FileCertificates({
      certificateFile: join(folder, "tls.crt"),
      privateKeyFile: join(folder, "tls.key"),
      bundleFile: join(folder, "ca.crt"),
      checkEveryMs: 60_000,
      log: {
        info: (message) => told.push(message),
        warn: (message) => told.push(message),
        error() {
          failures += 1;
        },
      },
      timers,
    });
  });
  afterEach(async () => {
    certificates.close();
    await rm(folder, { recursive: true });
  });

  async function write(pair: KeyPair): Promise<void> {
    await writeFile(join(folder, "tls.crt"), pair.certificate);
    await writeFile(join(folder, "tls.key"), pair.privateKey);
    await writeFile(join(folder, "ca.crt"), authority.certificate);
  }
  const serving = () => certificates.current;
  const expiry = () => certificates.expiry;
  const newLeaf = () => buildLeaf(authority, { ...validity, dnsNames: ["push"] });

  it("waits for files that are not there yet", async () => {
    const started = certificates.start();
    await waitFor("a failure", () => failures === 1 && timers.waiting === 1);
    assert.equal(serving(), undefined);
    assert.equal(expiry(), undefined);
    await write(await newLeaf());
    timers.advance(60_000);
    await started;
    assert.equal(serving()?.bundle, authority.certificate);
    assert.equal(expiry()?.leafMs, validity.notAfterMs);
  });

  it("takes a renewed certificate and tells once", async () => {
    await write(await newLeaf());
    await certificates.check();
    const told: string[] = [];
    certificates.onChange(({ certificate }) => told.push(certificate));
    await certificates.check();
    const renewed = await newLeaf();
    await write(renewed);
    await certificates.check();
    await certificates.check();
    assert.deepEqual(told, [renewed.certificate]);
  });

  for (const row of [
    {
      name: "a key that belongs to another certificate",
      file: "tls.key",
      content: async () => (await newLeaf()).privateKey,
    },
    { name: "half a certificate", file: "tls.crt", content: async () => (await newLeaf()).certificate.slice(0, 200) },
    { name: "an empty key", file: "tls.key", content: async () => "" },
  ]) {
    it(`keeps what serves when it finds ${row.name}`, async () => {
      await write(await newLeaf());
      await certificates.check();
      const { current } = certificates;
      await writeFile(join(folder, row.file), await row.content());
      await assert.rejects(certificates.check());
      assert.equal(certificates.current, current);
    });
  }

  it("serves a certificate that has ended, and warns of it when it is read, when that changes, and once a day", async () => {
    const nowMs = timers.wallClock();
    const hour = 3_600_000;
    const endingIn = (hours: number) =>
      buildLeaf(authority, { notBeforeMs: nowMs - 24 * hour, notAfterMs: nowMs + hours * hour, dnsNames: ["push"] });
    /** One look after another, as fast as files are read. */
    const passMinutes = async (minutes: number) => {
      for (let minute = 0; minute < minutes; minute += 1) {
        await waitFor("the look to end", () => timers.waiting === 1);
        timers.advance(60_000);
      }
      await waitFor("the look to end", () => timers.waiting === 1);
    };
    const takeTold = () => told.splice(0).map((line) => line.replace("the certificate of the push endpoint ", ""));
    await write(await endingIn(2));
    await certificates.start();
    await passMinutes(60);
    const [soon, ...others] = takeTold();
    assert.match(soon ?? "", /^expires at 2023-\d\d-\d\dT.* and was not renewed;/);
    assert.deepEqual(others, []);
    await rm(join(folder, "tls.key"));
    await passMinutes(62);
    assert.match(
      takeTold().join(),
      /^expired at .* renew it or set the clock; a renewed certificate is read without a restart$/,
    );
    assert.ok(failures > 60, "the files are missing");
    assert.ok(certificates.current !== undefined);
    timers.advance(25 * hour);
    await waitFor("it to be told again", () => told.length > 0);
    assert.match(takeTold().join(), /^expired at /);
    await write(await endingIn(100));
    await passMinutes(1);
    assert.match(takeTold().join(), /^is valid again, until /);
  });
});

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildAuthority, buildLeaf, type KeyPair } from "../../../../operator/certificates/build-certificate.ts";
import { FileCertificates } from "../../../../operator/certificates/file-certificates.ts";
import { ManualTimers } from "../../../support/manual-timers.ts";
import { waitFor } from "../../../support/wait-for.ts";

const validity = { notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2027, 0, 1) };

describe("FileCertificates", () => {
  let folder: string;
  let authority: KeyPair;
  let timers: ManualTimers;
  let failures: number;
  let certificates: FileCertificates;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-files-"));
    authority = await buildAuthority("somebody else's", validity);
    timers = new ManualTimers();
    failures = 0;
    certificates = new FileCertificates({
      certificateFile: join(folder, "tls.crt"),
      privateKeyFile: join(folder, "tls.key"),
      bundleFile: join(folder, "ca.crt"),
      checkEveryMs: 60_000,
      log: {
        info() {},
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
});

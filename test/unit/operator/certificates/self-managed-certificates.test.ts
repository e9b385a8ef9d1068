import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import type { CertificatePeriods } from "#operator/certificates/authorities";
import { SelfManagedCertificates } from "#operator/certificates/self-managed-certificates";
import { MemoryOwnedData } from "#test/support/fleet/memory-owned-data";
import { ManualTimers } from "#test/support/manual-timers";

const hourMs = 3_600_000;
const periods: CertificatePeriods = {
  authorityLifeMs: 300 * hourMs,
  announceMs: hourMs,
  leafLifeMs: 24 * hourMs,
  checkEveryMs: 300_000,
};

describe("SelfManagedCertificates", () => {
  let secret: MemoryOwnedData;
  let bundle: MemoryOwnedData;
  let timers: ManualTimers;

  beforeEach(() => {
    secret = new MemoryOwnedData();
    bundle = new MemoryOwnedData();
    timers = new ManualTimers();
  });

  function operator(): SelfManagedCertificates {
    const log = { info() {}, warn() {}, error() {} };
    return new SelfManagedCertificates({ secret, bundle, dnsNames: ["push"], log, periods, timers });
  }

  function authoritiesIn(pem: string | undefined): X509Certificate[] {
    const blocks = pem?.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    return blocks.map((block) => new X509Certificate(block));
  }

  /** What a handshake needs: one of the bundle's authorities signed the leaf, and both are valid now. */
  function assertTrusted(certificates: SelfManagedCertificates, trusted: string | undefined): void {
    const leaf = new X509Certificate(certificates.current?.certificate ?? "");
    const issuer = authoritiesIn(trusted).find((authority) => leaf.verify(authority.publicKey));
    assert.ok(issuer !== undefined, "no authority of the bundle signed the leaf");
    for (const { validFromDate, validToDate } of [leaf, issuer]) {
      assert.ok(validFromDate.getTime() <= timers.wallClock() && timers.wallClock() < validToDate.getTime());
    }
  }

  it("makes an authority once, and one leaf for each operator", async () => {
    const [first, second] = [operator(), operator()];
    await Promise.all([first.check(), second.check()]);
    assert.equal(secret.writes, 1);
    assert.equal(bundle.writes, 1);
    assertTrusted(first, bundle.data?.["ca.crt"]);
    assertTrusted(second, bundle.data?.["ca.crt"]);
    assert.notEqual(first.current?.certificate, second.current?.certificate);
    assert.ok(!JSON.stringify([secret.data, bundle.data]).includes(first.current?.privateKey.slice(40, 90) ?? ""));
    assert.doesNotMatch(JSON.stringify(bundle.data), /PRIVATE KEY/);
  });

  it("renews the leaf at two thirds of its life and not before", async () => {
    const certificates = operator();
    await certificates.check();
    const first = certificates.current?.certificate;
    timers.advance(15 * hourMs);
    await certificates.check();
    assert.equal(certificates.current?.certificate, first);
    timers.advance(hourMs);
    await certificates.check();
    assert.notEqual(certificates.current?.certificate, first);
    assert.equal(secret.writes, 1);
  });

  it("keeps every handshake possible over three authorities, also with bundles an hour old", async () => {
    const certificates = operator();
    const seen = new Set<string>();
    const bundles: (string | undefined)[] = [];
    for (let minute = 0; minute < 900 * 60; minute += 30) {
      await certificates.check();
      bundles.push(bundle.data?.["ca.crt"]);
      assertTrusted(certificates, bundles.at(-1));
      // A proxy that read the bundle up to an hour ago.
      assertTrusted(certificates, bundles.at(-3) ?? bundles[0]);
      assert.ok(authoritiesIn(bundles.at(-1)).length <= 3);
      seen.add(secret.data?.["ca.crt"] ?? "");
      timers.advance(30 * 60_000);
    }
    assert.ok(seen.size >= 4, `${seen.size} authorities`);
  }).timeout(20_000);

  for (const row of [
    { name: "was deleted", damage: () => secret.delete() },
    { name: "was replaced by another authority", damage: () => secret.delete(), by: "another operator" },
  ]) {
    it(`follows when the Secret ${row.name}`, async () => {
      const certificates = operator();
      await certificates.check();
      row.damage();
      if (row.by !== undefined) await operator().check();
      await certificates.check();
      assertTrusted(certificates, bundle.data?.["ca.crt"]);
      assert.equal(certificates.current?.bundle, bundle.data?.["ca.crt"]);
    });
  }

  it("writes the authority back when the Secret was taken away: proxies know no other", async () => {
    const [first, second] = [operator(), operator()];
    for (const certificates of [first, second]) await certificates.check();
    const [authority, trusted, leaf] = [secret.data, bundle.data?.["ca.crt"], first.current?.certificate];
    secret.delete();
    bundle.delete();
    for (const certificates of [first, second]) await certificates.check();
    assert.deepEqual(secret.data, authority);
    assert.equal(bundle.data?.["ca.crt"], trusted);
    assert.equal(first.current?.certificate, leaf);
    // One that follows from what was in memory, not from nothing.
    secret.delete();
    timers.advance(201 * hourMs);
    await first.check();
    assert.equal(secret.data?.["ca.crt"], authority?.["ca.crt"]);
    assert.equal(authoritiesIn(bundle.data?.["ca.crt"]).length, 2);
  });

  it("makes a new authority where the Secret was emptied", async () => {
    const certificates = operator();
    await certificates.check();
    const former = secret.data?.["ca.crt"];
    await secret.write({}, (await secret.read())?.version);
    await certificates.check();
    assert.notEqual(secret.data?.["ca.crt"] ?? former, former);
    assertTrusted(certificates, bundle.data?.["ca.crt"]);
  });

  it("makes a new authority where the Secret holds none that can be used", async () => {
    await secret.write({ "ca.crt": "damaged", "ca.key": "damaged" }, undefined);
    const certificates = operator();
    await certificates.check();
    assertTrusted(certificates, bundle.data?.["ca.crt"]);
  });

  const cut = (pem: string | undefined) => pem?.slice(0, 60) ?? "";
  type Damage = (data: Readonly<Record<string, string>>, another: string) => Record<string, string>;
  const damages: Readonly<Record<string, Damage>> = {
    "whose key is cut": (data) => ({ ...data, "ca.key": cut(data["ca.key"]) }),
    "whose key is another's": (data, another) => ({ ...data, "ca.key": another }),
    "whose certificate is cut": (data) => ({ ...data, "ca.crt": cut(data["ca.crt"]) }),
    "that announces one without its key": (data, another) => ({
      ...data,
      "next-ca.crt": data["ca.crt"] ?? "",
      "next-ca.key": another,
    }),
  };
  for (const [name, damage] of Object.entries(damages)) {
    it(`signs nothing that no proxy believes with an authority ${name}: by who knows the former, by who does not`, async () => {
      const other = new MemoryOwnedData();
      const stranger = { secret: other, bundle: new MemoryOwnedData(), dnsNames: ["push"], periods, timers };
      await new SelfManagedCertificates({ ...stranger, log: { info() {}, warn() {}, error() {} } }).check();
      const running = operator();
      await running.check();
      const former = secret.data;
      const damaged = damage(former ?? {}, other.data?.["ca.key"] ?? "");
      for (const [certificates, isKnown] of [[operator(), false] as const, [running, true] as const]) {
        await secret.write(damaged, (await secret.read())?.version);
        // The leaf is due, and so is whatever was announced.
        timers.advance(17 * hourMs);
        await certificates.check();
        assertTrusted(certificates, bundle.data?.["ca.crt"]);
        if (isKnown) assert.equal(secret.data?.["ca.crt"], former?.["ca.crt"]);
      }
    });
  }

  it("writes the bundle anew when somebody changed it", async () => {
    const certificates = operator();
    await certificates.check();
    const wanted = bundle.data?.["ca.crt"];
    bundle.delete();
    await certificates.check();
    assert.equal(bundle.data?.["ca.crt"], wanted);
  });

  it("serves on while the API server is away, and tries again soon", async () => {
    const certificates = operator();
    await certificates.start();
    const first = certificates.current;
    secret.failure = new Error("connection refused");
    timers.advance(20 * hourMs);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(certificates.current, first);
    await assert.rejects(certificates.check());
    secret.failure = undefined;
    const changed = new Promise((resolve) => certificates.onChange(resolve));
    timers.advance(31_000);
    await changed;
    assertTrusted(certificates, bundle.data?.["ca.crt"]);
    certificates.close();
    assert.equal(timers.waiting, 0);
  });

  it("renews the leaf although the bundle cannot be written, and says so", async () => {
    const certificates = operator();
    await certificates.check();
    const first = certificates.current?.certificate;
    bundle.failure = new Error("forbidden");
    timers.advance(17 * hourMs);
    await assert.rejects(certificates.check(), /forbidden/);
    assert.notEqual(certificates.current?.certificate, first);
  });
});

import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { buildAuthority, buildLeaf } from "#operator/certificates/build-certificate";

const nowMs = Date.UTC(2026, 0, 1);
const validity = { notBeforeMs: nowMs, notAfterMs: nowMs + 3_600_000 };

describe("buildAuthority() and buildLeaf()", () => {
  it("make a leaf that the authority signed, for every name asked for", async () => {
    const authority = await buildAuthority("tollgate push", validity);
    const dnsNames = ["push.tollgate.svc", "push.tollgate.svc.cluster.local"];
    const leaf = new X509Certificate((await buildLeaf(authority, { ...validity, dnsNames })).certificate);
    const issuer = new X509Certificate(authority.certificate);
    assert.equal(leaf.verify(issuer.publicKey), true);
    assert.equal(leaf.checkIssued(issuer), true);
    assert.equal(leaf.ca, false);
    assert.equal(issuer.ca, true);
    for (const name of dnsNames) assert.equal(leaf.checkHost(name), name);
    assert.equal(leaf.checkHost("other.svc"), undefined);
    assert.equal(leaf.validFromDate.getTime(), validity.notBeforeMs);
    assert.equal(leaf.validToDate.getTime(), validity.notAfterMs);
    assert.deepEqual(leaf.keyUsage, ["1.3.6.1.5.5.7.3.1"]);
  });

  it("never use a serial number or a key twice", async () => {
    const authority = await buildAuthority("tollgate push", validity);
    const request = { ...validity, dnsNames: ["push"] };
    const leaves = await Promise.all(Array.from({ length: 8 }, () => buildLeaf(authority, request)));
    const certificates = leaves.map(({ certificate }) => new X509Certificate(certificate));
    assert.equal(new Set(certificates.map(({ serialNumber }) => serialNumber)).size, 8);
    assert.equal(new Set(leaves.map(({ privateKey }) => privateKey)).size, 8);
  });

  it("make an authority that did not sign the leaf refuse it", async () => {
    const [one, other] = await Promise.all([buildAuthority("one", validity), buildAuthority("one", validity)]);
    const leaf = new X509Certificate((await buildLeaf(one, { ...validity, dnsNames: ["push"] })).certificate);
    assert.equal(leaf.verify(new X509Certificate(other.certificate).publicKey), false);
  });
});

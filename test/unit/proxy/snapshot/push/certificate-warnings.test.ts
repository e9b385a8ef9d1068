import assert from "node:assert/strict";
import { CertificateWarnings, certificateState } from "#proxy/snapshot/push/certificate-warnings";

const day = 24 * 3_600_000;
const now = Date.UTC(2026, 5, 1);

describe("certificateState()", () => {
  for (const { name, from, to, want } of [
    { name: "in the middle of its life", from: -45, to: 45, want: "good" },
    { name: "before its renewal at two thirds", from: -20, to: 10, want: "good" },
    { name: "past the renewal that nobody made", from: -26, to: 4, want: "endsSoon" },
    { name: "of a day, with three hours left", from: -21 / 24, to: 3 / 24, want: "endsSoon" },
    { name: "of ten years, with one left", from: -9 * 365, to: 365, want: "good" },
    { name: "of ten years, with a week left", from: -3_643, to: 7, want: "endsSoon" },
    { name: "at its very end", from: -30, to: 0, want: "expired" },
    { name: "from tomorrow on", from: 1, to: 90, want: "notYetValid" },
  ])
    it(`is ${want} for one ${name}`, () =>
      assert.equal(certificateState({ notBeforeMs: now + from * day, notAfterMs: now + to * day }, now), want));
});

describe("CertificateWarnings", () => {
  function open() {
    const lines: string[] = [];
    const log = {
      info: (line: string) => lines.push(`info ${line}`),
      warn: (line: string) => lines.push(`warn ${line}`),
    };
    const warnings = new CertificateWarnings({ what: "the certificate", log });
    const check = (validity: { from: number; to: number }, atMs: number) => {
      warnings.check({ notBeforeMs: now + validity.from * day, notAfterMs: now + validity.to * day }, atMs);
      return lines.splice(0).map((line) => line.split(" ").slice(0, 4).join(" "));
    };
    return check;
  }

  it("says nothing of a good one", () => assert.deepEqual(open()({ from: -1, to: 90 }, now), []));

  it("tells each change once, and what stays bad once a day", () => {
    const check = open();
    const certificate = { from: 1, to: 31 };
    assert.deepEqual(check(certificate, now), ["warn the certificate is"]);
    assert.deepEqual(check(certificate, now + day / 2), []);
    assert.deepEqual(check(certificate, now + day), ["info the certificate is"]);
    assert.deepEqual(check(certificate, now + 2 * day), []);
    assert.deepEqual(check(certificate, now + 27 * day), ["warn the certificate expires"]);
    assert.deepEqual(check(certificate, now + 27.5 * day), []);
    assert.deepEqual(check(certificate, now + 28 * day), ["warn the certificate expires"]);
    assert.deepEqual(check(certificate, now + 31 * day), ["warn the certificate expired"]);
    assert.deepEqual(check(certificate, now + 31.9 * day), []);
    assert.deepEqual(check(certificate, now + 32 * day), ["warn the certificate expired"]);
  });

  it("tells of another certificate that is no better, and when the clock is set back", () => {
    const check = open();
    assert.deepEqual(check({ from: -9, to: -1 }, now), ["warn the certificate expired"]);
    assert.deepEqual(check({ from: -9, to: -2 }, now), ["warn the certificate expired"]);
    assert.deepEqual(check({ from: -99, to: -2 }, now - 30 * day), ["info the certificate is"]);
    assert.deepEqual(check({ from: -9, to: -2 }, now), ["warn the certificate expired"]);
  });
});

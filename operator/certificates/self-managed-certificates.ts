/**
 * Manages the operators' own certificates (`tls.mode` SelfManaged): an authority in a Secret, a leaf of each operator
 * in memory, and a bundle in a ConfigMap that proxies mount (docs/design/operations.md 2.2).
 *
 * Invariants: every operator may write, and only over the version that it has read; a leaf is signed only by an
 * authority that the bundle has announced for long enough, so an authority whose Secret was deleted or damaged is
 * written back and not made anew (to have it made anew, empty the Secret); a failure keeps the certificate that serves
 * and tries again soon. A leaf's key is never stored. Called by the wiring of the push endpoint.
 */
import { X509Certificate } from "node:crypto";
import { validityOf } from "#proxy/snapshot/push/certificate-warnings";
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";
import {
  type Authorities,
  advanceAuthorities,
  beginMs,
  bundleOf,
  type CertificatePeriods,
  defaultPeriods,
  readAuthorities,
  renewalMs,
  writeAuthorities,
} from "./authorities.ts";
import { buildLeaf, type KeyPair } from "./build-certificate.ts";
import { CheckedCertificates } from "./checked-certificates.ts";
import type { OwnedData, VersionedData } from "./owned-data.ts";
import type { CertificatesLog } from "./serving-certificates.ts";

export interface SelfManagedOptions {
  /** Secret of the authorities. */
  readonly secret: OwnedData;
  /** ConfigMap whose `ca.crt` proxies trust. */
  readonly bundle: OwnedData;
  /** Names under which proxies and other operators reach this one. */
  readonly dnsNames: readonly string[];
  readonly log: CertificatesLog;
  readonly periods?: CertificatePeriods;
  readonly timers?: Timers;
}

/** Another operator may win the race for an object a few times in a row, not for ever. */
const attemptsMax = 8;

export class SelfManagedCertificates extends CheckedCertificates {
  readonly #options: SelfManagedOptions;
  readonly #periods: CertificatePeriods;
  readonly #timers: Timers;
  #leaf: KeyPair | undefined;
  #authority: string | undefined;
  /** As last read or written. */
  #authorities: Authorities | undefined;

  constructor(options: SelfManagedOptions) {
    const { periods = defaultPeriods, timers = systemTimers } = options;
    super({
      everyMs: periods.checkEveryMs,
      timers,
      log: options.log,
      onFailure: (cause) =>
        options.log.error("the operator cannot check or renew the certificates of the push endpoint", { cause }),
    });
    this.#options = options;
    this.#periods = periods;
    this.#timers = timers;
  }

  override get expiry(): { leafMs: number; authorityMs: number } | undefined {
    if (this.#leaf === undefined || this.#authority === undefined) return undefined;
    return {
      leafMs: validityOf(this.#leaf.certificate).notAfterMs,
      authorityMs: validityOf(this.#authority).notAfterMs,
    };
  }

  /** Performs all steps that are due now. @throws when the objects cannot be read or written */
  override async check(): Promise<void> {
    const authorities = await this.#keepAuthorities();
    const bundle = bundleOf(authorities);
    // Proxies learn of an authority before it signs anything. A leaf never waits for the bundle to be written, or a
    // missing permission would let the present leaf expire.
    const [written] = await Promise.allSettled([this.#keepBundle(bundle)]);
    await this.#keepLeaf(authorities, bundle);
    if (written.status === "rejected") throw written.reason;
  }

  async #keepAuthorities(): Promise<Authorities> {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const held = await this.#options.secret.read();
      const stored = held && readAuthorities(held.data);
      // A damaged Secret counts as deleted; an emptied one asks for a new authority.
      const present = stored ?? (isEmptied(held) ? undefined : this.#authorities);
      const wanted = await advanceAuthorities(present, this.#timers.wallClock(), this.#periods);
      const isKept = stored !== undefined && wanted === stored;
      if (!isKept && !(await this.#options.secret.write(writeAuthorities(wanted), held?.version))) continue;
      if (!isKept)
        this.#options.log.info("the operator made, renewed or wrote back the authority of the push endpoint");
      this.#authorities = wanted;
      return wanted;
    }
    throw new Error("other writers keep changing the Secret of the authority");
  }

  async #keepBundle(bundle: string): Promise<void> {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const held = await this.#options.bundle.read();
      if (held?.data["ca.crt"] === bundle) return;
      if (await this.#options.bundle.write({ ...held?.data, "ca.crt": bundle }, held?.version)) return;
    }
    throw new Error("other writers keep changing the ConfigMap of the bundle");
  }

  async #keepLeaf(authorities: Authorities, bundle: string): Promise<void> {
    const nowMs = this.#timers.wallClock();
    const { certificate } = authorities.current;
    const isSameBundle = this.current?.bundle === bundle;
    const isLeafGood =
      this.#leaf !== undefined && this.#authority === certificate && nowMs < renewalMs(this.#leaf.certificate);
    if (isLeafGood && isSameBundle) return;
    if (!isLeafGood) {
      const { leafLifeMs } = this.#periods;
      this.#leaf = await buildLeaf(authorities.current, {
        dnsNames: this.#options.dnsNames,
        notBeforeMs: beginMs(nowMs, leafLifeMs),
        notAfterMs: Math.min(nowMs + leafLifeMs, validityOf(certificate).notAfterMs),
      });
      this.#authority = certificate;
      const { serialNumber, validTo } = new X509Certificate(this.#leaf.certificate);
      this.#options.log.info("the push endpoint has a new certificate", { serialNumber, validTo });
    }
    if (this.#leaf === undefined) return;
    this.serve({ ...this.#leaf, bundle });
  }
}

function isEmptied(held: VersionedData | undefined): boolean {
  return held !== undefined && !held.data["ca.crt"] && !held.data["ca.key"];
}

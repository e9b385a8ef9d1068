/**
 * `tls.mode` SelfManaged: an authority of the operators' own in a Secret, a leaf of each operator in memory, and a
 * bundle in a ConfigMap that proxies mount (`OPERATIONS.md` section 4).
 *
 * Invariants: every operator may write, and only over what it has read; a leaf is signed only by an authority that the
 * bundle has announced long enough; a failure keeps the certificate that serves and tries again soon. A leaf's key is
 * never stored. Called by the wiring of the push endpoint.
 */
import { X509Certificate } from "node:crypto";
import { systemTimers, type Timers } from "../../proxy/snapshot/push/timers.ts";
import {
  type Authorities,
  advanceAuthorities,
  beginMs,
  bundleOf,
  type CertificatePeriods,
  defaultPeriods,
  readAuthorities,
  renewalMs,
  validityOf,
  writeAuthorities,
} from "./authorities.ts";
import { buildLeaf, type KeyPair } from "./build-certificate.ts";
import { checkLoop } from "./check-loop.ts";
import type { OwnedData } from "./owned-data.ts";
import type { CertificatesLog, ServingCertificate, ServingCertificates } from "./serving-certificates.ts";

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

export class SelfManagedCertificates implements ServingCertificates {
  readonly #options: SelfManagedOptions;
  readonly #periods: CertificatePeriods;
  readonly #timers: Timers;
  readonly #listeners = new Set<(serving: ServingCertificate) => void>();
  readonly #loop;
  #leaf: KeyPair | undefined;
  #current: ServingCertificate | undefined;
  #authority: string | undefined;

  constructor(options: SelfManagedOptions) {
    this.#options = options;
    this.#periods = options.periods ?? defaultPeriods;
    this.#timers = options.timers ?? systemTimers;
    this.#loop = checkLoop({
      everyMs: this.#periods.checkEveryMs,
      timers: this.#timers,
      check: () => this.check(),
      onFailure: (cause) =>
        options.log.error("the certificates of the push endpoint cannot be looked after", { cause }),
    });
  }

  get current(): ServingCertificate | undefined {
    return this.#current;
  }

  get expiry(): { leafMs: number; authorityMs: number } | undefined {
    if (this.#leaf === undefined || this.#authority === undefined) return undefined;
    return {
      leafMs: validityOf(this.#leaf.certificate).notAfterMs,
      authorityMs: validityOf(this.#authority).notAfterMs,
    };
  }

  start(): Promise<void> {
    return this.#loop.start();
  }

  close(): void {
    this.#loop.close();
    this.#listeners.clear();
  }

  onChange(listener: (serving: ServingCertificate) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes whichever steps are due now. @throws when the objects cannot be read or written */
  async check(): Promise<void> {
    const authorities = await this.#keepAuthorities();
    const bundle = bundleOf(authorities);
    // Proxies learn of an authority before anything is signed with it; yet a leaf never waits for the bundle to be
    // written, or a missing permission would let the present one expire.
    const [written] = await Promise.allSettled([this.#keepBundle(bundle)]);
    await this.#keepLeaf(authorities, bundle);
    if (written.status === "rejected") throw written.reason;
  }

  async #keepAuthorities(): Promise<Authorities> {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const held = await this.#options.secret.read();
      const present = held && readAuthorities(held.data);
      const wanted = await advanceAuthorities(present, this.#timers.wallClock(), this.#periods);
      if (wanted === present) return wanted;
      if (await this.#options.secret.write(writeAuthorities(wanted), held?.version)) {
        this.#options.log.info("the authority of the push endpoint was made or renewed");
        return wanted;
      }
    }
    throw new Error("the Secret of the authority is changed by others all the time");
  }

  async #keepBundle(bundle: string): Promise<void> {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const held = await this.#options.bundle.read();
      if (held?.data["ca.crt"] === bundle) return;
      if (await this.#options.bundle.write({ ...held?.data, "ca.crt": bundle }, held?.version)) return;
    }
    throw new Error("the ConfigMap of the bundle is changed by others all the time");
  }

  async #keepLeaf(authorities: Authorities, bundle: string): Promise<void> {
    const nowMs = this.#timers.wallClock();
    const { certificate } = authorities.current;
    const isSameBundle = this.#current?.bundle === bundle;
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
    this.#current = { ...this.#leaf, bundle };
    for (const listener of this.#listeners) listener(this.#current);
  }
}

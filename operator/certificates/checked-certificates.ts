/**
 * A certificate that is checked regularly, whichever part makes it. It holds the certificate that serves now and calls
 * listeners when that changes.
 *
 * Invariant: a failed check never removes the certificate that serves, and the next check comes sooner. An expiring
 * certificate is not removed either; it is logged.
 */
import { CertificateWarnings, validityOf } from "#proxy/snapshot/push/certificate-warnings";
import { type CheckLoop, type CheckLoopOptions, checkLoop } from "./check-loop.ts";
import type { CertificatesLog, ServingCertificate, ServingCertificates } from "./serving-certificates.ts";

export abstract class CheckedCertificates implements ServingCertificates {
  readonly #listeners = new Set<(serving: ServingCertificate) => void>();
  readonly #loop: CheckLoop;
  readonly #warnings: CertificateWarnings;
  readonly #wallClock: () => number;
  #current: ServingCertificate | undefined;

  constructor({ log, ...options }: Omit<CheckLoopOptions, "check"> & { readonly log: CertificatesLog }) {
    this.#warnings = new CertificateWarnings({ what: "the certificate of the push endpoint", log });
    this.#wallClock = () => options.timers.wallClock();
    this.#loop = checkLoop({ ...options, check: () => this.#checkAndWarn() });
  }

  get current(): ServingCertificate | undefined {
    return this.#current;
  }

  abstract get expiry(): ServingCertificates["expiry"];

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

  /** The present certificate may expire while the next one is not available. */
  async #checkAndWarn(): Promise<void> {
    try {
      await this.check();
    } finally {
      if (this.#current !== undefined) this.#warnings.check(validityOf(this.#current.certificate), this.#wallClock());
    }
  }

  /** One check; calls `serve` with a new certificate. @throws Error when the check failed */
  abstract check(): Promise<void>;

  protected serve(serving: ServingCertificate): void {
    this.#current = serving;
    for (const listener of this.#listeners) listener(serving);
  }
}

/**
 * A certificate that is looked after regularly, whoever makes it: what serves now, and who is told when that changes.
 *
 * Invariant: a look that fails never takes away the certificate that serves, and the next one comes sooner; nor does the
 * end of its life, which is told.
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

  /** What serves may come to its end while the next one cannot be had. */
  async #checkAndWarn(): Promise<void> {
    try {
      await this.check();
    } finally {
      if (this.#current !== undefined) this.#warnings.check(validityOf(this.#current.certificate), this.#wallClock());
    }
  }

  /** One look; calls `serve` when there is something new. @throws Error when it could not look */
  abstract check(): Promise<void>;

  protected serve(serving: ServingCertificate): void {
    this.#current = serving;
    for (const listener of this.#listeners) listener(serving);
  }
}

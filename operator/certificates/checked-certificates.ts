/**
 * A certificate that is looked after regularly, whoever makes it: what serves now, and who is told when that changes.
 *
 * Invariant: a look that fails never takes away the certificate that serves, and the next one comes sooner.
 */
import { type CheckLoop, type CheckLoopOptions, checkLoop } from "./check-loop.ts";
import type { ServingCertificate, ServingCertificates } from "./serving-certificates.ts";

export abstract class CheckedCertificates implements ServingCertificates {
  readonly #listeners = new Set<(serving: ServingCertificate) => void>();
  readonly #loop: CheckLoop;
  #current: ServingCertificate | undefined;

  constructor(options: Omit<CheckLoopOptions, "check">) {
    this.#loop = checkLoop({ ...options, check: () => this.check() });
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

  /** One look; calls `serve` when there is something new. @throws Error when it could not look */
  abstract check(): Promise<void>;

  protected serve(serving: ServingCertificate): void {
    this.#current = serving;
    for (const listener of this.#listeners) listener(serving);
  }
}

/**
 * Warns when a served certificate is not valid, or soon will not be, before peers find out. It never keeps a
 * certificate from being served: this machine's clock may be wrong.
 *
 * It is in the push protocol's folder because both programs serve certificates.
 */
import { X509Certificate } from "node:crypto";

export interface Validity {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export type CertificateState = "good" | "notYetValid" | "endsSoon" | "expired";

/** Certificates are renewed at two thirds of their life or earlier: with less than a sixth left, nobody has. */
const endsSoonShare = 1 / 6;
/** A certificate of years is renewed by hand, and a month is enough for that. */
const endsSoonMaxMs = 30 * 24 * 3_600_000;
const repeatEveryMs = 24 * 3_600_000;

/** @param certificate PEM, leaf first @throws when it is no certificate */
export function validityOf(certificate: string | Buffer): Validity {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  return { notBeforeMs: validFromDate.getTime(), notAfterMs: validToDate.getTime() };
}

/** What a peer whose clock is right says of a certificate now. */
export function certificateState({ notBeforeMs, notAfterMs }: Validity, nowMs: number): CertificateState {
  if (nowMs >= notAfterMs) return "expired";
  if (nowMs < notBeforeMs) return "notYetValid";
  const endsSoonMs = Math.min((notAfterMs - notBeforeMs) * endsSoonShare, endsSoonMaxMs);
  return notAfterMs - nowMs < endsSoonMs ? "endsSoon" : "good";
}

export interface CertificateWarningsOptions {
  /** Begins each message: "the certificate of the data port". */
  readonly what: string;
  readonly log: { info(message: string): void; warn(message: string): void };
}

export class CertificateWarnings {
  readonly #options: CertificateWarningsOptions;
  #last: { readonly state: CertificateState; readonly notAfterMs: number; readonly atMs: number } | undefined;

  constructor(options: CertificateWarningsOptions) {
    this.#options = options;
  }

  /** Logs each change of state or certificate, and a lasting fault once a day. Call it as often as convenient. */
  check(validity: Validity, nowMs: number): void {
    const { what, log } = this.#options;
    const state = certificateState(validity, nowMs);
    const last = this.#last;
    const isNews = last?.state !== state || last.notAfterMs !== validity.notAfterMs;
    // A clock that is set back must not silence it.
    if (!isNews && (state === "good" || Math.abs(nowMs - last.atMs) < repeatEveryMs)) return;
    this.#last = { state, notAfterMs: validity.notAfterMs, atMs: nowMs };
    if (state !== "good") log.warn(`${what} ${describe(state, validity, nowMs)}`);
    else if (last !== undefined && last.state !== "good")
      log.info(`${what} is valid again, until ${timeOf(validity.notAfterMs)}`);
  }
}

function describe(state: Exclude<CertificateState, "good">, validity: Validity, nowMs: number): string {
  const [from, to, now] = [validity.notBeforeMs, validity.notAfterMs, nowMs].map(timeOf);
  switch (state) {
    case "expired":
      return `expired at ${to}, and peers refuse it (the clock of this machine says ${now}); renew it or set the clock; a renewed certificate is read without a restart`;
    case "notYetValid":
      return `is not valid before ${from}, and peers refuse it until then (the clock of this machine says ${now}); replace it with a valid one or set the clock`;
    case "endsSoon":
      return `expires at ${to} and was not renewed; renew it, or peers will refuse it`;
    default:
      return state satisfies never;
  }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

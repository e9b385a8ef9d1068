/**
 * Serves the certificate of the data port: two files that somebody else renews, read again when they change. A
 * certificate that cannot be used is reported and the former one serves on. One that has expired is served too, with a
 * warning, because this machine's clock may be wrong.
 */
import { readFileSync, unwatchFile, watchFile } from "node:fs";
import { CertificateWarnings, type Validity, validityOf } from "#proxy/snapshot/push/certificate-warnings";

export interface DataCertificateOptions {
  readonly certFile: string;
  readonly keyFile: string;
  readonly log: {
    info(message: string): void;
    warn(message: string): void;
    error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  };
  readonly now?: () => number;
  /** Between two looks at the clock. */
  readonly checkEveryMs?: number;
}

/** PEM, as `tls.createSecureContext` takes it. */
export interface CertificatePair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export class DataCertificate {
  readonly #options: DataCertificateOptions;
  readonly #warnings: CertificateWarnings;
  #validity: Validity | undefined;
  #clock: NodeJS.Timeout | undefined;

  constructor(options: DataCertificateOptions) {
    this.#options = options;
    this.#warnings = new CertificateWarnings({ what: "the certificate of the data port", log: options.log });
  }

  /** When the leaf that serves ends; undefined where that is not known. */
  get notAfterMs(): number | undefined {
    return this.#validity?.notAfterMs;
  }

  /**
   * Gives the pair now and each time that a file changes, until closed.
   *
   * @param use throws where a pair cannot be used
   * @throws when the first one cannot be read or used
   */
  serve(use: (pair: CertificatePair) => void): void {
    const { certFile, keyFile, log, checkEveryMs = 60_000 } = this.#options;
    this.#load(use);
    const reload = (): void => {
      try {
        this.#load(use);
      } catch (error) {
        log.error("the proxy cannot use the changed certificate and serves the former one", { error });
      }
    };
    for (const file of [certFile, keyFile]) watchFile(file, { interval: 1_000, persistent: false }, reload);
    this.#clock = setInterval(() => this.#check(), checkEveryMs).unref();
  }

  close(): void {
    unwatchFile(this.#options.certFile);
    unwatchFile(this.#options.keyFile);
    clearInterval(this.#clock);
  }

  #load(use: (pair: CertificatePair) => void): void {
    const { certFile, keyFile } = this.#options;
    const pair = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
    use(pair);
    this.#validity = readableValidity(pair.cert);
    this.#check();
  }

  #check(): void {
    const { now = Date.now } = this.#options;
    if (this.#validity !== undefined) this.#warnings.check(this.#validity, now());
  }
}

/** What TLS takes is served, also where its dates cannot be read. */
function readableValidity(certificate: Buffer): Validity | undefined {
  try {
    return validityOf(certificate);
  } catch {
    return undefined;
  }
}

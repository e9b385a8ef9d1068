/**
 * Serves a certificate from mounted files, which another program renews (`tls.mode` Files: cert-manager, for example).
 * The files are read again regularly; files that cannot be used are logged, and the previous certificate serves on.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { validityOf } from "#proxy/snapshot/push/certificate-warnings";
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";
import { CheckedCertificates } from "./checked-certificates.ts";
import type { CertificatesLog } from "./serving-certificates.ts";

export interface CertificateFiles {
  readonly certificateFile: string;
  readonly privateKeyFile: string;
  /** Authorities that peers trust. */
  readonly bundleFile: string;
}

export interface FileCertificatesOptions extends CertificateFiles {
  readonly log: CertificatesLog;
  readonly checkEveryMs: number;
  readonly timers?: Timers;
}

export class FileCertificates extends CheckedCertificates {
  readonly #options: FileCertificatesOptions;

  constructor(options: FileCertificatesOptions) {
    super({
      everyMs: options.checkEveryMs,
      timers: options.timers ?? systemTimers,
      log: options.log,
      onFailure: (cause) =>
        options.log.error("the operator cannot use the certificate files of the push endpoint", { cause }),
    });
    this.#options = options;
  }

  override get expiry(): { leafMs: number } | undefined {
    return this.current && { leafMs: validityOf(this.current.certificate).notAfterMs };
  }

  /** Reads the files. @throws when they are missing, damaged or do not belong together */
  override async check(): Promise<void> {
    const { certificateFile, privateKeyFile, bundleFile } = this.#options;
    const [certificate, privateKey, bundle] = await Promise.all(
      [certificateFile, privateKeyFile, bundleFile].map((file) => readFile(file, "utf8")),
    );
    if (certificate === undefined || privateKey === undefined || bundle === undefined) return;
    const present = this.current;
    if (present?.certificate === certificate && present.privateKey === privateKey && present.bundle === bundle) return;
    // A volume changes at once, but the three reads may straddle the change: the next check reads them together.
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey))) {
      throw new Error("the private key does not belong to the certificate");
    }
    createSecureContext({ cert: certificate, key: privateKey, ca: bundle });
    this.serve({ certificate, privateKey, bundle });
  }
}

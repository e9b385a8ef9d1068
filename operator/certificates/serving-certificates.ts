/** The interface of the certificate that the push endpoint serves, whichever part supplies it. */

export interface ServingCertificate {
  /** PEM, leaf first. */
  readonly certificate: string;
  readonly privateKey: string;
  /** PEM of the authorities that peers trust. */
  readonly bundle: string;
}

export interface ServingCertificates {
  /** Undefined before `ready`. */
  readonly current: ServingCertificate | undefined;
  /** Milliseconds since the epoch at which the leaf, and the authority that signed it where it is known, expire. */
  readonly expiry: { readonly leafMs: number; readonly authorityMs?: number } | undefined;
  /** Resolves when there is a first certificate; begins and keeps trying until then or until closed. */
  start(): Promise<void>;
  /** Calls back with each new certificate or bundle. @returns a function that ends the listening */
  onChange(listener: (serving: ServingCertificate) => void): () => void;
  close(): void;
}

export interface CertificatesLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

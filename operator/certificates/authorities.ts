/**
 * The life of the certificate authorities: finds the step that is due and performs it. Pure except for key generation;
 * the clock is an argument.
 *
 * An authority is created. At 2/3 of its life the next one is announced: the bundle holds it from then on, while the
 * present one still signs leaves. After a time in which every proxy has read the bundle, the next one signs, and the
 * former stays in the bundle until it expires. So no handshake ever meets a proxy that does not know the authority.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { validityOf } from "#proxy/snapshot/push/certificate-warnings";
import { buildAuthority, type KeyPair } from "./build-certificate.ts";

export interface Authorities {
  /** Signs leaves. */
  readonly current: KeyPair;
  /** Announced, signs nothing yet. */
  readonly next?: KeyPair;
  /** Signed leaves that may still serve; its key is gone. */
  readonly previous?: string;
}

export interface CertificatePeriods {
  readonly authorityLifeMs: number;
  /** From the announcement of an authority to its first leaf: longer than a mounted ConfigMap takes to be renewed. */
  readonly announceMs: number;
  readonly leafLifeMs: number;
  /** Between two checks. */
  readonly checkEveryMs: number;
}

export const defaultPeriods: CertificatePeriods = {
  authorityLifeMs: 365 * 24 * 3_600_000,
  announceMs: 3_600_000,
  leafLifeMs: 24 * 3_600_000,
  checkEveryMs: 5 * 60_000,
};

/** Certificates begin this much before they are made, for peers whose clocks are behind. */
const skewMs = 5 * 60_000;

/** @returns the same object when nothing is due. */
export async function advanceAuthorities(
  authorities: Authorities | undefined,
  nowMs: number,
  periods: CertificatePeriods,
): Promise<Authorities> {
  if (authorities === undefined || isOver(authorities.current.certificate, nowMs)) {
    return { current: await newAuthority(nowMs, periods) };
  }
  const { current, next, previous } = authorities;
  if (next !== undefined && nowMs >= announcedAtMs(next.certificate, periods) + periods.announceMs) {
    return { current: next, previous: current.certificate };
  }
  const kept = previous === undefined || isOver(previous, nowMs) ? {} : { previous };
  if (next === undefined && nowMs >= renewalMs(current.certificate)) {
    return { current, next: await newAuthority(nowMs, periods), ...kept };
  }
  if (previous === kept.previous) return authorities;
  return { current, ...(next === undefined ? {} : { next }) };
}

/** The authorities that proxies trust: each one that signs, will sign or has signed. */
export function bundleOf({ current, next, previous }: Authorities): string {
  return [current.certificate, next?.certificate, previous].filter((pem) => pem !== undefined).join("");
}

/** When a certificate is to be replaced: at 2/3 of its life. */
export function renewalMs(certificate: string): number {
  const { notBeforeMs, notAfterMs } = validityOf(certificate);
  return notBeforeMs + ((notAfterMs - notBeforeMs) * 2) / 3;
}

/** Before now, but never by more than a tenth of a life. */
export function beginMs(nowMs: number, lifeMs: number): number {
  return nowMs - Math.min(skewMs, lifeMs / 10);
}

/** The Secret's data. */
export function writeAuthorities({ current, next, previous }: Authorities): Record<string, string> {
  return {
    "ca.crt": current.certificate,
    "ca.key": current.privateKey,
    ...(next !== undefined && { "next-ca.crt": next.certificate, "next-ca.key": next.privateKey }),
    ...(previous !== undefined && { "previous-ca.crt": previous }),
  };
}

/** @returns undefined when the data hold no usable authority. */
export function readAuthorities(data: Readonly<Record<string, string>>): Authorities | undefined {
  const current = pairOf(data["ca.crt"], data["ca.key"]);
  if (current === undefined) return undefined;
  const next = pairOf(data["next-ca.crt"], data["next-ca.key"]);
  const previous = data["previous-ca.crt"];
  return {
    current,
    ...(next !== undefined && { next }),
    ...(previous !== undefined && isCertificate(previous) && { previous }),
  };
}

async function newAuthority(nowMs: number, { authorityLifeMs }: CertificatePeriods): Promise<KeyPair> {
  const name = `tollgate push ${new Date(nowMs).toISOString()}`;
  return buildAuthority(name, { notBeforeMs: beginMs(nowMs, authorityLifeMs), notAfterMs: nowMs + authorityLifeMs });
}

function announcedAtMs(certificate: string, { authorityLifeMs }: CertificatePeriods): number {
  const { notBeforeMs } = validityOf(certificate);
  return notBeforeMs + (notBeforeMs - beginMs(notBeforeMs, authorityLifeMs));
}

function isOver(certificate: string, nowMs: number): boolean {
  return nowMs >= validityOf(certificate).notAfterMs;
}

function pairOf(certificate: string | undefined, privateKey: string | undefined): KeyPair | undefined {
  if (certificate === undefined || privateKey === undefined || !isCertificate(certificate)) return undefined;
  return canSign(certificate, privateKey) ? { certificate, privateKey } : undefined;
}

/**
 * Whether the key belongs to the certificate: a Secret that was edited by hand may hold a damaged or another key, and no
 * proxy would trust leaves signed with it.
 */
function canSign(certificate: string, privateKey: string): boolean {
  try {
    const key = createPrivateKey(privateKey);
    const parsed = new X509Certificate(certificate);
    const isOurKind = key.asymmetricKeyDetails?.namedCurve === "prime256v1" && /^CN=.*$/.test(parsed.subject);
    return isOurKind && parsed.checkPrivateKey(key);
  } catch {
    // The text is not a key.
    return false;
  }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).ca;
  } catch {
    // Damaged: the caller makes a new one or has another.
    return false;
  }
}

/**
 * Builds the two kinds of certificate of the push endpoint: our own authority, and leaves signed by it.
 *
 * Keys are ECDSA on P-256, the smallest curve that every TLS library supports. Node can read X.509 but not write it;
 * pkijs can. Times are arguments; serial numbers are random. Private keys are returned as PEM only.
 */
import {
  createPrivateKey,
  createPublicKey,
  hash,
  type KeyObject,
  randomBytes,
  webcrypto,
  X509Certificate,
} from "node:crypto";
import * as asn1 from "asn1js";
import {
  AttributeTypeAndValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  Extension,
  ExtKeyUsage,
  GeneralName,
  GeneralNames,
} from "pkijs";

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface Validity {
  /** Milliseconds since the epoch. */
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export interface LeafRequest extends Validity {
  /** Names under which the endpoint is reached; the first is its common name too. */
  readonly dnsNames: readonly string[];
}

const algorithm = { name: "ECDSA", namedCurve: "P-256" } as const;
const oid = {
  commonName: "2.5.4.3",
  basicConstraints: "2.5.29.19",
  keyUsage: "2.5.29.15",
  extendedKeyUsage: "2.5.29.37",
  alternativeNames: "2.5.29.17",
  subjectKeyIdentifier: "2.5.29.14",
  authorityKeyIdentifier: "2.5.29.35",
  serverAuthentication: "1.3.6.1.5.5.7.3.1",
};
/** Bits of RFC 5280 section 4.2.1.3, most significant first. */
const signsCertificates = 0b0000_0100;
const signsHandshakes = 0b1000_0000;
const dnsNameTag = 2;

/** A new authority that signs leaves and nothing below them. */
export async function buildAuthority(commonName: string, validity: Validity): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const extensions = [
    extension(oid.basicConstraints, new BasicConstraints({ cA: true, pathLenConstraint: 0 }).toSchema(), true),
    extension(oid.keyUsage, bits(signsCertificates), true),
    subjectKeyIdentifier(await publicKeyObject(keys.publicKey)),
  ];
  const template = { subject: commonName, issuer: commonName, extensions, ...validity };
  return { certificate: await sign(template, keys.publicKey, keys.privateKey), privateKey: await exportKey(keys) };
}

/** A leaf for a server, signed by an authority. @throws when the authority's PEM cannot be read */
export async function buildLeaf(authority: KeyPair, request: LeafRequest): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const issuerKey = await importKey(authority.privateKey);
  const names = new GeneralNames({
    names: request.dnsNames.map((value) => new GeneralName({ type: dnsNameTag, value })),
  });
  const extensions = [
    extension(oid.basicConstraints, new BasicConstraints({ cA: false }).toSchema(), true),
    extension(oid.keyUsage, bits(signsHandshakes), true),
    extension(oid.extendedKeyUsage, new ExtKeyUsage({ keyPurposes: [oid.serverAuthentication] }).toSchema(), false),
    extension(oid.alternativeNames, names.toSchema(), false),
    subjectKeyIdentifier(await publicKeyObject(keys.publicKey)),
    // Tells which of two overlapping authorities signed it.
    authorityKeyIdentifier(new X509Certificate(authority.certificate).publicKey),
  ];
  const { notBeforeMs, notAfterMs } = request;
  const issuer = commonNameOf(authority.certificate);
  const subject = request.dnsNames[0]?.slice(0, 64) ?? "tollgate";
  const template = { subject, issuer, extensions, notBeforeMs, notAfterMs };
  return { certificate: await sign(template, keys.publicKey, issuerKey), privateKey: await exportKey(keys) };
}

interface Template extends Validity {
  readonly subject: string;
  readonly issuer: string;
  readonly extensions: readonly Extension[];
}

async function sign(
  template: Template,
  publicKey: webcrypto.CryptoKey,
  issuerKey: webcrypto.CryptoKey,
): Promise<string> {
  const certificate = new Certificate();
  // Version 3, counted from 0.
  certificate.version = 2;
  certificate.serialNumber = new asn1.Integer({ valueHex: serialNumber() });
  certificate.subject.typesAndValues.push(nameOf(template.subject));
  certificate.issuer.typesAndValues.push(nameOf(template.issuer));
  certificate.notBefore.value = new Date(template.notBeforeMs);
  certificate.notAfter.value = new Date(template.notAfterMs);
  certificate.extensions = [...template.extensions];
  await certificate.subjectPublicKeyInfo.importKey(publicKey);
  await certificate.sign(issuerKey, "SHA-256");
  return new X509Certificate(Buffer.from(certificate.toSchema(true).toBER(false))).toString();
}

/** Positive and at most 20 bytes (RFC 5280 section 4.1.2.2); 15 random ones are beyond guessing. */
function serialNumber(): ArrayBuffer {
  return Uint8Array.from([1, ...randomBytes(15)]).buffer;
}

function nameOf(value: string): AttributeTypeAndValue {
  return new AttributeTypeAndValue({ type: oid.commonName, value: new asn1.Utf8String({ value }) });
}

function commonNameOf(certificate: string): string {
  return /^CN=(.*)$/m.exec(new X509Certificate(certificate).subject)?.[1] ?? "";
}

function extension(extnID: string, schema: { toBER(sizeOnly?: boolean): ArrayBuffer }, critical: boolean): Extension {
  return new Extension({ extnID, critical, extnValue: schema.toBER(false) });
}

function subjectKeyIdentifier(key: KeyObject): Extension {
  return extension(oid.subjectKeyIdentifier, new asn1.OctetString({ valueHex: keyIdentifier(key) }), false);
}

function authorityKeyIdentifier(key: KeyObject): Extension {
  const identifier = new AuthorityKeyIdentifier({
    keyIdentifier: new asn1.OctetString({ valueHex: keyIdentifier(key) }),
  });
  return extension(oid.authorityKeyIdentifier, identifier.toSchema(), false);
}

/** RFC 7093 section 2, method 4: a digest over the whole key, cut to 20 bytes. */
function keyIdentifier(key: KeyObject): ArrayBuffer {
  const digest = hash("sha256", key.export({ type: "spki", format: "der" }), "buffer");
  return Uint8Array.from(digest.subarray(0, 20)).buffer;
}

async function publicKeyObject(key: webcrypto.CryptoKey): Promise<KeyObject> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("spki", key));
  return createPublicKey({ key: der, format: "der", type: "spki" });
}

function bits(byte: number): asn1.BitString {
  const unusedBits = Math.min(7, Math.clz32(byte & -byte) ^ 31);
  return new asn1.BitString({ valueHex: Uint8Array.of(byte).buffer, unusedBits });
}

async function exportKey(keys: webcrypto.CryptoKeyPair): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey));
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" })
    .export({ type: "pkcs8", format: "pem" })
    .toString();
}

async function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: "pkcs8", format: "der" });
  return webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
}

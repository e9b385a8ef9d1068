/**
 * Resolves `spec.tls` of a channel: the CA bundle and the client certificate, from the objects that it refers to.
 *
 * Certificates are checked here as the proxies will read them: Node silently accepts a bundle without any certificate
 * and then trusts nobody, so that each call would fail under a status without any problem.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Verdict } from "#operator/resources/reasons";
import type { ChannelResource, ResourceSet } from "#operator/resources/resource";
import type { ChannelSpec } from "#operator/resources/types.gen";
import type { Channel } from "#proxy/snapshot/types.gen";
import { refused } from "./result.ts";

type Settings = NonNullable<Channel["tls"]>;
type Tls = NonNullable<ChannelSpec["tls"]>;
type References = Pick<ResourceSet, "secrets" | "configMaps">;

export interface ResolvedTls {
  /** Absent: the system's defaults. */
  readonly settings?: Settings;
  readonly failures: readonly Verdict<"ResolvedRefs">[];
}

export function resolveTls(channel: ChannelResource, spec: ChannelSpec, references: References): ResolvedTls {
  const { namespace } = channel.metadata;
  const { serverName, caBundleRef, clientCertificateRef } = spec.tls ?? {};
  const parts: readonly (Settings | Verdict<"ResolvedRefs">)[] = [
    ...(serverName === undefined ? [] : [{ serverName }]),
    ...(caBundleRef ? [readBundle(namespace, caBundleRef, references)] : []),
    ...(clientCertificateRef ? [readClientCertificate(namespace, clientCertificateRef, references)] : []),
  ];
  const failures = parts.filter((part) => isVerdict(part));
  const settings: Settings = Object.assign({}, ...parts.filter((part) => !isVerdict(part)));
  return { failures, ...(Object.keys(settings).length > 0 && { settings }) };
}

function isVerdict(part: Settings | Verdict<"ResolvedRefs">): part is Verdict<"ResolvedRefs"> {
  return "reason" in part;
}

function readBundle(
  namespace: string,
  { name, key = "ca.crt" }: NonNullable<Tls["caBundleRef"]>,
  { configMaps }: References,
): Settings | Verdict<"ResolvedRefs"> {
  const field = "spec.tls.caBundleRef:";
  const ca = configMaps.get(`${namespace}/${name}`)?.data.get(key);
  if (ca === undefined) {
    const message = `${field} ConfigMap ${name} with key ${key} does not exist in namespace ${namespace}; create it.`;
    return refused("ConfigMapNotFound", message);
  }
  const problem = bundleProblem(ca);
  if (problem === undefined) return { ca };
  const message = `${field} ${key} in ConfigMap ${name} ${problem}; put certificates in PEM there.`;
  return refused("InvalidConfigMap", message);
}

/** Each certificate by itself, as OpenSSL reads them; text between them is comment. */
const certificateForm =
  /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[\s\S]*?-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

function bundleProblem(ca: string): string | undefined {
  const certificates = ca.match(certificateForm) ?? [];
  if (certificates.length === 0) return "holds no certificate";
  // OpenSSL skips a certificate that it cannot read and trusts the others.
  return certificates.some(isCertificate) ? undefined : "holds no certificate that can be read";
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    // A text that OpenSSL cannot read is not a certificate, whatever the error.
    return false;
  }
}

function readClientCertificate(
  namespace: string,
  { name }: NonNullable<Tls["clientCertificateRef"]>,
  { secrets }: References,
): Settings | Verdict<"ResolvedRefs"> {
  const field = "spec.tls.clientCertificateRef:";
  const data = secrets.get(`${namespace}/${name}`)?.data;
  const certificate = data?.get("tls.crt");
  const privateKey = data?.get("tls.key");
  if (certificate === undefined || privateKey === undefined) {
    const message = `${field} Secret ${name} with tls.crt and tls.key does not exist in namespace ${namespace}; create it.`;
    return refused("SecretNotFound", message);
  }
  if (isPair(certificate, privateKey)) return { certificate, privateKey };
  const message = `${field} tls.crt and tls.key in Secret ${name} must be a certificate and its private key, both in PEM.`;
  return refused("InvalidSecret", message);
}

function isPair(certificate: string, privateKey: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey));
  } catch {
    // OpenSSL's message is dropped, because it may quote the key.
    return false;
  }
}

/**
 * How a channel's upstream is trusted and what is shown to it, from the objects that `spec.tls` refers to.
 *
 * What they hold is read here as the proxies will read it: Node takes a bundle without any certificate in silence and
 * trusts nobody then, so that each call would fail under a status that says all is well.
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
  /** Absent: nothing but the system's ways. */
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

/** Each certificate of its own, as OpenSSL reads them; what stands between them is comment. */
const certificateForm =
  /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[\s\S]*?-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

function bundleProblem(ca: string): string | undefined {
  const certificates = ca.match(certificateForm) ?? [];
  if (certificates.length === 0) return "holds no certificate";
  // One that OpenSSL cannot read is passed over by it; the others still say whom to trust.
  return certificates.some(isCertificate) ? undefined : "holds no certificate that can be read";
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    // What OpenSSL cannot read is no certificate, whatever it says about it.
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
    // Nothing of what OpenSSL says goes on: it may quote the key.
    return false;
  }
}

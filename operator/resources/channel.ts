/** The references of a Channel. */
import type { ChannelResource } from "./resource.ts";

export function referencesOfChannel({ metadata, spec }: ChannelResource): string[] {
  if (!spec) return [];
  const references = (spec.credentials ?? []).map(
    ({ secretKeyRef }) => `Secret/${metadata.namespace}/${secretKeyRef.name}`,
  );
  if (spec.tls?.caBundleRef) references.push(`ConfigMap/${metadata.namespace}/${spec.tls.caBundleRef.name}`);
  if (spec.tls?.clientCertificateRef) {
    references.push(`Secret/${metadata.namespace}/${spec.tls.clientCertificateRef.name}`);
  }
  return references;
}

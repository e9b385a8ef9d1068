/** The references of an ApiKey, and the Secret of each credential. */
import type { ApiKeyResource } from "./resource.ts";
import type { ApiKeyCredential as KeyCredentialSpec } from "./types.gen.ts";

/** Key of a Secret that holds a client key where the manifest names none (docs/design/configuration.md 2.1). */
export const defaultSecretKey = "apiKey";

/** The form a client key must have to be told apart from a placeholder (docs/design/configuration.md 2.1). */
export const clientKeyPattern = /^sk-[A-Za-z0-9_-]{20,}$/;

export interface SecretLocation {
  readonly name: string;
  readonly key: string;
}

/** The Secret that a credential reads; absent for one given as a digest. */
export function secretOfCredential(credential: KeyCredentialSpec): SecretLocation | undefined {
  if (credential.secretKeyRef) {
    return { name: credential.secretKeyRef.name, key: credential.secretKeyRef.key ?? defaultSecretKey };
  }
  if (credential.generate) return { name: credential.generate.secretName, key: defaultSecretKey };
  return undefined;
}

export function referencesOfApiKey({ metadata, spec }: ApiKeyResource): string[] {
  if (!spec) return [];
  const references = spec.accountRef ? [`Account/${metadata.namespace}/${spec.accountRef.name}`] : [];
  for (const credential of spec.credentials) {
    const secret = secretOfCredential(credential);
    if (secret) references.push(`Secret/${metadata.namespace}/${secret.name}`);
  }
  return references;
}

/** Names the ApiKey for which a Secret of a folder was generated, as `ApiKey/NAME`. */
export const generatedForAnnotation = "tollgate.dev/generated-for";

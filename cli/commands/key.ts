/** `tollgate key`: a new key, its digest, and a manifest for GitOps that holds only the digest. */
import { createHash, randomBytes } from "node:crypto";

export interface NewKey {
  /** 256 random bits behind `sk-`. */
  readonly secret: string;
  readonly sha256: string;
}

/** @param random source of 32 bytes; tests give their own */
export function createKey(random: () => Buffer = () => randomBytes(32)): NewKey {
  const secret = `sk-${random().toString("base64url")}`;
  return { secret, sha256: createHash("sha256").update(secret).digest("hex") };
}

/** The manifest of an ApiKey with this digest. */
export function renderKeyManifest(key: NewKey, namespace: string, name: string): string {
  return [
    "apiVersion: tollgate.dev/v1alpha1",
    "kind: ApiKey",
    `metadata: {name: ${JSON.stringify(name)}, namespace: ${JSON.stringify(namespace)}}`,
    "spec:",
    "  credentials:",
    `  - name: ${new Date().toISOString().slice(0, 7)}`,
    `    sha256: ${key.sha256}`,
    "",
  ].join("\n");
}

/** Prints all three; the key is shown this once and kept nowhere. */
export function runKey(namespace: string, name: string, write: (text: string) => void): number {
  const key = createKey();
  write(
    `key:    ${key.secret}\nsha256: ${key.sha256}\n\n# The key is shown only now. This manifest holds its digest alone:\n---\n${renderKeyManifest(key, namespace, name)}`,
  );
  return 0;
}

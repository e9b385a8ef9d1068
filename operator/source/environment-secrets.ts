/** Builds Secrets from environment variables of the process: keys of real providers for a quick start. */

import { createHash } from "node:crypto";
import { parseDocument } from "./manifest-file.ts";
import type { FileContent } from "./manifest-store.ts";

export interface SecretFromEnvironment {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  /** The value itself; the caller reads the variable. */
  readonly value: string;
}

/** The Secrets as one file of the lowest rank, so that a manifest of the same name takes precedence. */
export function environmentContent(secrets: readonly SecretFromEnvironment[]): FileContent | undefined {
  if (secrets.length === 0) return undefined;
  const byIdentity = new Map<string, { [key: string]: string }>();
  for (const { namespace, name, key, value } of secrets) {
    const identity = JSON.stringify([namespace, name]);
    byIdentity.set(identity, { ...byIdentity.get(identity), [key]: value });
  }
  const documents = [...byIdentity].map(([identity, stringData], index) => {
    const [namespace, name] = JSON.parse(identity) as [string, string];
    // JSON is YAML: the one parser reads these as it reads files.
    const text = JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { namespace, name }, stringData });
    const digest = createHash("sha256").update(text).digest("hex");
    return { place: { line: index + 1, digest }, parsed: parseDocument(text) };
  });
  return { file: "(environment)", rank: 2, documents };
}

/** `tollgate key`: makes a new key, its digest, and a manifest for GitOps that holds only the digest. */
import { createHash, randomBytes } from "node:crypto";
import type { OutputStream } from "#cli/program-io";
import { UsageError } from "#cli/settings/read-settings";
import { checkMetadata } from "#operator/schema/check-metadata";
import type { Problem } from "#operator/schema/problem";

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

/**
 * Only the manifest goes to standard output, for `kubectl apply -f -` or a file in Git, which must not hold a raw key. The
 * key is shown this once, on standard error, and stored nowhere.
 *
 * @throws UsageError for names that no cluster accepts, before the key is shown
 */
export function runKey(
  namespace: string,
  name: string,
  { stdout, stderr }: Readonly<Record<"stdout" | "stderr", Pick<OutputStream, "write">>>,
): number {
  const problems: Problem[] = [];
  checkMetadata({ name, namespace }, { kind: "ApiKey", scope: "Namespaced" }, problems);
  if (problems.length > 0) throw new UsageError(problems.map(({ path, message }) => `--${path.at(-1)}: ${message}`));
  const key = createKey();
  stderr.write(
    `key:    ${key.secret}\nsha256: ${key.sha256}\nThe key is shown only now; the manifest holds only its digest.\n`,
  );
  stdout.write(renderKeyManifest(key, namespace, name));
  return 0;
}

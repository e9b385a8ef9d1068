/**
 * Makes the Secret that a `generate` credential asks for: a 256-bit key, written once
 * (docs/design/configuration.md 2.1).
 *
 * It never overwrites. An existing Secret is the key, whoever wrote it, unless it was made for another ApiKey.
 */
import { link, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { WantedSecret } from "#operator/compile/result";
import { generatedForAnnotation } from "#operator/resources/api-key";
import { isPathSegment } from "#operator/resources/path-segment";

const keyBytes = 32;

/** A new client key. @param randomBytes source of randomness; must be cryptographically strong */
export function mintKey(prefix: string, randomBytes: (count: number) => Uint8Array): string {
  return `${prefix}${Buffer.from(randomBytes(keyBytes)).toString("base64url")}`;
}

/** Where the manifest of a Secret is written. @param folder the data folder's `secrets` */
export function secretFile({ namespace, secretName }: WantedSecret, folder: string): string {
  return join(folder, `${namespace}.${secretName}.yaml`);
}

/**
 * Writes the Secret's manifest to its file, mode 0600.
 *
 * @param folder the data folder's `secrets`, which the folder source watches too; created with mode 0700
 * @returns the path, or undefined when there is a file already
 * @throws when the folder cannot be written, or the names lead out of it
 */
export async function generateSecret(
  wanted: WantedSecret,
  folder: string,
  randomBytes: (count: number) => Uint8Array,
): Promise<string | undefined> {
  const { namespace, secretName, key, prefix, ownerName } = wanted;
  if (![namespace, secretName].every(isPathSegment))
    throw new Error(`${JSON.stringify([namespace, secretName])} cannot be the name of a file`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = secretFile(wanted, folder);
  const unfinished = join(folder, `.${namespace}.${secretName}.${Buffer.from(randomBytes(6)).toString("hex")}`);
  const manifest = stringify({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: secretName, namespace, annotations: { [generatedForAnnotation]: `ApiKey/${ownerName}` } },
    stringData: { [key]: mintKey(prefix, randomBytes) },
  });
  try {
    const file = await open(unfinished, "wx", 0o600);
    try {
      await file.writeFile(manifest);
      // A key that was shown to somebody must survive a power cut.
      await file.sync();
    } finally {
      await file.close();
    }
    // A link, unlike a rename, fails when the file exists: it is whole or not at all, and never replaces another.
    await link(unfinished, path);
    return path;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return undefined;
    throw error;
  } finally {
    await rm(unfinished, { force: true });
  }
}

/**
 * Checks the files of keys and certificates that settings name, before anything else is done, so that an unusable file
 * is reported at once with its setting and path. Files that are renewed may change later; the part that serves from
 * them checks again. Called by the commands.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { isNativeError } from "node:util/types";
import type { Settings } from "#cli/settings/read-settings";
import { readLastGoodKey } from "#proxy/sync/last-good-file";

/** Checks a proxy's files: the certificate of the data port and the key of the last good file. @throws Error that names the setting */
export async function checkProxyKeyFiles(settings: Settings): Promise<void> {
  checkPair(settings, "tls.cert", "tls.key");
  const keyFile = settings.optionalText("lastGood.keyFile");
  if (keyFile === undefined) return;
  try {
    await readLastGoodKey(resolve(keyFile));
  } catch (error) {
    throw unusable(settings, "lastGood.keyFile", reasonOf(error), error);
  }
}

/** Checks an operator's files for its push endpoint. @throws Error that names the setting */
export function checkEndpointKeyFiles(settings: Settings): void {
  checkPair(settings, "push.tls.cert", "push.tls.key");
  readNamed(settings, "push.tls.ca");
}

function checkPair(settings: Settings, certName: string, keyName: string): void {
  const cert = readNamed(settings, certName);
  const key = readNamed(settings, keyName);
  if (cert === undefined || key === undefined) return;
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    if (!isReadable(() => new X509Certificate(cert)))
      throw unusable(settings, certName, "it holds no certificate in PEM form", error);
    if (!isReadable(() => createPrivateKey(key)))
      throw unusable(settings, keyName, "it holds no private key in PEM form that opens without a passphrase", error);
    const isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
    const why = isPair ? reasonOf(error) : `it does not belong to the certificate of ${named(settings, certName)}`;
    throw unusable(settings, keyName, why, error);
  }
}

function readNamed(settings: Settings, name: string): Buffer | undefined {
  const path = settings.optionalText(name);
  if (path === undefined) return undefined;
  try {
    return readFileSync(resolve(path));
  } catch (error) {
    throw unusable(settings, name, reasonOf(error), error);
  }
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

function named(settings: Settings, name: string): string {
  return `${settings.source(name)} ${resolve(settings.text(name))}`;
}

function unusable(settings: Settings, name: string, why: string, cause: unknown): Error {
  return new Error(`${named(settings, name)} cannot be used: ${why}`, { cause });
}

function reasonOf(error: unknown): string {
  switch (isNativeError(error) && "code" in error ? error.code : undefined) {
    case "ENOENT":
      return "there is no such file";
    case "EISDIR":
      return "it is a folder";
    case "EACCES":
      return "this user may not read it";
    default:
      return isNativeError(error) ? error.message : String(error);
  }
}

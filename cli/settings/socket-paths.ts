/**
 * Paths of the Unix sockets of a data folder. They are apart from the proxy's settings, so that the operator's settings
 * need not load a proxy.
 */
import { createHash } from "node:crypto";
import { basename, join, resolve } from "node:path";
import type { Settings } from "./read-settings.ts";

/** The push socket of a data folder. */
export function pushSocketPath(settings: Settings, temporaryFolder: string): string {
  return socketPath(settings.optionalText("push.socket") ?? join(settings.text("data"), "push.sock"), temporaryFolder);
}

/** The socket with which an operator locks a data folder. */
export function lockSocketPath(settings: Settings, temporaryFolder: string): string {
  return socketPath(join(settings.text("data"), "operator.lock"), temporaryFolder);
}

/**
 * Paths of Unix sockets are limited to about 100 bytes, so a longer one moves to the folder for temporary files, under a
 * name that belongs to this path alone.
 */
function socketPath(given: string, temporaryFolder: string): string {
  const path = resolve(given);
  if (Buffer.byteLength(path) <= 100) return path;
  const digest = createHash("sha256").update(path).digest("hex").slice(0, 16);
  return join(temporaryFolder, `tollgate-${digest}`, basename(path));
}

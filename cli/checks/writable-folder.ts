/**
 * Creates the folders that settings name, before anything is opened in them, so that an unusable path is reported at
 * once with its setting. Called by the commands.
 */
import { randomUUID } from "node:crypto";
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isNativeError } from "node:util/types";
import { makeFolder } from "#proxy/sqlite/make-folder";

/**
 * Creates the folder, mode 0700, and its parents. It does not check that the folder can be written.
 *
 * @param path absolute
 * @param flag of the setting, for messages
 * @throws Error that says what is wrong with the place and what to do
 */
export function makeNamedFolder(path: string, flag: string): void {
  nameSettingInErrors(flag, path, () => makeFolder(path));
}

/** Creates the folder likewise, and checks that files can be created in it. */
export function makeWritableFolder(path: string, flag: string): void {
  nameSettingInErrors(flag, path, () => {
    makeFolder(path);
    tryFile(join(path, `.${randomUUID()}.tmp`));
  });
}

function nameSettingInErrors(flag: string, path: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw new Error(`${flag} ${path} cannot be used: ${reasonOf(error, path)}`, { cause: error });
  }
}

function tryFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    // Existing files may be used on a full disk; the part that needs room reports it.
    if (codeOf(error) !== "ENOSPC") throw error;
    return;
  }
  rmSync(path, { force: true });
}

function reasonOf(error: unknown, path: string): string {
  switch (codeOf(error)) {
    case "ENOTDIR":
    case "EEXIST":
      return "a file is in the place of a folder; name a folder, or a path where one can be created";
    case "EACCES":
    case "EPERM":
      return `this user${userOf()} may not write there; make ${path} a folder of that user, or name another folder`;
    case "EROFS":
      return "the file system is read-only; name a folder on one that can be written";
    case "ENOENT":
      return "the file system there cannot hold folders or files; name a folder on a disk";
    case "ENOSPC":
    case "EDQUOT":
      return "the disk is full; make room there, or name a folder on another disk";
    default:
      return isNativeError(error) ? error.message : String(error);
  }
}

function userOf(): string {
  const uid = process.getuid?.();
  return uid === undefined ? "" : ` (uid ${uid})`;
}

function codeOf(error: unknown): unknown {
  return isNativeError(error) && "code" in error ? error.code : undefined;
}

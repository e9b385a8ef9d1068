/**
 * Reads the text of a manifest file, or says why it has none. The operator and `tollgate validate` use it, so both read
 * the same files alike.
 */
import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { codeOf } from "./scan-folder.ts";

export type ManifestText = { readonly text: string } | UnreadText;

export interface UnreadText {
  readonly failure: string;
  /** The system's error code; absent when the file was read and is not text. */
  readonly code?: string;
}

/** Enough for 100,000 keys; longer files are no manifests, and reading one must not take all memory. */
export const fileBytesMax = 32 * 1024 * 1024;

/**
 * @param size of the file as far as it is known: a longer one is not even read
 * @returns undefined when the file is not there
 */
export async function readManifestFile(path: string, size: number): Promise<ManifestText | undefined> {
  if (size > fileBytesMax) return tooLarge;
  try {
    return readManifestText(await readFile(path));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    return { failure: `The file cannot be read (${codeOf(error)}).`, code: codeOf(error) };
  }
}

export function readManifestText(bytes: Buffer): ManifestText {
  if (bytes.length > fileBytesMax) return tooLarge;
  if (!bytes.includes(0) && isUtf8(bytes)) return { text: bytes.toString("utf8") };
  return { failure: "The file is not UTF-8 text; save it as UTF-8, or give it another ending." };
}

const tooLarge = { failure: `The file is larger than ${fileBytesMax / 1024 ** 2} MiB; split it.` } as const;

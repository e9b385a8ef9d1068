/**
 * Writes and reads the last good configuration on disk, so that a restarted proxy serves with the operator down
 * (docs/design/configuration.md 3.8). It is written only where a key is configured: the file holds upstream keys.
 *
 * Layout: a line that names format and version, 12 bytes of nonce, AES-256-GCM of JSON lines, 16 bytes of tag; the
 * first line is authenticated too. Invariants: mode 0600, replaced by rename after fsync, so it is the old or the new
 * one and never torn; nothing of a file is believed before its tag is verified; an unreadable file is ignored with a
 * reason, and never makes a proxy fail or open.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate as giveWay } from "node:timers/promises";
import { emptySnapshot, type IndexedSnapshot, SnapshotDraft } from "#proxy/snapshot/build-index";
import { objectVersion } from "#proxy/snapshot/digest";
import { Interner } from "#proxy/snapshot/index/intern";
import { snapshotBytesMax } from "#proxy/snapshot/push/messages";
import { highestVersions, isResourceVersion, noVersions } from "#proxy/snapshot/push/resource-versions";
import { LineSplitter } from "#proxy/snapshot/push/split-lines";
import type { WireObject } from "#proxy/snapshot/types.gen";
import { validateObject } from "#proxy/snapshot/validate";
import type { ObservedStatus } from "./snapshot-store.ts";

const header = Buffer.from("tollgate-last-good 1\n");
const nonceBytes = 12;
const tagBytes = 16;
const pieceCharacters = 256 * 1024;
const sliceMs = 5;
/** Objects are bounded by a frame of the push protocol; a line adds its id. */
const lineBytesMax = 2 * 1024 * 1024;

export type LastGood =
  | {
      readonly snapshot: IndexedSnapshot;
      readonly observed: ObservedStatus;
      readonly skipped: number;
      readonly problem?: undefined;
      readonly isAbsent?: undefined;
    }
  | {
      readonly problem: string;
      /** Nothing was written yet. */
      readonly isAbsent?: boolean;
      readonly snapshot?: undefined;
      readonly observed?: undefined;
      readonly skipped?: undefined;
    };

interface Facts {
  readonly revision: number;
  readonly count: number;
  readonly observed: ObservedStatus;
}

/** The file of the key is no key; the message says what is wanted. */
export class LastGoodKeyError extends Error {
  readonly code = "last_good_key";
}

/**
 * Reads the 32-byte key: raw, in hex or in base64.
 *
 * @throws LastGoodKeyError, or the file system's error when the file cannot be read.
 */
export async function readLastGoodKey(keyFile: string): Promise<Buffer> {
  const content = await readFile(keyFile);
  if (content.length === 32) return content;
  const text = content.toString("latin1").trim();
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, "hex");
  if (/^[A-Za-z0-9+/]{43}=$/.test(text)) return Buffer.from(text, "base64");
  throw new LastGoodKeyError(`${keyFile} must hold 32 bytes, raw, in hex or in base64`);
}

/** Replaces the file by what is live in the snapshot. Gives way to others while it writes. */
export async function writeLastGood(
  file: string,
  key: Buffer,
  snapshot: IndexedSnapshot,
  observed: ObservedStatus = { epoch: 0, versions: noVersions },
): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  const { O_CREAT, O_TRUNC, O_WRONLY, O_NOFOLLOW } = constants;
  try {
    await using handle = await open(temporary, O_CREAT | O_TRUNC | O_WRONLY | O_NOFOLLOW, 0o600);
    await handle.chmod(0o600);
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", key, nonce);
    cipher.setAAD(header);
    await handle.writeFile(Buffer.concat([header, nonce]));
    for (const piece of pieces(snapshot, observed)) await handle.writeFile(cipher.update(piece, "utf8"));
    await handle.writeFile(Buffer.concat([cipher.final(), cipher.getAuthTag()]));
    await handle.sync();
    await rename(temporary, file);
    await syncFolder(dirname(file));
  } catch (cause) {
    await rm(temporary, { force: true });
    throw cause;
  }
}

/** @returns the snapshot, or why there is none; never throws for the content of the file. */
export async function readLastGood(file: string, key: Buffer): Promise<LastGood> {
  let content: Buffer;
  try {
    const { size } = await stat(file);
    if (size > 2 * snapshotBytesMax) return { problem: "it is larger than any snapshot" };
    content = await readFile(file);
  } catch (cause) {
    return { problem: `it cannot be read (${codeOf(cause)})`, isAbsent: codeOf(cause) === "ENOENT" };
  }
  if (!content.subarray(0, header.length).equals(header)) {
    return { problem: "it is not a last good file of this version" };
  }
  const plain = await decrypt(content.subarray(header.length), key);
  if (plain === undefined) return { problem: "it is damaged or was written with another key" };
  return build(plain);
}

function* pieces(snapshot: IndexedSnapshot, { epoch, versions }: ObservedStatus): Generator<string> {
  let count = 0;
  for (const _ of restorableObjects(snapshot)) count += 1;
  let text = `${JSON.stringify({ revision: snapshot.revision, count, epoch, versions })}\n`;
  for (const [id, object] of restorableObjects(snapshot)) {
    text += `${JSON.stringify({ id, object })}\n`;
    if (text.length < pieceCharacters) continue;
    yield text;
    text = "";
  }
  yield text;
}

/** What is live without what was revoked: a file must never bring a dead key back. */
function* restorableObjects(snapshot: IndexedSnapshot): Generator<[id: string, object: WireObject]> {
  const { revoked } = snapshot.parts;
  for (const [id, object] of snapshot.objects()) {
    if (revoked === undefined || object.kind !== "key") {
      yield [id, object];
      continue;
    }
    if (revoked.keys.has(id)) continue;
    const credentials = object.credentials.filter(({ sha256 }) => !revoked.credentials.has(sha256));
    if (credentials.length === object.credentials.length) yield [id, object];
    else if (credentials.length > 0) yield [id, { ...object, credentials }];
  }
}

async function decrypt(sealed: Buffer, key: Buffer): Promise<Buffer[] | undefined> {
  if (sealed.length < nonceBytes + tagBytes) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(header);
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  const body = sealed.subarray(nonceBytes, sealed.length - tagBytes);
  const plain: Buffer[] = [];
  for (let start = 0; start < body.length; start += pieceCharacters) {
    plain.push(decipher.update(body.subarray(start, start + pieceCharacters)));
    await giveWay();
  }
  try {
    plain.push(decipher.final());
    return plain;
  } catch {
    // The tag does not fit: the only failure there is, and the caller says so.
    return undefined;
  }
}

async function build(plain: readonly Buffer[]): Promise<LastGood> {
  const draft = new SnapshotDraft(emptySnapshot);
  const interner = new Interner();
  const splitter = new LineSplitter(lineBytesMax);
  let facts: Facts | undefined;
  let read = 0;
  let skipped = 0;
  let begunAt = performance.now();
  for (const chunk of plain) {
    for (const line of splitter.push(chunk)) {
      const value: unknown = JSON.parse(line);
      if (facts === undefined) {
        facts = readFacts(value);
        if (facts === undefined) return { problem: "it is not a last good file of this version" };
        continue;
      }
      read += 1;
      if (!putObject(draft, interner, value)) skipped += 1;
      if (performance.now() - begunAt < sliceMs) continue;
      await giveWay();
      begunAt = performance.now();
    }
  }
  if (facts === undefined || facts.count !== read) return { problem: "it is incomplete" };
  return { snapshot: draft.finish(facts.revision), observed: facts.observed, skipped };
}

/** @returns false for an object this version does not understand: it stays out, which denies a key. */
function putObject(draft: SnapshotDraft, interner: Interner, value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("id" in value) || !("object" in value)) return false;
  const { id, object } = value;
  if (typeof id !== "string") return false;
  const verdict = validateObject(object, id);
  if (verdict.problem !== undefined) return false;
  const { version, size } = objectVersion(id, object);
  draft.put(id, version, size, interner.shareParts(verdict.object));
  return true;
}

function readFacts(value: unknown): Facts | undefined {
  if (typeof value !== "object" || value === null || !("revision" in value) || !("count" in value)) return undefined;
  const { revision, count } = value;
  if (typeof revision !== "number" || typeof count !== "number") return undefined;
  return { revision, count, observed: readObserved(value) };
}

/** Files of the first release hold none; what is not understood is as good as none. */
function readObserved(value: object): ObservedStatus {
  const epoch = "epoch" in value && typeof value.epoch === "number" ? value.epoch : 0;
  if (!("versions" in value) || typeof value.versions !== "object") return { epoch, versions: noVersions };
  const entries = Object.entries(value.versions ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && isResourceVersion(entry[1]),
  );
  return { epoch, versions: highestVersions(noVersions, Object.fromEntries(entries)) };
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
}

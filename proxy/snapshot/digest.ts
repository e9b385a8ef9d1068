/**
 * Computes versions and digests of the compiled configuration.
 *
 * The version of an object is a hash of its canonical JSON, so all replicas of the operator and all proxies agree on it
 * without talking. Objects fall into 256 buckets by their id; a bucket's sum is the sum of its versions modulo 2^64,
 * cheap to keep under single changes and independent of order. The digest of the fleet is a hash over the sums
 * (docs/design/configuration.md 3.13). Sums find differences, they do not resist a forger: the channel is
 * authenticated, the digest is not a signature.
 */
import { hash } from "node:crypto";

export const bucketCount = 256;

/** Deeper values overflow the stack of whatever recurses over them; nothing of ours comes near. */
const depthMax = 64;

/** Sums of the versions of each bucket. */
export type BucketSums = BigUint64Array;

export interface ObjectVersion {
  /** First 8 bytes of SHA-256(id, line feed, canonical JSON) as 16 hex digits. */
  readonly version: string;
  /** Length of the canonical JSON, in UTF-16 units. */
  readonly size: number;
  readonly canonical: string;
}

/** Thrown for a value that has no canonical form: nested too deeply. */
export class CanonicalFormError extends Error {
  readonly code = "no_canonical_form";
}

/**
 * JSON with sorted members and without spaces: equal values give equal text, however they were written.
 *
 * @throws CanonicalFormError when nested deeper than 64.
 */
export function canonicalJson(value: unknown): string {
  // What the operator sends is sorted already, and then the engine's own writer gives the same text five times faster.
  return isSorted(value, 0) ? (JSON.stringify(value) ?? "null") : write(value, 0);
}

function isSorted(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth >= depthMax) throw new CanonicalFormError(`nested deeper than ${depthMax}`);
  if (Array.isArray(value)) {
    for (const item of value) if (!isSorted(item, depth + 1)) return false;
    return true;
  }
  let last = "";
  // Values here are parsed or built of literals: they inherit nothing that would be counted. A list of entries for each
  // object of 100,000 keys is a tenth of what a proxy's start takes of them.
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    if (name < last || !isSorted(members[name], depth + 1)) return false;
    last = name;
  }
  return true;
}

function write(value: unknown, depth: number): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (depth >= depthMax) throw new CanonicalFormError(`nested deeper than ${depthMax}`);
  if (Array.isArray(value)) {
    let text = "[";
    for (let index = 0; index < value.length; index += 1) {
      text += index === 0 ? write(value[index], depth + 1) : `,${write(value[index], depth + 1)}`;
    }
    return `${text}]`;
  }
  let text = "{";
  for (const [name, member] of Object.entries(value).sort(byName)) {
    if (member === undefined) continue;
    text += `${text === "{" ? "" : ","}${JSON.stringify(name)}:${write(member, depth + 1)}`;
  }
  return `${text}}`;
}

function byName(one: readonly [string, unknown], other: readonly [string, unknown]): number {
  return one[0] < other[0] ? -1 : 1;
}

/** @throws CanonicalFormError as `canonicalJson`. */
export function objectVersion(id: string, object: unknown): ObjectVersion {
  const canonical = canonicalJson(object);
  const version = hash("sha256", `${id}\n${canonical}`, "hex").slice(0, 16);
  return { version, size: canonical.length, canonical };
}

/** The bucket of an id: FNV-1a folded to a byte; spread is all it needs. */
export function bucketOf(id: string): number {
  let state = 0x811c9dc5;
  for (let index = 0; index < id.length; index += 1) {
    state = Math.imul(state ^ id.charCodeAt(index), 0x01000193);
  }
  return ((state >>> 24) ^ (state >>> 16) ^ (state >>> 8) ^ state) & 0xff;
}

export function emptySums(): BucketSums {
  return new BigUint64Array(bucketCount);
}

export function addVersion(sums: BucketSums, bucket: number, version: string): void {
  // The typed array wraps modulo 2^64 by itself.
  sums[bucket] = (sums[bucket] ?? 0n) + BigInt(`0x${version}`);
}

export function subtractVersion(sums: BucketSums, bucket: number, version: string): void {
  sums[bucket] = (sums[bucket] ?? 0n) - BigInt(`0x${version}`);
}

/** Digest over all buckets, 16 hex digits. */
export function fleetDigest(sums: BucketSums): string {
  return hash("sha256", sumBytes(sums), "buffer").toString("hex", 0, 8);
}

/** The sums as they travel in `hello`: base64 of 256 big-endian words. */
export function encodeSums(sums: BucketSums): string {
  return sumBytes(sums).toString("base64");
}

/** @returns undefined when the text is not 256 words. */
export function decodeSums(text: string): BucketSums | undefined {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length !== bucketCount * 8) return undefined;
  const sums = emptySums();
  for (let bucket = 0; bucket < bucketCount; bucket += 1) sums[bucket] = bytes.readBigUInt64BE(bucket * 8);
  return sums;
}

function sumBytes(sums: BucketSums): Buffer {
  const bytes = Buffer.allocUnsafe(bucketCount * 8);
  for (let bucket = 0; bucket < bucketCount; bucket += 1) bytes.writeBigUInt64BE(sums[bucket] ?? 0n, bucket * 8);
  return bytes;
}

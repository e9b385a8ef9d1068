/**
 * Scans a JSON body once and strictly: finds its members, counts its text and refuses what two readers could read in
 * two ways, without building a value.
 *
 * Bodies of the same format pass upstream as bytes (`body-editor.ts`), so authoriser and upstream must see the same
 * members: a second `model`, also when spelled with escapes, a case variant that some parsers fold, or a byte order
 * mark is refused here and not interpreted. The whole body is checked against RFC 8259; a value is read by its range,
 * and only when a reader asks for it. Never recursive, so depth costs no stack.
 *
 * It is stricter than `JSON.parse` in exactly this: the top level is an object; at most `depthMax` levels, `keysMax`
 * keys, `itemsMax` array items and 4,096 members of the scanned object; none of these occurs twice or is a case variant
 * of a routing member; bytes are UTF-8 without a byte order mark; `\u` escapes of surrogates come in pairs. Nested
 * objects may hold duplicates (they are user data) unless the reader scans them with `scanMembers`.
 *
 * `read-call` of every format and the body editor call it.
 */
import { isUtf8 } from "node:buffer";
import { GatewayError } from "#proxy/errors";
import type { ScannedObject, ScanOptions } from "./json-object.ts";
import { Scan } from "./json-scan.ts";
import { invalidJson, openBrace, skipSpace } from "./json-tokens.ts";
import { routingNames, usualNames } from "./usual-names.ts";

export type { Hit, JsonKind, Member, ScannedObject, ScanOptions, ValueRange } from "./json-object.ts";
export { readJson, readNumber, readString, readText } from "./json-object.ts";

/** Names that folding leaves as they are. */
const plainName = /^[a-z0-9_]*$/;

/** By their folded spelling. */
const routingMembers = new Map(routingNames.map((name) => [foldCase(name), name] as const));

/** As the most generous parsers fold: long s to `s`, Kelvin sign to `k` (both are letters of routing members). */
export function foldCase(name: string): string {
  return plainName.test(name) ? name : name.toUpperCase().toLowerCase();
}

/**
 * Scans a whole request body.
 * @throws GatewayError `invalid_json` with the offset of the byte at fault
 */
export function scanJsonObject(bytes: Buffer, options: ScanOptions): ScannedObject {
  refuseForeignEncoding(bytes);
  const start = skipSpace(bytes, 0, bytes.length);
  if (bytes[start] !== openBrace) throw invalidJson(start, "the top level must be an object, { … }");
  const scan = new Scan(bytes, start, options);
  const end = scan.run(bytes.length);
  const rest = skipSpace(bytes, end, bytes.length);
  if (rest < bytes.length) throw invalidJson(rest, "bytes follow the end of the object; send one object only");
  for (const member of scan.members) {
    if (usualNames.names.has(member.name)) continue;
    const meant = routingMembers.get(foldCase(member.name));
    if (meant === undefined || meant === member.name) continue;
    throw invalidJson(
      member.keyStart,
      `the member ${JSON.stringify(member.name)} must be spelled ${JSON.stringify(meant)}`,
    );
  }
  return scan;
}

/**
 * Scans a body that this program wrote of a client's, which can break no rule but the bounds: the client's own was read
 * and is JSON.
 * @param beyond what to say of a body beyond them
 * @throws GatewayError
 */
export function scanWrittenObject(
  bytes: Buffer,
  options: ScanOptions,
  beyond: (cause: GatewayError) => GatewayError,
): ScannedObject {
  try {
    return scanJsonObject(bytes, options);
  } catch (error) {
    throw error instanceof GatewayError && error.code === "invalid_json" ? beyond(error) : error;
  }
}

const unbounded: ScanOptions = { depthMax: 1_000, keysMax: 1_000_000 };

/**
 * Scans an object inside bytes that were scanned before, such as `generationConfig`: its members, duplicates refused.
 * @param start offset of its opening brace
 * @param end offset behind its closing brace
 * @throws GatewayError `invalid_json` when a member stands twice
 */
export function scanMembers(
  bytes: Buffer,
  start: number,
  end: number,
  options: ScanOptions = unbounded,
): ScannedObject {
  const scan = new Scan(bytes, start, options);
  scan.run(end);
  return scan;
}

function refuseForeignEncoding(bytes: Buffer): void {
  if (bytes.length === 0) throw new GatewayError("invalid_json", "The body is empty: send a JSON object.");
  const [first, second] = bytes;
  if (first === 0xef && second === 0xbb)
    throw invalidJson(0, "it begins with a byte order mark; send UTF-8 without it");
  const isUtf16 =
    first === 0 || second === 0 || (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isUtf16) throw invalidJson(0, "it is encoded in UTF-16 or UTF-32; send UTF-8");
  if (!isUtf8(bytes)) throw invalidJson(firstBadByte(bytes), "bytes that are not UTF-8; encode the body as UTF-8");
}

/** Halves the text to within a character of the fault, then goes on by characters. */
function firstBadByte(bytes: Buffer): number {
  let good = 0;
  let bad = bytes.length;
  for (;;) {
    let middle = (good + bad) >> 1;
    for (let back = 0; back < 3 && isContinuation(bytes[middle]); back += 1) middle -= 1;
    if (middle <= good) break;
    if (isUtf8(bytes.subarray(good, middle))) good = middle;
    else bad = middle;
  }
  for (;;) {
    const length = [1, 2, 3, 4].find((count) => isUtf8(bytes.subarray(good, good + count)));
    if (length === undefined || good >= bytes.length) return good;
    good += length;
  }
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Holds the result of a scan of JSON bytes, and the readers that decode one value of it by its range. */
import { openBrace, openBracket, quote } from "./json-tokens.ts";

export type JsonKind = "string" | "number" | "object" | "array" | "true" | "false" | "null";

/** One member of the scanned object; offsets are into `ScannedObject.bytes`, ends are exclusive. */
export interface Member {
  /** Decoded: escapes resolved. */
  readonly name: string;
  /** Offset of the opening quote of the key. */
  readonly keyStart: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly kind: JsonKind;
}

/** An occurrence of a watched key below the top level. */
export interface Hit {
  /** The watched key, the last element of `path`. */
  readonly key: string;
  /** From the scanned object down: keys and array indexes. `["messages", 2, "content", 0, "file", "file_id"]` */
  readonly path: readonly (string | number)[];
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly kind: JsonKind;
}

export interface ScannedObject {
  /** The very buffer that was scanned; never changed. */
  readonly bytes: Buffer;
  /** Offset of the opening brace. */
  readonly start: number;
  /** Offset behind the closing brace. */
  readonly end: number;
  /** In the order they stand in. */
  readonly members: readonly Member[];
  /** Own names only: `__proto__` is a name like any other. */
  member(name: string): Member | undefined;
  /** Occurrences of the watched keys, in order of their values' ends. */
  readonly hits: readonly Hit[];
  /** Bytes inside string values at any depth, as spelled (escapes count as written): `textBytes + dataBytes`. */
  readonly stringBytes: number;
  /** Bytes of string values that are not base64 data: the base of token estimates. */
  readonly textBytes: number;
  /** Bytes of long base64 values (`json-data.ts` says which). */
  readonly dataBytes: number;
  /** Bytes of all keys: schemas of tools are prompt too. */
  readonly keyBytes: number;
}

export interface ScanOptions {
  /** Deepest nesting accepted; the top object is level 1. */
  readonly depthMax: number;
  /** Most keys of all objects together. */
  readonly keysMax: number;
  /** Most items of all arrays together behind each one's first; 500,000 when absent. */
  readonly itemsMax?: number;
  /** Nested keys whose occurrences are reported as `hits`. Give one constant array: it is compiled once. */
  readonly watch?: readonly string[];
}

/** The kind of the value that begins with this byte. */
export function kindOf(first: number | undefined): JsonKind {
  switch (first) {
    case quote:
      return "string";
    case openBrace:
      return "object";
    case openBracket:
      return "array";
    case 0x74:
      return "true";
    case 0x66:
      return "false";
    case 0x6e:
      return "null";
    default:
      return "number";
  }
}

/** @param start offset of the opening quote @param end offset behind the closing quote */
export function decodeString(bytes: Buffer, start: number, end: number, hasEscape: boolean): string {
  if (!hasEscape) return bytes.toString("utf8", start + 1, end - 1);
  const value: unknown = JSON.parse(bytes.toString("utf8", start, end));
  return typeof value === "string" ? value : "";
}

/** What a range points into: a `ScannedObject`. */
export interface JsonSource {
  readonly bytes: Buffer;
}

/** Where a value stands: a `Member` or a `Hit`. */
export interface ValueRange {
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly kind: JsonKind;
}

/** The value as the client spelled it. */
export function readText(source: JsonSource, value: ValueRange): string {
  return source.bytes.toString("utf8", value.valueStart, value.valueEnd);
}

/** @returns undefined unless the value is a string */
export function readString(source: JsonSource, value: ValueRange | undefined): string | undefined {
  if (value?.kind !== "string") return undefined;
  const hasEscape = source.bytes.subarray(value.valueStart, value.valueEnd).includes(0x5c);
  return decodeString(source.bytes, value.valueStart, value.valueEnd, hasEscape);
}

/** @returns undefined unless the value is a number that is finite as a double (`1e400` is not); see `readText` */
export function readNumber(source: JsonSource, value: ValueRange | undefined): number | undefined {
  if (value?.kind !== "number") return undefined;
  const number = Number(readText(source, value));
  return Number.isFinite(number) ? number : undefined;
}

/** Parses just this value. Only for values that are small or must be looked through anyway. */
export function readJson(source: JsonSource, value: ValueRange): unknown {
  return JSON.parse(readText(source, value));
}

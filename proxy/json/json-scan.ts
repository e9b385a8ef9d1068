/** Scans JSON for `strict-json.ts` in one loop over tokens with its own stack, so that depth costs no call frames. */
import type { GatewayError } from "#proxy/errors";
import { dataKeyLengthMax, isEncodedData } from "./json-data.ts";
import { decodeString, type Hit, kindOf, type Member, type ScannedObject, type ScanOptions } from "./json-object.ts";
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  invalidJson,
  type JsonText,
  openBrace,
  openBracket,
  quote,
  skipBareValue,
  skipSpace,
  skipString,
  withWords,
} from "./json-tokens.ts";
import { compileWatch, isWatched, type Watch } from "./json-watch.ts";
import { usualNames } from "./usual-names.ts";

/** A token list of an embedding call has at most some 300,000; more only holds up the event loop. */
const itemsMaxDefault = 500_000;

/** Each member of the scanned object is kept with its name; no format has more than some sixty. */
const membersMax = 4_096;

const fewMembers = 24;

/** By level: whether the container is an array, the element's index, and where the current key and value stand. */
class Levels {
  readonly isArray: Uint8Array;
  readonly index: Int32Array;
  readonly keyStart: Int32Array;
  /** 0 where there is no key. */
  readonly keyEnd: Int32Array;
  readonly valueStart: Int32Array;
  readonly watched: (string | undefined)[];

  constructor(depthMax: number) {
    this.isArray = new Uint8Array(depthMax + 1);
    this.index = new Int32Array(depthMax + 1);
    this.keyStart = new Int32Array(depthMax + 1);
    this.keyEnd = new Int32Array(depthMax + 1);
    this.valueStart = new Int32Array(depthMax + 1);
    this.watched = new Array<string | undefined>(depthMax + 1).fill(undefined);
  }
}

/** Of the pass that runs: passes are never nested, and their levels are used again. */
let levels = new Levels(64);

/** The state of one pass, and what it found. */
export class Scan implements ScannedObject {
  readonly bytes: Buffer;
  readonly start: number;
  readonly members: Member[] = [];
  readonly hits: Hit[] = [];
  end = 0;
  stringBytes = 0;
  dataBytes = 0;
  keyBytes = 0;
  readonly #text: JsonText;
  readonly #options: ScanOptions;
  readonly #watch: Watch | undefined;
  /** Only where members are many: a few are found faster by looking at all. */
  #names: Map<string, Member> | undefined;
  #keys = 0;
  #items = 0;
  #depth = 0;
  #memberName = "";
  readonly #levels: Levels;

  constructor(bytes: Buffer, start: number, options: ScanOptions) {
    this.bytes = bytes;
    this.#text = withWords(bytes);
    this.start = start;
    this.#options = options;
    this.#watch = options.watch === undefined ? undefined : compileWatch(options.watch);
    if (levels.watched.length <= options.depthMax) levels = new Levels(options.depthMax);
    this.#levels = levels;
  }

  get textBytes(): number {
    return this.stringBytes - this.dataBytes;
  }

  member(name: string): Member | undefined {
    if (this.#names !== undefined) return this.#names.get(name);
    for (const member of this.members) if (member.name === name) return member;
    return undefined;
  }

  /** @returns the offset behind the object */
  run(end: number): number {
    const bytes = this.bytes;
    let at = this.start;
    for (;;) {
      // A value begins at `at`.
      const first = bytes[at];
      this.#levels.valueStart[this.#depth] = at;
      if (first === openBrace || first === openBracket) {
        this.#open(first === openBracket, at);
        const next = skipSpace(bytes, at + 1, end);
        const isEmpty = next < end && bytes[next] === first + 2;
        if (!isEmpty) {
          at = first === openBrace ? this.#key(next, end) : next;
          continue;
        }
        this.#depth -= 1;
        at = next + 1;
      } else if (first === quote && at < end) {
        const close = skipString(this.#text, at + 1, end);
        const behind = close < 0 ? ~close : close;
        this.#countString(at + 1, behind);
        at = behind + 1;
      } else {
        at = skipBareValue(bytes, at, end);
      }
      // A value ended before `at`: closers follow, then a comma, or the end of all.
      for (;;) {
        if (this.#depth === 0) {
          this.end = at;
          return at;
        }
        this.#valueEnded(at);
        at = skipSpace(bytes, at, end);
        const isArray = this.#levels.isArray[this.#depth] === 1;
        const next = at < end ? bytes[at] : undefined;
        if (next === comma) {
          at = skipSpace(bytes, at + 1, end);
          if (isArray) this.#nextItem(at);
          else at = this.#key(at, end);
          break;
        }
        if (next !== (isArray ? closeBracket : closeBrace)) throw this.#unexpected(at, end, isArray);
        this.#depth -= 1;
        at += 1;
      }
    }
  }

  #unexpected(at: number, end: number, isArray: boolean): GatewayError {
    if (at >= end) return invalidJson(at, `it ends inside ${isArray ? "an array" : "an object"}; send the whole body`);
    return invalidJson(at, `expected a comma or ${isArray ? "]" : "}"}`);
  }

  #open(isArray: boolean, at: number): void {
    this.#depth += 1;
    if (this.#depth > this.#options.depthMax) {
      throw invalidJson(at, `more than ${this.#options.depthMax} levels of nesting; flatten the body`);
    }
    this.#levels.isArray[this.#depth] = isArray ? 1 : 0;
    this.#levels.index[this.#depth] = 0;
    this.#levels.keyEnd[this.#depth] = 0;
    this.#levels.watched[this.#depth] = undefined;
  }

  #nextItem(at: number): void {
    this.#levels.index[this.#depth] = (this.#levels.index[this.#depth] ?? 0) + 1;
    this.#items += 1;
    const itemsMax = this.#options.itemsMax ?? itemsMaxDefault;
    if (this.#items > itemsMax) throw invalidJson(at, `more than ${itemsMax} array items; send fewer`);
  }

  /** Reads a key and its colon. @returns the offset of the value */
  #key(at: number, end: number): number {
    const bytes = this.bytes;
    if (at >= end || bytes[at] !== quote) throw invalidJson(at, "expected a member's name in double quotes");
    this.#keys += 1;
    if (this.#keys > this.#options.keysMax)
      throw invalidJson(at, `more than ${this.#options.keysMax} keys; send fewer`);
    const close = skipString(this.#text, at + 1, end);
    const behind = close < 0 ? ~close : close;
    const depth = this.#depth;
    this.#levels.keyStart[depth] = at;
    this.#levels.keyEnd[depth] = behind + 1;
    this.keyBytes += behind - at - 1;
    if (depth === 1) this.#beginMember(at, behind, close < 0);
    else if (this.#watch !== undefined) {
      this.#levels.watched[depth] = isWatched(this.#watch, bytes, at, behind, close < 0);
    }
    const separator = skipSpace(bytes, behind + 1, end);
    if (separator >= end || bytes[separator] !== colon) throw invalidJson(separator, "a colon must follow the name");
    return skipSpace(bytes, separator + 1, end);
  }

  #beginMember(keyStart: number, close: number, hasEscape: boolean): void {
    if (this.members.length >= membersMax) {
      throw invalidJson(keyStart, `more than ${membersMax} members in one object; send fewer`);
    }
    const usual = hasEscape ? undefined : isWatched(usualNames, this.bytes, keyStart, close, false);
    const name = usual ?? decodeString(this.bytes, keyStart, close + 1, hasEscape);
    if (this.member(name) !== undefined) {
      throw invalidJson(keyStart, `the member ${JSON.stringify(name)} occurs twice; send it once`);
    }
    this.#memberName = name;
  }

  #countString(from: number, to: number): void {
    const length = to - from;
    this.stringBytes += length;
    if (length < dataKeyLengthMax) return;
    const depth = this.#depth;
    const keyEnd = this.#levels.keyEnd[depth] ?? 0;
    const isData = isEncodedData(
      this.bytes,
      keyEnd === 0 ? 0 : (this.#levels.keyStart[depth] ?? 0) + 1,
      keyEnd - 1,
      from,
      to,
    );
    if (isData) this.dataBytes += length;
  }

  #valueEnded(at: number): void {
    const depth = this.#depth;
    if (depth === 1) {
      const valueStart = this.#levels.valueStart[1] ?? 0;
      const member: Member = {
        name: this.#memberName,
        keyStart: this.#levels.keyStart[1] ?? 0,
        valueStart,
        valueEnd: at,
        kind: kindOf(this.bytes[valueStart]),
      };
      this.#addMember(member);
      return;
    }
    const key = this.#levels.watched[depth];
    if (key === undefined) return;
    this.#levels.watched[depth] = undefined;
    const valueStart = this.#levels.valueStart[depth] ?? 0;
    this.hits.push({ key, path: this.#path(key), valueStart, valueEnd: at, kind: kindOf(this.bytes[valueStart]) });
  }

  #addMember(member: Member): void {
    this.members.push(member);
    if (this.#names !== undefined) this.#names.set(member.name, member);
    else if (this.members.length > fewMembers) {
      this.#names = new Map(this.members.map((one) => [one.name, one]));
    }
  }

  #path(key: string): (string | number)[] {
    const path: (string | number)[] = [this.#memberName];
    for (let level = 2; level < this.#depth; level += 1) {
      if (this.#levels.isArray[level] === 1) path.push(this.#levels.index[level] ?? 0);
      else
        path.push(decodeString(this.bytes, this.#levels.keyStart[level] ?? 0, this.#levels.keyEnd[level] ?? 0, true));
    }
    path.push(key);
    return path;
  }
}

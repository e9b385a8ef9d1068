/**
 * Edits single members of a scanned JSON body and leaves every other byte as the client wrote it.
 *
 * Unknown fields, number spellings, white space and order survive, and what the authoriser saw is what goes upstream.
 * An untouched body is returned as the very same buffer; an edited one costs one allocation and copy. Edits collect as
 * patches of the original bytes, those of nested objects among them, and are applied once by `build`.
 *
 * Called by every format's `editBody`; values given to `set` are JSON text, which the caller vouches for.
 */
import { GatewayError } from "#proxy/errors";
import { type Member, readText, type ScannedObject, scanMembers } from "./strict-json.ts";

/** Replaces the bytes from `start` to `end` (exclusive) by `text`. */
interface Patch {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const emptyObject = Buffer.from("{}");

export class BodyEditor {
  readonly #scanned: ScannedObject;
  /** By member name: new JSON text, or undefined for removed. Names absent here are as scanned. */
  readonly #edits = new Map<string, string | undefined>();
  readonly #nested = new Map<string, BodyEditor>();

  constructor(scanned: ScannedObject) {
    this.#scanned = scanned;
  }

  has(name: string): boolean {
    return this.text(name) !== undefined;
  }

  /** The current JSON text of a member; undefined when there is none. */
  text(name: string): string | undefined {
    const nested = this.#nested.get(name);
    if (nested !== undefined && !nested.#isUntouched()) return nested.#currentText();
    if (this.#edits.has(name)) return this.#edits.get(name);
    const member = this.#scanned.member(name);
    return member === undefined ? undefined : readText(this.#scanned, member);
  }

  /**
   * Replaces or adds a member; an added one comes last.
   * @param jsonText valid JSON, for example `JSON.stringify(value)`
   */
  set(name: string, jsonText: string): void {
    this.#nested.delete(name);
    this.#edits.set(name, jsonText);
  }

  remove(name: string): void {
    this.#nested.delete(name);
    if (this.#scanned.member(name) === undefined) this.#edits.delete(name);
    else this.#edits.set(name, undefined);
  }

  /**
   * An editor over the object that a member holds; what it changes is part of this editor's result. An absent member
   * or `null` becomes an object once something is set in it. A later `set` or `remove` of the same member ends it.
   * @throws GatewayError `invalid_type` when the member is neither an object nor null; `invalid_json` when a member
   *   stands in it twice
   */
  nested(name: string): BodyEditor {
    const open = this.#nested.get(name);
    if (open !== undefined) return open;
    const editor = new BodyEditor(this.#scanNested(name));
    this.#nested.set(name, editor);
    return editor;
  }

  #scanNested(name: string): ScannedObject {
    const member = this.#scanned.member(name);
    if (member?.kind === "object" && !this.#edits.has(name)) {
      return scanMembers(this.#scanned.bytes, member.valueStart, member.valueEnd);
    }
    const text = this.text(name);
    if (text === undefined || text === "null") return scanMembers(emptyObject, 0, emptyObject.length);
    const trimmed = Buffer.from(text.trim());
    if (trimmed[0] !== 0x7b) {
      throw new GatewayError("invalid_type", `'${name}' must be an object.`, { param: name });
    }
    return scanMembers(trimmed, 0, trimmed.length);
  }

  /** @returns the scanned buffer itself when nothing changed, else a new one */
  build(): Buffer {
    const { bytes } = this.#scanned;
    const patches = this.#patches();
    if (patches.length === 0) return bytes;
    return applyPatches(bytes, 0, bytes.length, patches);
  }

  #isUntouched(): boolean {
    return this.#patches().length === 0;
  }

  #currentText(): string {
    const { bytes, start, end } = this.#scanned;
    return applyPatches(bytes, start, end, this.#patches()).toString();
  }

  /** All changes as patches of the scanned bytes, in order and without overlap. */
  #patches(): Patch[] {
    const patches: Patch[] = [];
    if (this.#edits.size === 0 && this.#nested.size === 0) return patches;
    const { members } = this.#scanned;
    let lastKept: Member | undefined;
    let removedFrom = -1;
    let previousEnd = 0;
    for (const member of members) {
      const behindPrevious = previousEnd;
      previousEnd = member.valueEnd;
      if (this.#isRemoved(member.name)) {
        // With a member kept before it, a removed one takes the comma in front; else the comma behind goes, below.
        if (lastKept === undefined) removedFrom = removedFrom < 0 ? member.keyStart : removedFrom;
        else patches.push({ start: behindPrevious, end: member.valueEnd, text: "" });
        continue;
      }
      if (removedFrom >= 0) patches.push({ start: removedFrom, end: member.keyStart, text: "" });
      removedFrom = -1;
      lastKept = member;
      this.#patchValue(member, patches);
    }
    const lastEnd = members.at(-1)?.valueEnd ?? this.#scanned.start + 1;
    if (removedFrom >= 0) patches.push({ start: removedFrom, end: lastEnd, text: "" });
    const added = this.#addedText(lastKept !== undefined);
    if (added !== "") patches.push({ start: lastEnd, end: lastEnd, text: added });
    return patches;
  }

  #isRemoved(name: string): boolean {
    if (!this.#edits.has(name) || this.#edits.get(name) !== undefined) return false;
    const nested = this.#nested.get(name);
    return nested === undefined || nested.#isUntouched();
  }

  #patchValue(member: Member, patches: Patch[]): void {
    const nested = this.#nested.get(member.name);
    if (nested !== undefined && nested.#scanned.bytes === this.#scanned.bytes) {
      patches.push(...nested.#patches());
      return;
    }
    if (nested === undefined && !this.#edits.has(member.name)) return;
    const text = this.text(member.name);
    if (text === undefined || this.#isSpelled(member, text)) return;
    patches.push({ start: member.valueStart, end: member.valueEnd, text });
  }

  /** Whether the member already stands there with this very text. */
  #isSpelled(member: Member, text: string): boolean {
    const length = member.valueEnd - member.valueStart;
    if (text.length > length || length > 3 * text.length) return false;
    return readText(this.#scanned, member) === text;
  }

  /** The members that the scanned object does not have, each behind a comma where one is due. */
  #addedText(hasOthers: boolean): string {
    let added = "";
    for (const name of new Set([...this.#edits.keys(), ...this.#nested.keys()])) {
      if (this.#scanned.member(name) !== undefined) continue;
      const text = this.text(name);
      if (text === undefined) continue;
      added += `${hasOthers || added !== "" ? "," : ""}${JSON.stringify(name)}:${text}`;
    }
    return added;
  }
}

function applyPatches(bytes: Buffer, start: number, end: number, patches: readonly Patch[]): Buffer {
  let length = end - start;
  for (const patch of patches) length += utf8Length(patch.text) - (patch.end - patch.start);
  const result = Buffer.allocUnsafe(length);
  let from = start;
  let to = 0;
  for (const patch of patches) {
    to += bytes.copy(result, to, from, patch.start);
    to += result.write(patch.text, to);
    from = patch.end;
  }
  bytes.copy(result, to, from, end);
  return result;
}

/** Bytes of a text in UTF-8; most edits are short plain names, for which a look costs less than asking the runtime. */
function utf8Length(text: string): number {
  if (text.length > 64) return Buffer.byteLength(text);
  for (let index = 0; index < text.length; index += 1)
    if (text.charCodeAt(index) > 0x7f) return Buffer.byteLength(text);
  return text.length;
}

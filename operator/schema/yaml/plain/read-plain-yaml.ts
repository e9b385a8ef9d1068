/**
 * Reads the plain YAML of nearly every manifest, some twenty times faster than a parser of the whole language.
 *
 * The general parser alone would take a minute for 100,000 keys. This reader knows a strict subset: one document,
 * printable ASCII, block maps and lists, flow maps and lists on one line, and strings that cannot be anything else. It
 * leaves everything else (anchors, tags, block texts, escapes, comments behind values, repeated names, doubtful
 * numbers, any fault) to the general parser, so that only one parser judges errors. Invariant, held by a property test:
 * the general parser reads the same value from every text that this one reads. Pure. Called by
 * `yaml/parse-document.ts`.
 *
 * A flow value that was read before is returned as the same frozen object: keys share their limits and restrictions,
 * and checks of a shared part need to run only once.
 */
import { ReadFlow, Unknown } from "./read-plain-flow.ts";

export interface PlainDocument {
  readonly object: { readonly [name: string]: unknown };
  /** Where the object begins, from 1. */
  readonly line: number;
}

/** Longer documents are not the usual key; and no text of them could be kept by mistake. */
const charactersMax = 64 * 1024;
const depthMax = 24;
const memberPattern = /^([A-Za-z_][A-Za-z0-9_./-]{0,126}):(?: +|$)/;

interface Line {
  indent: number;
  /** Without indentation and without trailing spaces. */
  text: string;
  readonly number: number;
}

/** @returns undefined for text outside of the subset: the general parser decides then. */
export function readPlainYaml(text: string): PlainDocument | undefined {
  if (text.length > charactersMax || /[^\n -~]/.test(text)) return undefined;
  const lines = linesOf(text);
  const [first] = lines;
  if (first === undefined) return undefined;
  const { number } = first;
  try {
    const reader = new BlockReader(lines);
    const object = reader.readDocument();
    return { object, line: number };
  } catch (error) {
    if (error instanceof Unknown) return undefined;
    throw error;
  }
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let number = 0;
  for (const given of text.split("\n")) {
    number += 1;
    const trimmed = given.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    if (lines.length === 0 && given === "---") continue;
    lines.push({ indent: given.length - given.trimStart().length, text: trimmed, number });
  }
  return lines;
}

/** Follows the indentation of a document's lines; its life is one document. */
class BlockReader {
  readonly #lines: Line[];
  readonly #flow = new ReadFlow();
  #at = 0;

  constructor(lines: Line[]) {
    this.#lines = lines;
  }

  /** @throws Unknown */
  readDocument(): { readonly [name: string]: unknown } {
    const [first] = this.#lines;
    if (first === undefined || first.indent !== 0) throw new Unknown();
    const object = this.#readMap(0, 0);
    if (this.#at < this.#lines.length) throw new Unknown();
    return object;
  }

  #readNode(indent: number, depth: number): unknown {
    if (depth > depthMax) throw new Unknown();
    return isItem(this.#lines[this.#at]) ? this.#readList(indent, depth) : this.#readMap(indent, depth);
  }

  #readMap(indent: number, depth: number): { [name: string]: unknown } {
    const object: { [name: string]: unknown } = {};
    for (let line = this.#lines[this.#at]; line?.indent === indent && !isItem(line); line = this.#lines[this.#at]) {
      const match = memberPattern.exec(line.text);
      const name = match?.[1];
      if (match === null || name === undefined || isDoubtfulName(name) || Object.hasOwn(object, name)) {
        throw new Unknown();
      }
      object[name] = this.#readValue(line.text.slice(match[0].length), indent, depth, true);
    }
    if (Object.keys(object).length === 0) throw new Unknown();
    return object;
  }

  #readList(indent: number, depth: number): unknown[] {
    const items: unknown[] = [];
    for (let line = this.#lines[this.#at]; line?.indent === indent && isItem(line); line = this.#lines[this.#at]) {
      const text = line.text.slice(1).trimStart();
      if (isItem({ text }) || memberPattern.test(text)) {
        // "- name: x" begins a map whose members are as deep as its first one.
        line.indent = indent + line.text.length - text.length;
        line.text = text;
        items.push(this.#readNode(line.indent, depth + 1));
      } else {
        items.push(this.#readValue(text, indent, depth, false));
      }
    }
    return items;
  }

  /** The value after a name or a dash, on its line or deeper below. */
  #readValue(text: string, indent: number, depth: number, mayHoldList: boolean): unknown {
    this.#at += 1;
    const next = this.#lines[this.#at];
    if (text === "") {
      if (next === undefined || next.indent < indent) throw new Unknown();
      if (next.indent === indent && !(mayHoldList && isItem(next))) throw new Unknown();
      return this.#readNode(next.indent, depth + 1);
    }
    // A deeper line would continue this value.
    if (next !== undefined && next.indent > indent) throw new Unknown();
    return this.#flow.read(text);
  }
}

function isItem(line: { readonly text: string } | undefined): boolean {
  return line !== undefined && (line.text === "-" || line.text.startsWith("- "));
}

/** Names that would be another type as values are left to the general parser, which knows them as names. */
export function isDoubtfulName(name: string): boolean {
  return name === "__proto__" || /^(?:y|n|yes|no|on|off|true|false|null)$/i.test(name);
}

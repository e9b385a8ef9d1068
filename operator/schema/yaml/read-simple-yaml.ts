/**
 * Reads the YAML that nearly every manifest is written in, some twenty times faster than the general parser.
 *
 * Of 100,000 keys the general parser alone takes a minute. `js-yaml` reads a document as events, and values come from
 * the same tags that the general parser asks (`readPlainValue`). Two parsers can differ where YAML is odd, so
 * everything odd is left to the general parser, which thereby stays the one judge of what is wrong: anchors, tags,
 * directives, tabs, characters beyond ASCII, names that kubectl reads otherwise, repeated names, great depth, several
 * documents, any fault. Invariant, held by property tests: what this file reads, the general parser reads alike. Pure.
 *
 * A flow value that was seen before is the same frozen object again: keys share their limits and restrictions, and
 * what was found about one part holds for all.
 */
import { COLLECTION_STYLE, EVENT_ID, type Event, getScalarValue, parseEvents, SCALAR_STYLE } from "js-yaml";
import { manifestLimits } from "#operator/schema/parse-manifest";
import { otherReadingOf, readPlainValue } from "./kubectl-yaml.ts";
import { findExcessiveDepth } from "./scan-depth.ts";
import { copyOf, SharedTexts } from "./shared-texts.ts";

export interface SimpleDocument {
  readonly object: { readonly [name: string]: unknown };
  /** Where the object begins, from 1. */
  readonly line: number;
}

/** Longer documents are not the usual key; and no text of them could be kept by mistake. */
const charactersMax = 64 * 1024;
/** Far less than a manifest may have, so that nothing depends on how each parser counts. */
const depthMax = 24;
/** The general parser refuses names of more than 1,024 characters, and so much fewer are beyond doubt. */
const nameLengthMax = 127;
const sharedLengthMax = 512;

type ScalarEvent = Extract<Event, { type: typeof EVENT_ID.SCALAR }>;
type CollectionEvent = Extract<Event, { type: typeof EVENT_ID.SEQUENCE | typeof EVENT_ID.MAPPING }>;

/** Thrown for what only the general parser may judge. */
class NotSimple extends Error {
  constructor() {
    super("not simple");
    // Thrown often and never shown.
    this.stack = "";
  }
}

/** @returns undefined for whatever is not simple for certain: the general parser decides then. Never throws. */
export function readSimpleYaml(text: string): SimpleDocument | undefined {
  if (text.length > charactersMax || notSimple.test(text)) return undefined;
  // The general parser is not asked about such a text, even where its brackets stand in quotes.
  if (findExcessiveDepth(text, manifestLimits.scannedDepthMax) !== undefined) return undefined;
  try {
    return new DocumentReader(text, parseEvents(text, { maxDepth: depthMax })).read();
  } catch {
    return undefined;
  }
}

/** Makes an object of the events of one document; its life is that document. */
class DocumentReader {
  readonly #text: string;
  readonly #events: readonly Event[];
  #at = 0;
  #flowDepth = 0;
  /** Where the value that was read last ends in the text. */
  #end = 0;

  constructor(text: string, events: readonly Event[]) {
    this.#text = text;
    this.#events = events;
  }

  /** @throws NotSimple */
  read(): SimpleDocument {
    const document = this.#next();
    if (document.type !== EVENT_ID.DOCUMENT || document.directives.length > 0) throw new NotSimple();
    const root = this.#next();
    if (root.type !== EVENT_ID.MAPPING || this.#columnOf(root.start) !== 0) throw new NotSimple();
    if (root.style === COLLECTION_STYLE.FLOW) this.#flowDepth = 1;
    const object = this.#readMap(root);
    if (root.style === COLLECTION_STYLE.FLOW) this.#readFlowEnd(root);
    // The end of the document is the last event: there is no second one.
    if (this.#next().type !== EVENT_ID.POP || this.#at !== this.#events.length) throw new NotSimple();
    return { object, line: this.#text.slice(0, root.start).split("\n").length };
  }

  #columnOf(start: number): number {
    return start - this.#text.lastIndexOf("\n", start - 1) - 1;
  }

  #next(): Event {
    const { [this.#at]: event } = this.#events;
    if (event === undefined) throw new NotSimple();
    this.#at += 1;
    return event;
  }

  #readValue(event: Event): unknown {
    if (event.type === EVENT_ID.SCALAR) return this.#readScalar(event);
    if (event.type !== EVENT_ID.SEQUENCE && event.type !== EVENT_ID.MAPPING) throw new NotSimple();
    if (event.style !== COLLECTION_STYLE.FLOW) return this.#readCollection(event);
    if (this.#flowDepth === 0) this.#refuseLineStart(event.start);
    this.#flowDepth += 1;
    const value = Object.freeze(this.#readCollection(event));
    this.#flowDepth -= 1;
    const text = this.#readFlowEnd(event);
    return this.#flowDepth === 0 ? share(text, value) : value;
  }

  /** @returns the text of the whole flow value; the events do not say where it ends */
  #readFlowEnd({ start }: CollectionEvent): string {
    closingBracket.lastIndex = this.#end;
    if (!closingBracket.test(this.#text)) throw new NotSimple();
    this.#end = closingBracket.lastIndex;
    const text = this.#text.slice(start, this.#end);
    // The parsers differ about comments between brackets.
    if (text.includes("\n") && text.includes("#")) throw new NotSimple();
    if (this.#flowDepth === 0) this.#requireEndOfLine();
    return text;
  }

  #readCollection(event: CollectionEvent): object {
    this.#end = event.start + 1;
    return event.type === EVENT_ID.MAPPING ? this.#readMap(event) : this.#readList(event);
  }

  #readMap(event: CollectionEvent): { readonly [name: string]: unknown } {
    refuseProperties(event);
    const object: { [name: string]: unknown } = {};
    for (let key = this.#next(); key.type !== EVENT_ID.POP; key = this.#next()) {
      const name = this.#readName(key);
      if (Object.hasOwn(object, name)) throw new NotSimple();
      object[name] = this.#readValue(this.#next());
    }
    return object;
  }

  #readName(event: Event): string {
    // Of one line and without escapes.
    if (event.type !== EVENT_ID.SCALAR || !event.fast) throw new NotSimple();
    refuseProperties(event);
    const name = this.#text.slice(event.valueStart, event.valueEnd);
    this.#end = event.valueEnd + (isQuoted(event) ? 1 : 0);
    if (name.length > nameLengthMax || name === "__proto__" || name === "<<") throw new NotSimple();
    if (event.style === SCALAR_STYLE.PLAIN && otherReadingOf(name) !== undefined) throw new NotSimple();
    return name;
  }

  #readList(event: CollectionEvent): readonly unknown[] {
    refuseProperties(event);
    const items: unknown[] = [];
    for (let item = this.#next(); item.type !== EVENT_ID.POP; item = this.#next()) items.push(this.#readValue(item));
    return items;
  }

  #readScalar(event: ScalarEvent): unknown {
    refuseProperties(event);
    const text = getScalarValue(this.#text, event);
    if (isDoubtfulText(event, text, this.#text)) throw new NotSimple();
    const isEmpty = event.valueEnd < 0;
    if (!isEmpty) this.#end = event.valueEnd + (isQuoted(event) ? 1 : 0);
    if (!isEmpty && !isBlockText(event) && this.#flowDepth === 0) {
      this.#refuseLineStart(event.valueStart - (isQuoted(event) ? 1 : 0));
      this.#requireEndOfLine();
    }
    if (event.style !== SCALAR_STYLE.PLAIN) return copyOf(text);
    const value = readPlainValue(text);
    if (typeof value === "number" && !Number.isFinite(value)) throw new NotSimple();
    return value === text ? copyOf(text) : value;
  }

  /** After a comment the general parser reads on too far where a value begins a line of its own. */
  #refuseLineStart(start: number): void {
    let at = start - 1;
    while (this.#text[at] === " ") at -= 1;
    if (this.#text[at] === "\n") throw new NotSimple();
  }

  /** `js-yaml` takes what stands behind a value on its line for the next member. */
  #requireEndOfLine(): void {
    endOfLine.lastIndex = this.#end;
    if (!endOfLine.test(this.#text)) throw new NotSimple();
  }
}

/**
 * Characters of which the parsers may think differently; an indented first line, which `js-yaml` does not count;
 * directives, of which it passes over unknown ones; markers of documents, but for one at the beginning.
 */
const notSimple = /[^\n -~]|^ |(?:^|\n)(?:%|\.\.\.)|\n---/;
/** Names without a value, empty values and commas may stand before it. */
const closingBracket = /[ \n,:]*[\]}]/y;
const statedIndentation = /[|>][-+]?\d/;
const usualEscapes = /^(?:[^\\]|\\[\\"/nrt])*$/;
const endOfLine = / *(?: #[^\n]*)?(?:\n|$)/y;

function isQuoted({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;
}

function isBlockText({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK;
}

/**
 * Where the parsers differ: about spaces of a block text that has nothing else, has no last line end or says its
 * indentation, and about rarer escapes. Escapes beyond Latin-1 are not for `copyOf` either.
 */
function isDoubtfulText(event: ScalarEvent, value: string, text: string): boolean {
  const { style, fast, valueStart, valueEnd } = event;
  if (isBlockText(event)) {
    const header = text.slice(text.lastIndexOf("\n", valueStart - 2) + 1, valueStart);
    return value.trim() === "" || text[valueEnd - 1] !== "\n" || statedIndentation.test(header);
  }
  return style === SCALAR_STYLE.DOUBLE_QUOTED && !fast && !usualEscapes.test(text.slice(valueStart, valueEnd));
}

/** @throws NotSimple where an anchor or a tag stands before a value */
function refuseProperties({ anchorStart, tagStart }: CollectionEvent | ScalarEvent): void {
  if (anchorStart >= 0 || tagStart >= 0) throw new NotSimple();
}

const shared = new SharedTexts<object>();

function share(text: string, value: object): object {
  if (text.length > sharedLengthMax) return value;
  const known = shared.find(text);
  if (known === undefined) shared.keep(text, value);
  return known ?? value;
}

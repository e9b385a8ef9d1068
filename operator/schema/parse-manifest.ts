/**
 * Parses the text of a manifest into plain objects that remember the place of each field.
 *
 * It reads the same text as `kubectl apply -f`: YAML with several documents, JSON, `kind: List`. YAML is read as
 * Kubernetes' tools read it (version 1.1: an unquoted `yes` is a boolean), but times stay strings, and a name that
 * those tools would read as another one (`on` without quotes) is refused. Everything is bounded: the size, the number
 * of documents, the depth, and the expansion of aliases. Duplicate members are refused.
 *
 * A document that cannot be parsed does not affect the others, except when a syntax error hides where the next one
 * begins. Pure. Called by `parse-document.ts`.
 */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  LineCounter,
  parseAllDocuments,
  type YAMLMap,
} from "yaml";
import { isJsonObject } from "./check-structure.ts";
import { type FieldPath, makeProblem, type Problem } from "./problem.ts";
import { kubectlOptions, otherReadingOf } from "./yaml/kubectl-yaml.ts";
import { findExcessiveDepth } from "./yaml/scan-depth.ts";

/** A place in a file; both numbers begin at 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface ManifestDocument {
  /** Plain JSON values, not validated. */
  readonly object: unknown;
  /** Where the object begins. */
  readonly line: number;
  /**
   * Finds the place of a field: of its name where it has one, of the nearest parent that exists otherwise.
   *
   * Holds the parsed file in memory; let it go when the positions are no longer needed.
   */
  locate(path: FieldPath): Position;
}

/** A problem of the file itself, found before any object is known. */
export interface ManifestProblem extends Problem {
  readonly position: Position;
}

export interface Manifest {
  readonly documents: readonly ManifestDocument[];
  readonly problems: readonly ManifestProblem[];
}

/** Bounds of one text: enough for whatever an API server stores, too little to hold up everything else. */
export const manifestLimits = {
  /** The parser needs a second or two for this much, and nothing else runs meanwhile. */
  bytesMax: 1.5 * 1024 * 1024,
  documentsMax: 20_000,
  depthMax: 64,
  /** Nesting of the raw text, beyond which no parser sees it. */
  scannedDepthMax: 200,
  /** Aliases may expand to this many nodes in a document. */
  aliasesMax: 100,
  /** Syntax errors reported for one document; the later ones mostly follow from the first. */
  errorsMax: 3,
} as const;

/** A line of YAML, or a member of JSON, as only a List has it. */
const listMark = /^kind:[ \t]+["']?List["']?[ \t\r]*$|"kind":\s*"List"/m;

/** @param text of one document, or of several in a row */
export function parseManifest(text: string): Manifest {
  const refuse = (message: string, position: Position = { line: 1, column: 1 }): Manifest => {
    return { documents: [], problems: [{ ...makeProblem([], "syntax", message), position }] };
  };
  // A List holds many objects; its reader bounds the file.
  if (Buffer.byteLength(text) > manifestLimits.bytesMax && !listMark.test(text)) {
    const most = `${manifestLimits.bytesMax / 1024 ** 2} MiB`;
    return refuse(`the document is larger than ${most}, more than an API server stores of one object: split it`);
  }
  const tooDeep = findExcessiveDepth(text, manifestLimits.scannedDepthMax);
  if (tooDeep !== undefined) {
    return refuse(`nested deeper than ${manifestLimits.depthMax} levels`, tooDeep);
  }
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, {
    ...kubectlOptions,
    lineCounter: lines,
    // Checked below: the parser compares each name with every other one, which takes minutes for a large map.
    uniqueKeys: false,
    // Names that kubectl reads as other ones are refused below.
    stringKeys: true,
    prettyErrors: false,
    keepSourceTokens: false,
    logLevel: "silent",
  });
  if (!Array.isArray(parsed)) return { documents: [], problems: [] };
  if (parsed.length > manifestLimits.documentsMax) {
    return refuse(`more than ${manifestLimits.documentsMax} documents: split the file`);
  }
  const documents: ManifestDocument[] = [];
  const problems: ManifestProblem[] = [];
  for (const document of parsed) readDocument(document, lines, documents, problems);
  return { documents, problems };
}

function readDocument(
  document: Document.Parsed,
  lines: LineCounter,
  documents: ManifestDocument[],
  problems: ManifestProblem[],
): void {
  const report = (message: string, position: Position): void => {
    problems.push({ ...makeProblem([], "syntax", message), position });
  };
  const errors = [...document.errors, ...document.warnings];
  for (const error of errors.slice(0, manifestLimits.errorsMax))
    report(describeError(error.message), positionAt(lines, error.pos[0]));
  if (errors.length > 0 || document.contents === null) return;
  const start = positionAt(lines, document.contents.range?.[0] ?? 0);
  const { problem, hasAliases } = inspectShape(document);
  if (problem !== undefined) {
    report(problem.message, positionAt(lines, problem.offset));
    return;
  }
  let object: unknown;
  try {
    object = document.toJS({ maxAliasCount: manifestLimits.aliasesMax });
    // Throws where an anchor contains itself.
    if (hasAliases) JSON.stringify(object);
  } catch (error) {
    report(describeConversionError(error), start);
    return;
  }
  // A document of comments only.
  if (object === null) return;
  if (isJsonObject(object) && object["kind"] === "List" && object["apiVersion"] === "v1") {
    readList(object["items"], document, lines, start, documents, report);
  } else {
    documents.push({ object, line: start.line, locate: (path) => locate(document, lines, path, start) });
  }
}

function readList(
  items: unknown,
  document: Document.Parsed,
  lines: LineCounter,
  start: Position,
  documents: ManifestDocument[],
  report: (message: string, position: Position) => void,
): void {
  if (!Array.isArray(items)) {
    report("a List needs items: give a list of objects", start);
    return;
  }
  for (const [index, object] of items.entries()) {
    const prefix = ["items", index];
    const { line } = locate(document, lines, prefix, start);
    documents.push({ object, line, locate: (path) => locate(document, lines, [...prefix, ...path], start) });
  }
}

/** Follows a path through the parsed text as far as it goes. */
function locate(document: Document.Parsed, lines: LineCounter, path: FieldPath, start: Position): Position {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const step of path) {
    if (!isCollection(node)) break;
    if (isMap(node)) {
      const pair = node.items.find(
        (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(step),
      );
      if (pair === undefined) break;
      offset = offsetOf(pair.key) ?? offset;
      node = pair.value;
    } else {
      const item: unknown = typeof step === "number" ? node.items[step] : undefined;
      if (item === undefined) break;
      offset = offsetOf(item) ?? offset;
      node = item;
    }
  }
  return offset === undefined ? start : positionAt(lines, offset);
}

function offsetOf(node: unknown): number | undefined {
  return isCollection(node) || isScalar(node) ? node.range?.[0] : undefined;
}

interface Shape {
  readonly hasAliases: boolean;
  readonly problem?: { readonly message: string; readonly offset: number };
}

/** Finds forms that YAML allows and that manifests must not have: duplicate names, infinity and great depth. */
function inspectShape(document: Document.Parsed): Shape {
  let hasAliases = false;
  const pending: { readonly node: unknown; readonly depth: number }[] = [{ node: document.contents, depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, depth } = next;
    const offset = offsetOf(node) ?? 0;
    const fault = (message: string): Shape => ({ hasAliases, problem: { message, offset } });
    if (isAlias(node)) hasAliases = true;
    if (isScalar(node) && typeof node.value === "number" && !Number.isFinite(node.value)) {
      return fault("infinity and not-a-number are not JSON values: quote the text");
    }
    if (!isCollection(node)) continue;
    if (depth >= manifestLimits.depthMax) return fault(`nested deeper than ${manifestLimits.depthMax} levels`);
    const repeated = isMap(node) ? findRepeatedName(node) : undefined;
    if (repeated !== undefined) {
      const message = "duplicate member: each name may occur once in an object";
      return { hasAliases, problem: { message, offset: offsetOf(repeated) ?? offset } };
    }
    const misread = isMap(node) ? findMisreadName(node) : undefined;
    if (misread !== undefined) return { hasAliases, problem: misread };
    for (const item of node.items) {
      pending.push({ node: isPair(item) ? item.value : item, depth: depth + 1 });
    }
  }
  return { hasAliases };
}

function findRepeatedName(map: YAMLMap): unknown {
  const seen = new Set<unknown>();
  for (const { key } of map.items) {
    const name = isScalar(key) ? key.value : key;
    if (seen.has(name)) return key;
    seen.add(name);
  }
  return undefined;
}

/** A name without quotes that kubectl reads as another one. */
function findMisreadName(map: YAMLMap): Shape["problem"] {
  for (const { key } of map.items) {
    if (!isScalar(key) || key.type !== "PLAIN") continue;
    const name = String(key.value);
    const reading = otherReadingOf(name);
    if (reading !== undefined) {
      const message = `kubectl reads the name ${name || "(empty)"} without quotes as ${reading}: write "${name}"`;
      return { message, offset: offsetOf(key) ?? 0 };
    }
  }
  return undefined;
}

function describeConversionError(error: unknown): string {
  if (!(error instanceof Error)) return "cannot be read as an object";
  if (error instanceof ReferenceError) {
    const isUnknown = error.message.startsWith("Unresolved alias");
    return isUnknown ? "an alias names no anchor above it" : "aliases expand to too much: write the values out";
  }
  if (error instanceof TypeError) return "an anchor contains itself: write the values out";
  return error.message;
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function describeError(message: string): string {
  return message.startsWith("With stringKeys") ? "names of members must be plain text" : message;
}

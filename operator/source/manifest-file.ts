/**
 * The text of a manifest file as objects, parsed document by document.
 *
 * Documents are told apart before they are parsed, and those whose text did not change keep what was parsed before:
 * one key edited in a file of many costs one document.
 */
import { hash } from "node:crypto";
import { isMap, isNode, LineCounter, parseAllDocuments } from "yaml";

/** One object as it stands in a file, not validated yet. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** The whole document. Its member names are the manifest's. */
  readonly value: { readonly [member: string]: unknown };
  /** Lines below the first of its document. */
  readonly lineOffset: number;
  /** Line offset of a field, or of the nearest member above it that is there. */
  lineOffsetOf(path: readonly (string | number)[]): number;
}

export interface DocumentProblem {
  readonly lineOffset: number;
  readonly field?: string;
  readonly message: string;
}

export interface ParsedDocument {
  readonly objects: readonly ManifestObject[];
  readonly problems: readonly DocumentProblem[];
}

/** A document's place and content. */
export interface DocumentText {
  /** Line of the file, from 1. */
  readonly line: number;
  readonly text: string;
  readonly digest: string;
}

/** Namespace of an object that names none, as `kubectl apply` would take it. */
const defaultNamespace = "default";

/**
 * Splits a file at its document markers. A line of `---` ends a document wherever it stands (YAML 1.2, section 9.1.2:
 * not even a block scalar may hold one), so no parser is needed for this.
 */
export function splitDocuments(text: string): DocumentText[] {
  const documents: DocumentText[] = [];
  let line = 1;
  for (const part of text.split(/^(?=---(?:[ \t\r\n]|$))/m)) {
    if (part.trim() !== "" && part.trim() !== "---") documents.push({ line, text: part, digest: hash("sha256", part) });
    line += part.split("\n").length - 1;
  }
  return documents;
}

/** Parses one document; never throws. */
export function parseDocument(text: string): ParsedDocument {
  const objects: ManifestObject[] = [];
  const problems: DocumentProblem[] = [];
  const lines = new LineCounter();
  const lineAt = (offset: number) => Math.max(0, lines.linePos(offset).line - 1);
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  for (const document of Array.isArray(documents) ? documents : []) {
    const [error] = document.errors;
    if (error) {
      problems.push({ lineOffset: lineAt(error.pos[0]), message: `The YAML is broken: ${firstLine(error.message)}` });
      continue;
    }
    if (document.contents === null || !isMap(document.contents)) {
      if (document.contents !== null)
        problems.push({ lineOffset: 0, message: "A manifest is a map with apiVersion and kind." });
      continue;
    }
    const lineOffsetOf = (path: readonly (string | number)[]): number => {
      for (let length = path.length; length >= 0; length -= 1) {
        const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
        if (isNode(node) && node.range) return lineAt(node.range[0]);
      }
      return 0;
    };
    try {
      readObject(document.toJS({ maxAliasCount: 100 }), [], lineOffsetOf, objects, problems);
    } catch (cause) {
      // Aliases that multiply into more than a manifest can mean.
      problems.push({ lineOffset: 0, message: `The YAML cannot be read: ${firstLine(String(cause))}` });
    }
  }
  return { objects, problems };
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

function readObject(
  value: unknown,
  path: readonly (string | number)[],
  lineOffsetOf: (path: readonly (string | number)[]) => number,
  objects: ManifestObject[],
  problems: DocumentProblem[],
): void {
  const lineOffset = lineOffsetOf(path);
  if (!isRecord(value)) {
    problems.push({ lineOffset, message: "A manifest is a map with apiVersion and kind." });
    return;
  }
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== "string" || typeof kind !== "string") {
    problems.push({ lineOffset, message: "apiVersion and kind are required; add them." });
    return;
  }
  if (kind === "List" && Array.isArray(value["items"])) {
    for (const [index, item] of value["items"].entries()) {
      readObject(item, [...path, "items", index], lineOffsetOf, objects, problems);
    }
    return;
  }
  const name = isRecord(metadata) ? metadata["name"] : undefined;
  const namespace = isRecord(metadata) ? (metadata["namespace"] ?? defaultNamespace) : undefined;
  if (typeof name !== "string" || typeof namespace !== "string" || !isObjectName(name) || !isObjectName(namespace)) {
    const message = `metadata.name${namespace === undefined ? "" : " and namespace"} must be lower-case letters, digits, - and dots; correct them.`;
    problems.push({ lineOffset: lineOffsetOf([...path, "metadata"]), field: "metadata.name", message });
    return;
  }
  objects.push({
    apiVersion,
    kind,
    namespace: kind === "Namespace" ? "" : namespace,
    name,
    value,
    lineOffset,
    lineOffsetOf: (inner) => lineOffsetOf([...path, ...inner]),
  });
}

function isObjectName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name);
}

export function isRecord(value: unknown): value is { readonly [member: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

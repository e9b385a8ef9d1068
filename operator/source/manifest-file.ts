/**
 * Parses the text of a manifest file into objects, document by document.
 *
 * A file is split into documents before parsing, and a document whose text did not change keeps its parsed value:
 * editing one key in a file of many costs one document.
 */
import { hash } from "node:crypto";
import type { AnyResource, OwnKind, ResourceChange } from "#operator/resources/resource";
import type { ManifestDocument } from "#operator/schema/parse-manifest";
import { checkIdentity, foreignKind, identifyDocument } from "#operator/schema/validate-resource";
import { parseDocumentText } from "#operator/schema/yaml/parse-document";

/** One object of a file, not validated yet. */
export interface ManifestObject {
  readonly identity: ResourceChange;
  /** Lines below the first of its document. */
  readonly lineOffset: number;
  /** The parsed text. It is released once a resource was made from it, or 100,000 parsed files would stay in memory. */
  document: ManifestDocument | undefined;
  /** The resource made from the document, kept for the time when the document is the object's source again. */
  resource: AnyResource | undefined;
  /** The object is known from an earlier version of a file that is broken now. */
  readonly isUnseen: boolean;
}

export interface DocumentProblem {
  readonly lineOffset: number;
  readonly field?: string;
  readonly message: string;
}

export interface ParsedDocument {
  readonly objects: readonly ManifestObject[];
  readonly problems: readonly DocumentProblem[];
  /** Some object of the document cannot be identified: the document may hold objects that cannot be seen. */
  readonly isBroken: boolean;
}

/** A document's place and content. */
export interface DocumentText {
  /** Line of the file, from 1. */
  readonly line: number;
  readonly text: string;
  readonly digest: string;
}

/**
 * Splits a file at its document markers. A line of `---` ends a document wherever it is (YAML 1.2, section 9.1.2:
 * not even a block scalar may hold one), so no parser is needed for this.
 */
export function splitDocuments(text: string): DocumentText[] {
  const documents: DocumentText[] = [];
  let line = 1;
  for (const part of text.replace(/^\uFEFF/, "").split(/^(?=---(?:[ \t\r\n]|$))/m)) {
    const content = part.trim();
    if (content !== "" && content !== "---")
      documents.push({ line, text: part, digest: hash("sha256", part, "base64url") });
    line += part.split("\n").length - 1;
  }
  return documents;
}

/** Parses one document; never throws. Kinds of others are not our business and yield nothing. */
export function parseDocument(text: string): ParsedDocument {
  const { documents, problems: broken } = parseDocumentText(text);
  const problems: DocumentProblem[] = broken.map(({ field, message, position }) => ({
    lineOffset: position.line - 1,
    message: `The file is broken here: ${message}.`,
    ...(field !== "" && { field }),
  }));
  const objects: ManifestObject[] = [];
  let isBroken = broken.length > 0;
  for (const document of documents) {
    if (foreignKind(document.object) !== undefined) continue;
    const lineOffset = document.line - 1;
    const identity = identifyDocument(document.object);
    const group = groupOf(document.object);
    if (identity === undefined || group === undefined) {
      isBroken = true;
      problems.push({
        lineOffset,
        message: "A manifest needs apiVersion, kind and metadata.name; add what is missing.",
      });
      continue;
    }
    const kind = kindOf(group, identity.kind);
    if (kind === undefined) {
      const message = `This version has no kind ${group} ${identity.kind}; correct apiVersion or kind.`;
      problems.push({ lineOffset, field: "kind", message });
      continue;
    }
    const misnamed = checkIdentity(document.object);
    for (const { path, field, message } of misnamed)
      problems.push({ lineOffset: document.locate(path).line - 1, field, message: `${message}.` });
    // The object is not created, and it hides no other: the text is complete.
    if (misnamed.length === 0)
      objects.push({ identity: { ...identity, kind }, lineOffset, document, resource: undefined, isUnseen: false });
  }
  // Copies take no more room than they need; most documents have no problems and share one empty list.
  return { objects: [...objects], problems: problems.length === 0 ? noProblems : problems, isBroken };
}

const noProblems: readonly DocumentProblem[] = [];

function groupOf(object: unknown): string | undefined {
  if (typeof object !== "object" || object === null || !("apiVersion" in object)) return undefined;
  return typeof object.apiVersion === "string" ? object.apiVersion : undefined;
}

const ownKinds: ReadonlySet<string> = new Set<OwnKind>(["ApiKey", "Channel", "ModelRoute", "Account"]);

function kindOf(group: string | undefined, kind: string): AnyResource["kind"] | undefined {
  if (group === "v1" && (kind === "Secret" || kind === "ConfigMap" || kind === "Namespace")) return kind;
  return group === "tollgate.dev/v1alpha1" && isOwnKind(kind) ? kind : undefined;
}

function isOwnKind(kind: string): kind is OwnKind {
  return ownKinds.has(kind);
}

/**
 * Combines all files of a folder: decides which document defines an object, and keeps the object's last good version.
 *
 * When several documents define the same object, the first by path and then by line counts, and the others are
 * reported. An invalid document or an unreadable file removes nothing but keys: a key is denied, which is its safe
 * side, and every other object keeps its last good version.
 */
import { isDeepStrictEqual } from "node:util";
import { MutableResourceSet } from "#operator/resources/mutable-resource-set";
import type { AnyResource, Origin, ResourceChange, ResourceSet, SourceProblem } from "#operator/resources/resource";
import type { DocumentText, ManifestObject, ParsedDocument } from "./manifest-file.ts";
import { readResource, refusedResource } from "./read-resource.ts";

/** A parsed document at its place in a file. */
export interface PlacedDocument {
  readonly place: Pick<DocumentText, "line" | "digest">;
  readonly parsed: ParsedDocument;
}

/** The content of a file, as it is put into the store. */
export interface FileContent {
  readonly file: string;
  /** Files of lower rank take precedence, whatever their paths. */
  readonly rank: number;
  readonly documents: readonly PlacedDocument[];
  /** Why the file as a whole could not be read. */
  readonly failure?: string;
}

interface Claim {
  readonly file: string;
  readonly rank: number;
  readonly line: number;
  readonly documentLine: number;
  readonly object: ManifestObject;
  /** Identifies the content. */
  readonly digest: string;
}

interface Held {
  readonly identity: ResourceChange;
  claims: readonly Claim[];
  /** Content the present resource was made from. */
  digest?: string;
  generation: number;
  /** Problems of the content, with lines counted from the document's first. */
  problems: readonly (Omit<SourceProblem, "origin"> & { readonly lineOffset: number })[];
}

const none: readonly never[] = [];

export class ManifestStore {
  readonly #resources = new MutableResourceSet();
  readonly #held = new Map<string, Held>();
  readonly #files = new Map<string, FileContent>();
  readonly #fileProblems = new Map<string, readonly SourceProblem[]>();
  /** Objects with problems, so that a pass need not check all objects. */
  readonly #troubled = new Set<string>();
  /** Generations of deleted objects: a recreated object goes on counting. */
  readonly #generations = new Map<string, number>();

  get resources(): ResourceSet {
    return this.#resources;
  }

  /** The file's content as last put, with the objects that a broken version hides. */
  file(path: string): FileContent | undefined {
    return this.#files.get(path);
  }

  /** Puts a file's present content; undefined: the file is gone. @returns the objects to reconcile */
  put(path: string, given: FileContent | undefined): ResourceChange[] {
    const before = this.#files.get(path);
    const content = given && before && isBroken(given) ? withUnseen(given, before) : given;
    const claims = content ? claimsOf(content) : new Map<string, Claim[]>();
    const touched = new Set([...(before ? claimsOf(before).keys() : []), ...claims.keys()]);
    for (const key of touched) this.#replaceClaims(key, path, claims.get(key) ?? []);
    if (content) this.#files.set(path, content);
    else this.#files.delete(path);
    this.#noteFileProblems(path, content);
    const changes: ResourceChange[] = [];
    for (const key of touched) {
      const held = this.#held.get(key);
      if (held && this.#resolve(key, held)) changes.push(held.identity);
    }
    this.#collectProblems();
    return changes;
  }

  #replaceClaims(key: string, file: string, claims: readonly Claim[]): void {
    let held = this.#held.get(key);
    if (!held) {
      const [first] = claims;
      if (!first) return;
      held = {
        identity: first.object.identity,
        claims: [],
        generation: this.#generations.get(key) ?? 0,
        problems: none,
      };
      this.#held.set(key, held);
    }
    held.claims = [...held.claims.filter((claim) => claim.file !== file), ...claims].sort(compareClaims);
  }

  /** Updates one object from the document that defines it. @returns whether it changed */
  #resolve(key: string, held: Held): boolean {
    const [claim, ...others] = held.claims;
    if (!claim) {
      this.#held.delete(key);
      this.#generations.set(key, held.generation);
      this.#troubled.delete(key);
      return this.#resources.delete(held.identity);
    }
    const before = this.#resources.get(held.identity);
    const origin: Origin = { file: claim.file, line: claim.line };
    const isChanged =
      held.digest === claim.digest ? this.#move(before, origin) : this.#read(held, claim, before, origin);
    held.digest = claim.digest;
    if (held.problems.length > 0 || others.length > 0) this.#troubled.add(key);
    else this.#troubled.delete(key);
    return isChanged;
  }

  /** The same content at another place is no change. */
  #move(before: AnyResource | undefined, origin: Origin): boolean {
    if (before) this.#resources.set({ ...before, origin });
    return false;
  }

  #read(held: Held, claim: Claim, before: AnyResource | undefined, origin: Origin): boolean {
    const { object } = claim;
    if (object.resource) {
      held.problems = none;
      return this.#accept(held, { ...object.resource, origin }, before);
    }
    if (object.isUnseen || !object.document) {
      // The last good version stays in force; a key is denied, because its new text is unknown.
      if (held.identity.kind !== "ApiKey") return this.#move(before, origin);
      return this.#refuse(
        held,
        before,
        origin,
        "The file that defines it is broken; see the problem reported for that file.",
      );
    }
    const read = readResource(object.document.object, held.generation + 1, origin, before);
    if ("resource" in read) {
      held.problems = none;
      object.document = undefined;
      const isChanged = this.#accept(held, read.resource, before);
      object.resource = this.#resources.get(held.identity);
      return isChanged;
    }
    const { document } = object;
    held.problems = read.problems.map(({ path, field, message }) => {
      return { field, message, lineOffset: document.locate(path).line - 1 };
    });
    const why = read.problems.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`));
    return this.#refuse(held, before, origin, `${why.join("; ")}.`);
  }

  #accept(held: Held, resource: AnyResource, before: AnyResource | undefined): boolean {
    const isSpecSame =
      before !== undefined && "spec" in before && "spec" in resource && isDeepStrictEqual(before.spec, resource.spec);
    if (!isSpecSame) held.generation += 1;
    const { generation } = held;
    this.#resources.set({ ...resource, metadata: { ...resource.metadata, generation } });
    const isSame = before !== undefined && isDeepStrictEqual(before.metadata.labels, resource.metadata.labels);
    if (!isSame || ("invalid" in before && before.invalid !== undefined)) return true;
    if ("data" in before && "data" in resource) {
      if (before.metadata.owner?.name !== resource.metadata.owner?.name) return true;
      return !before.data.equals(resource.data);
    }
    return !isSpecSame && before.kind !== "Namespace";
  }

  /** Keeps the last good version, except of keys: they are denied. */
  #refuse(held: Held, before: AnyResource | undefined, origin: Origin, why: string): boolean {
    const { kind, namespace, name } = held.identity;
    const metadata = { namespace, name, labels: before?.metadata.labels ?? {}, generation: held.generation + 1 };
    const refused = refusedResource(kind, metadata, origin, why, before);
    if (!refused) return false;
    held.generation += 1;
    this.#resources.set(refused);
    return true;
  }

  #noteFileProblems(file: string, content: FileContent | undefined): void {
    const problems: SourceProblem[] = [];
    if (content?.failure !== undefined) problems.push({ origin: { file, line: 1 }, message: content.failure });
    for (const { place, parsed } of content?.documents ?? []) {
      for (const { lineOffset, ...problem } of parsed.problems) {
        problems.push({ ...problem, origin: { file, line: place.line + lineOffset } });
      }
    }
    if (problems.length > 0) this.#fileProblems.set(file, problems);
    else this.#fileProblems.delete(file);
  }

  #collectProblems(): void {
    const problems = [...this.#fileProblems.values()].flat();
    for (const key of this.#troubled) {
      const held = this.#held.get(key);
      if (held) problems.push(...problemsOf(held));
    }
    this.#resources.problems = problems.sort(compareProblems);
  }
}

function problemsOf({ identity, claims, problems }: Held): SourceProblem[] {
  const [claim, ...others] = claims;
  if (!claim) return [];
  const { kind, namespace, name } = identity;
  const first = `${claim.file}:${claim.line}`;
  return [
    ...problems.map(({ lineOffset, ...problem }) => {
      return { ...problem, origin: { file: claim.file, line: claim.documentLine + lineOffset } };
    }),
    ...others.map(({ file, line }): SourceProblem => {
      return {
        origin: { file, line },
        message: `${kind} ${namespace}/${name} is already defined at ${first}; remove one.`,
      };
    }),
  ];
}

function isBroken({ documents, failure }: FileContent): boolean {
  return failure !== undefined || documents.some(({ parsed }) => parsed.isBroken);
}

/** Keeps the objects that a broken file no longer shows, so that a later good version can remove them. */
function withUnseen(content: FileContent, before: FileContent): FileContent {
  const seen = new Set(claimsOf(content).keys());
  const unseen = before.documents.flatMap(({ place, parsed }): PlacedDocument[] => {
    const objects = parsed.objects.flatMap((object): ManifestObject[] =>
      seen.has(keyOf(object.identity)) ? [] : [{ ...object, document: undefined, resource: undefined, isUnseen: true }],
    );
    // Another digest than the text's own: when the text comes back it must be parsed anew.
    const hidden = { line: place.line, digest: `${place.digest}/unseen` };
    return objects.length > 0 ? [{ place: hidden, parsed: { objects, problems: [], isBroken: false } }] : [];
  });
  return { ...content, documents: [...content.documents, ...unseen] };
}

function claimsOf({ file, rank, documents }: FileContent): Map<string, Claim[]> {
  const claims = new Map<string, Claim[]>();
  for (const { place, parsed } of documents) {
    for (const [index, object] of parsed.objects.entries()) {
      // The usual document holds one object; its digest needs no string of its own.
      const digest = index === 0 ? place.digest : `${place.digest}/${index}`;
      const line = place.line + object.lineOffset;
      const claim = { file, rank, line, documentLine: place.line, object, digest };
      const key = keyOf(object.identity);
      const same = claims.get(key);
      if (same) same.push(claim);
      else claims.set(key, [claim]);
    }
  }
  return claims;
}

function keyOf({ kind, namespace, name }: ResourceChange): string {
  return `${kind}/${namespace}/${name}`;
}

function compareClaims(left: Claim, right: Claim): number {
  if (left.rank !== right.rank) return left.rank - right.rank;
  if (left.file !== right.file) return left.file < right.file ? -1 : 1;
  return left.line - right.line;
}

function compareProblems({ origin: left }: SourceProblem, { origin: right }: SourceProblem): number {
  if (left.file === right.file) return left.line - right.line;
  return left.file < right.file ? -1 : 1;
}

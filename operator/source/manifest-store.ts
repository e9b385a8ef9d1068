/**
 * What all files of the source hold together: which document speaks for an object, and its last good version.
 *
 * Several documents may claim one identity: the first by path, then by line, speaks for it and the others are
 * reported. A document that is not valid, or a file that cannot be read, takes nothing away but keys: for a key the
 * safe side is deny, everything else keeps its last good version.
 */
import { isDeepStrictEqual } from "node:util";
import { MutableResourceSet } from "../resources/mutable-resource-set.ts";
import type { AnyResource, Problem, ResourceChange, ResourceSet } from "../resources/resource.ts";
import type { DocumentText, ManifestObject, ParsedDocument } from "./manifest-file.ts";
import { classify, readResource } from "./read-resource.ts";

/** A parsed document at its place in a file. */
export interface PlacedDocument {
  readonly place: Pick<DocumentText, "line" | "digest">;
  readonly parsed: ParsedDocument;
}

/** A file's content as the store takes it. */
export interface FileContent {
  readonly file: string;
  /** Sorts before files of higher rank, whatever their paths. */
  readonly rank: number;
  readonly documents: readonly PlacedDocument[];
  /** Why the file as a whole could not be read. */
  readonly failure?: string;
}

interface Claim {
  readonly file: string;
  readonly rank: number;
  readonly line: number;
  readonly object: ManifestObject;
  /** Identifies the content. */
  readonly digest: string;
}

interface Held {
  readonly change: ResourceChange;
  readonly claims: Claim[];
  /** Content the present resource was made from. */
  digest?: string;
  generation: number;
  problems: readonly Problem[];
}

export class ManifestStore {
  readonly #resources = new MutableResourceSet();
  readonly #held = new Map<string, Held>();
  readonly #files = new Map<string, FileContent>();
  readonly #fileProblems = new Map<string, readonly Problem[]>();
  /** Objects with something to report; kept so that a pass need not look at all. */
  readonly #troubled = new Set<string>();
  /** Generations of objects that are gone: a recreated one counts on. */
  readonly #generations = new Map<string, number>();

  get resources(): ResourceSet {
    return this.#resources;
  }

  /** The file's content as last put. */
  file(path: string): FileContent | undefined {
    return this.#files.get(path);
  }

  /** Takes a file's present content; undefined: the file is gone. Returns the objects to look at again. */
  put(path: string, content: FileContent | undefined): ResourceChange[] {
    const before = this.#files.get(path);
    const touched = new Map<string, ResourceChange>();
    const isBroken = content !== undefined && (content.failure !== undefined || hasBrokenDocument(content));
    const claims = content ? this.#claimsOf(content) : new Map<string, Claim[]>();
    for (const [key, change] of this.#identitiesOf(before)) {
      const held = this.#held.get(key);
      // A file that is broken somewhere may still hold what cannot be seen: only keys go.
      if (isBroken && !claims.has(key) && change.kind !== "ApiKey") continue;
      if (held) removeClaims(held, path);
      touched.set(key, change);
    }
    for (const [key, own] of claims) {
      const [first] = own;
      if (!first) continue;
      const change = changeOf(first.object);
      if (!change) continue;
      let held = this.#held.get(key);
      if (!held) {
        held = { change, claims: [], generation: this.#generations.get(key) ?? 0, problems: [] };
        this.#held.set(key, held);
      }
      removeClaims(held, path);
      held.claims.push(...own);
      held.claims.sort(compareClaims);
      touched.set(key, change);
    }
    if (content) this.#files.set(path, isBroken && before ? withUnseen(content, before, claims) : content);
    else this.#files.delete(path);
    this.#noteFileProblems(path, content);
    const changes = [...touched].filter(([key]) => this.#settle(key)).map(([, change]) => change);
    this.#collectProblems();
    return changes;
  }

  #identitiesOf(content: FileContent | undefined): Map<string, ResourceChange> {
    const identities = new Map<string, ResourceChange>();
    for (const { parsed } of content?.documents ?? []) {
      for (const object of parsed.objects) {
        const change = changeOf(object);
        if (change) identities.set(keyOf(change), change);
      }
    }
    return identities;
  }

  #claimsOf({ file, rank, documents }: FileContent): Map<string, Claim[]> {
    const claims = new Map<string, Claim[]>();
    for (const { place, parsed } of documents) {
      for (const [index, object] of parsed.objects.entries()) {
        const change = changeOf(object);
        if (!change) continue;
        const claim = { file, rank, line: place.line + object.lineOffset, object, digest: `${place.digest}/${index}` };
        const key = keyOf(change);
        claims.set(key, [...(claims.get(key) ?? []), claim]);
      }
    }
    return claims;
  }

  #noteFileProblems(file: string, content: FileContent | undefined): void {
    const problems: Problem[] =
      content?.failure === undefined ? [] : [{ origin: { file, line: 1 }, message: content.failure }];
    for (const { place, parsed } of content?.documents ?? []) {
      for (const { lineOffset, field, message } of parsed.problems) {
        problems.push({
          origin: { file, line: place.line + lineOffset },
          message,
          ...(field !== undefined && { field }),
        });
      }
      for (const object of parsed.objects) {
        if (classify(object) !== "unknown") continue;
        const message = `${object.apiVersion} ${object.kind} is no kind of this version; correct apiVersion or kind.`;
        problems.push({ origin: { file, line: place.line + object.lineOffset }, field: "kind", message });
      }
    }
    if (problems.length > 0) this.#fileProblems.set(file, problems);
    else this.#fileProblems.delete(file);
  }

  /** Brings one object in line with the document that speaks for it. Returns whether it changed. */
  #settle(key: string): boolean {
    const held = this.#held.get(key);
    if (!held) return false;
    const [claim, ...others] = held.claims;
    if (!claim) {
      this.#held.delete(key);
      this.#generations.set(key, held.generation);
      this.#troubled.delete(key);
      return this.#resources.delete(held.change);
    }
    const before = this.#resources.get(held.change);
    const origin = { file: claim.file, line: claim.line };
    const duplicates = others.map(({ file, line }): Problem => {
      const { kind, namespace, name } = held.change;
      return {
        origin: { file, line },
        message: `${kind} ${namespace}/${name} stands already at ${claim.file}:${claim.line}; remove one.`,
      };
    });
    if (held.digest === claim.digest) {
      if (before) this.#resources.set({ ...before, origin });
      held.problems = [
        ...held.problems.filter(({ origin: own }) => own.file === claim.file && !isDuplicate(own, held.claims, claim)),
        ...duplicates,
      ];
      this.#noteTrouble(key, held);
      return false;
    }
    const read = readResource(claim.object, held.generation + 1, origin, before);
    held.digest = claim.digest;
    if ("resource" in read) {
      held.problems = duplicates;
      this.#noteTrouble(key, held);
      return this.#accept(held, read.resource, before);
    }
    held.problems = [
      ...read.problems.map(({ path, field, message }): Problem => {
        const line = claim.line - claim.object.lineOffset + claim.object.lineOffsetOf(path);
        return { origin: { file: claim.file, line }, field, message };
      }),
      ...duplicates,
    ];
    this.#noteTrouble(key, held);
    return this.#refuse(held, before, origin, read.problems.map(({ message }) => message).join(" "));
  }

  #accept(held: Held, resource: AnyResource, before: AnyResource | undefined): boolean {
    if (before && isSameContent(before, resource)) {
      this.#resources.set({ ...before, ...(resource.origin && { origin: resource.origin }) });
      return false;
    }
    const isSpecSame =
      before !== undefined &&
      "spec" in before &&
      "spec" in resource &&
      isDeepStrictEqual(before.spec, resource.spec) &&
      before.invalid === undefined;
    held.generation = isSpecSame ? before.metadata.generation : resource.metadata.generation;
    this.#resources.set({ ...resource, metadata: { ...resource.metadata, generation: held.generation } });
    return true;
  }

  /** Keeps the last good version, except of keys: they are denied. */
  #refuse(held: Held, before: AnyResource | undefined, origin: Problem["origin"], why: string): boolean {
    const { kind, namespace, name } = held.change;
    // What is no object of ours has no status: the report in `problems` is all there is.
    if (kind === "Secret" || kind === "ConfigMap" || kind === "Namespace") return false;
    held.generation += 1;
    const labels = before?.metadata.labels ?? {};
    const metadata = { namespace, name, labels, generation: held.generation };
    const base = { metadata, origin, invalid: why };
    if (kind === "ApiKey" || before === undefined) this.#resources.set({ kind, ...base });
    else this.#resources.set({ ...before, ...base });
    return true;
  }

  #noteTrouble(key: string, held: Held): void {
    if (held.problems.length > 0) this.#troubled.add(key);
    else this.#troubled.delete(key);
  }

  #collectProblems(): void {
    const problems = [...this.#fileProblems.values()].flat();
    for (const key of this.#troubled) problems.push(...(this.#held.get(key)?.problems ?? []));
    problems.sort((left, right) =>
      left.origin.file === right.origin.file
        ? left.origin.line - right.origin.line
        : left.origin.file < right.origin.file
          ? -1
          : 1,
    );
    this.#resources.problems = problems;
  }
}

function isDuplicate(origin: Problem["origin"], claims: readonly Claim[], winner: Claim): boolean {
  return claims.some((claim) => claim !== winner && claim.file === origin.file && claim.line === origin.line);
}

function isSameContent(left: AnyResource, right: AnyResource): boolean {
  if (!isDeepStrictEqual(left.metadata.labels, right.metadata.labels)) return false;
  if ("data" in left && "data" in right) {
    const keys = left.data.keys().sort();
    if (!isDeepStrictEqual(keys, right.data.keys().sort())) return false;
    return keys.every((key) => left.data.get(key) === right.data.get(key));
  }
  if (left.kind === "Namespace") return right.kind === "Namespace";
  return "spec" in left && "spec" in right && left.invalid === undefined && isDeepStrictEqual(left.spec, right.spec);
}

function hasBrokenDocument({ documents }: FileContent): boolean {
  return documents.some(({ parsed }) => parsed.problems.length > 0);
}

/** The documents that a broken file no longer shows stay with it, so that a later good version can take them away. */
function withUnseen(content: FileContent, before: FileContent, seen: ReadonlyMap<string, unknown>): FileContent {
  const unseen = before.documents.flatMap(({ place, parsed }): PlacedDocument[] => {
    const objects = parsed.objects.filter((object) => {
      const change = changeOf(object);
      return change !== undefined && change.kind !== "ApiKey" && !seen.has(keyOf(change));
    });
    return objects.length > 0 ? [{ place, parsed: { objects, problems: [] } }] : [];
  });
  return { ...content, documents: [...content.documents, ...unseen] };
}

function changeOf(object: ManifestObject): ResourceChange | undefined {
  const kind = classify(object);
  return kind === "foreign" || kind === "unknown"
    ? undefined
    : { kind, namespace: object.namespace, name: object.name };
}

function keyOf({ kind, namespace, name }: ResourceChange): string {
  return `${kind}/${namespace}/${name}`;
}

function removeClaims(held: Held, file: string): void {
  for (let index = held.claims.length - 1; index >= 0; index -= 1) {
    if (held.claims[index]?.file === file) held.claims.splice(index, 1);
  }
}

function compareClaims(left: Claim, right: Claim): number {
  if (left.rank !== right.rank) return left.rank - right.rank;
  if (left.file !== right.file) return left.file < right.file ? -1 : 1;
  return left.line - right.line;
}

/**
 * `tollgate validate FILES…`: the API server's own verdict on manifests, without a cluster.
 *
 * Reads files, folders (`*.yaml`, `*.yml`, `*.json`, with everything below) and `-` for standard input; prints one line
 * a problem with file, line, column, object and field, then a summary. Exit status 0: clean (warnings included),
 * 1: problems, 2: used wrongly.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import picocolors from "picocolors";
import {
  type Manifest,
  type ManifestDocument,
  manifestLimits,
  type Position,
  parseManifest,
} from "../operator/schema/parse-manifest.ts";
import type { Problem } from "../operator/schema/problem.ts";
import { checkReferences } from "../operator/schema/references/check-references.ts";
import { identifyDocument, type KnownObject, validateResource } from "../operator/schema/validate-resource.ts";

/** Where the command reads and writes; `isTerminal` tells of `stdout`. */
export interface ValidateStreams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  readonly isTerminal: boolean;
  /** For `-`; the process's own when absent. */
  readonly stdin?: Readable;
}

interface Finding {
  readonly file: string;
  readonly position: Position;
  /** `Kind namespace/name`, as far as it is known. */
  readonly subject: string;
  readonly field: string;
  readonly message: string;
  readonly severity: "error" | "warning";
}

const extensions = new Set([".yaml", ".yml", ".json"]);

/** @returns the exit status */
export async function validateCommand(paths: readonly string[], streams: ValidateStreams): Promise<number> {
  if (paths.length === 0) {
    streams.stderr.write("tollgate validate: name files, folders or - for standard input\n");
    return 2;
  }
  const manifests: Manifest[] = [];
  for (const path of paths) {
    const read = await readManifests(path, streams.stdin ?? process.stdin);
    if (typeof read === "string") {
      streams.stderr.write(`tollgate validate: ${read}\n`);
      return 2;
    }
    manifests.push(...read);
  }
  const { findings, objectCount } = inspectManifests(manifests);
  const colors = picocolors.createColors(streams.isTerminal);
  for (const finding of findings) streams.stdout.write(`${formatFinding(finding, colors)}\n`);
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const parts = [
    count(objectCount, "object", "objects"),
    count(manifests.length, "file", "files"),
    errors === 0 ? colors.green("no problems") : colors.red(count(errors, "problem", "problems")),
    ...(findings.length > errors ? [colors.yellow(count(findings.length - errors, "warning", "warnings"))] : []),
  ];
  streams.stdout.write(`${parts.join(", ")}\n`);
  return errors === 0 ? 0 : 1;
}

/** The manifests of a path; a sentence when it cannot be read. */
async function readManifests(path: string, stdin: Readable): Promise<Manifest[] | string> {
  if (path === "-") return [parseManifest(await text(stdin), "(stdin)")];
  try {
    const files = (await stat(path)).isDirectory() ? await listFiles(path) : [path];
    if (files.length === 0) return `${path} holds no .yaml, .yml or .json files`;
    const manifests: Manifest[] = [];
    for (const file of files) manifests.push(await readManifest(file));
    return manifests;
  } catch (error) {
    return `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function readManifest(file: string): Promise<Manifest> {
  // A huge file is not even loaded; parseManifest words the refusal.
  const { size } = await stat(file);
  return parseManifest(
    size > manifestLimits.bytesMax ? " ".repeat(manifestLimits.bytesMax + 1) : await readFile(file, "utf8"),
    file,
  );
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const isManifest = (name: string): boolean => extensions.has(extname(name)) && !name.startsWith(".");
  const files = entries.filter((entry) => !entry.isDirectory() && isManifest(entry.name));
  return files.map((entry) => join(entry.parentPath, entry.name)).sort();
}

function inspectManifests(manifests: readonly Manifest[]): { findings: Finding[]; objectCount: number } {
  const findings: Finding[] = [];
  const places = new Map<KnownObject, { readonly file: string; readonly document: ManifestDocument }>();
  let objectCount = 0;
  for (const { fileName: file, documents, problems } of manifests) {
    for (const { position, field, message } of problems) {
      findings.push({ file, position, subject: "", field, message, severity: "error" });
    }
    for (const document of documents) {
      objectCount += 1;
      const { object, problems: found } = validateResource(document.object);
      if (object !== undefined) places.set(object, { file, document });
      findings.push(...found.map((problem) => locateProblem(file, document, problem, "error")));
    }
  }
  for (const { object, problem, severity } of checkReferences([...places.keys()])) {
    const place = places.get(object);
    if (place !== undefined) findings.push(locateProblem(place.file, place.document, problem, severity));
  }
  return { findings: sortFindings(findings, manifests), objectCount };
}

function locateProblem(
  file: string,
  document: ManifestDocument,
  problem: Problem,
  severity: "error" | "warning",
): Finding {
  const identity = identifyDocument(document.object);
  const namespace = identity === undefined || identity.namespace === "" ? "" : `${identity.namespace}/`;
  const subject = identity === undefined ? "" : `${identity.kind} ${namespace}${identity.name}`;
  const position = document.locate(problem.path);
  return { file, position, subject, field: problem.field, message: problem.message, severity };
}

/** By file as given, then line and column, so that two runs print the same. */
function sortFindings(findings: readonly Finding[], manifests: readonly Manifest[]): Finding[] {
  const ranks = new Map(manifests.map(({ fileName }, index) => [fileName, index]));
  const rankOf = ({ file }: Finding): number => ranks.get(file) ?? 0;
  return findings.toSorted(
    (left, right) =>
      rankOf(left) - rankOf(right) ||
      left.position.line - right.position.line ||
      left.position.column - right.position.column,
  );
}

function formatFinding(finding: Finding, colors: ReturnType<typeof picocolors.createColors>): string {
  const { file, position, subject, field, message, severity } = finding;
  const place = colors.bold(`${printable(file)}:${position.line}:${position.column}`);
  const words =
    severity === "warning" ? colors.yellow(`warning: ${printable(message)}`) : colors.red(printable(message));
  return [place, printable(subject), colors.cyan(printable(field)), words].filter((part) => part !== "").join("  ");
}

/** Names come from files: control characters in them must not reach a terminal. */
function printable(value: string): string {
  return value.replace(/[\u0000-\u001f\u007f-\u009f]/g, "?");
}

function count(amount: number, one: string, many: string): string {
  return `${amount} ${amount === 1 ? one : many}`;
}

/**
 * `tollgate validate FILES…`: validates manifests as the API server and the operator would, without either.
 *
 * It reads files, folders as the gateway reads its own (`*.yaml`, `*.yml`, `*.json`, with everything below) and `-` for
 * standard input. It prints one line for each problem with file, line, column, object and field, then a summary. Exit
 * status: 0 success (warnings and notes included), 1 problems, 2 wrong usage.
 */
import type { Readable } from "node:stream";
import picocolors from "picocolors";
import type { ManifestDocument, Position } from "#operator/schema/parse-manifest";
import { makeProblem, type Problem } from "#operator/schema/problem";
import { checkReferences } from "#operator/schema/references/check-references";
import {
  type ForeignKind,
  foreignKind,
  identifyDocument,
  type KnownObject,
  validateResource,
  versionOf,
} from "#operator/schema/validate-resource";
import { checkCompiled } from "./checks/check-compiled.ts";
import { type NamedManifest, readManifests } from "./read-manifests.ts";

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
  readonly severity: Severity;
}

/** Only errors make the command fail; a note names an object that is ignored. */
type Severity = "error" | "warning" | "note";

/**
 * @param egressAllowCIDRs as the operator of these manifests has them: channels to other private addresses are
 *   refused; none: warned of
 * @returns the exit status
 */
export async function validateCommand(
  paths: readonly string[],
  streams: ValidateStreams,
  egressAllowCIDRs: readonly string[],
): Promise<number> {
  if (paths.length === 0) {
    streams.stderr.write("tollgate validate: name files, folders or - for standard input\n");
    return 2;
  }
  const manifests: NamedManifest[] = [];
  for (const path of paths) {
    const read = await readManifests(path, streams.stdin ?? process.stdin);
    if (typeof read === "string") {
      streams.stderr.write(`tollgate validate: ${read}\n`);
      return 2;
    }
    manifests.push(...read);
  }
  const { findings, objectCount } = inspectManifests(manifests, egressAllowCIDRs);
  const colors = picocolors.createColors(streams.isTerminal);
  for (const finding of findings) streams.stdout.write(`${formatFinding(finding, colors)}\n`);
  const countOf = (wanted: Severity): number => findings.filter(({ severity }) => severity === wanted).length;
  const [errors, warnings, notes] = [countOf("error"), countOf("warning"), countOf("note")];
  const parts = [
    count(objectCount, "object", "objects"),
    count(manifests.length, "file", "files"),
    errors === 0 ? colors.green("no problems") : colors.red(count(errors, "problem", "problems")),
    ...(warnings > 0 ? [colors.yellow(count(warnings, "warning", "warnings"))] : []),
    ...(notes > 0 ? [count(notes, "note", "notes")] : []),
  ];
  streams.stdout.write(`${parts.join(", ")}\n`);
  return errors === 0 ? 0 : 1;
}

function inspectManifests(
  manifests: readonly NamedManifest[],
  egressAllowCIDRs: readonly string[],
): { findings: Finding[]; objectCount: number } {
  const findings: Finding[] = [];
  const places = new Map<KnownObject, { readonly file: string; readonly document: ManifestDocument }>();
  let objectCount = 0;
  for (const { file, documents, problems } of manifests) {
    for (const { position, field, message } of problems) {
      findings.push({ file, position, subject: "", field, message, severity: "error" });
    }
    for (const document of documents) {
      const foreign = foreignKind(document.object);
      if (foreign !== undefined) {
        findings.push(locateProblem(file, document, noteOf(foreign), "note"));
        continue;
      }
      objectCount += 1;
      const { object, problems: found } = validateResource(document.object);
      if (object !== undefined) places.set(object, { file, document });
      findings.push(...found.map((problem) => locateProblem(file, document, problem, "error")));
    }
  }
  const references = checkReferences([...places.keys()]);
  const refused = checkCompiled([...places.keys()], references, egressAllowCIDRs);
  for (const { object, problem, severity } of [...references, ...refused]) {
    const place = places.get(object);
    if (place !== undefined) findings.push(locateProblem(place.file, place.document, problem, severity));
  }
  return { findings: sortFindings(findings, manifests), objectCount };
}

/** The note for an object of a foreign kind; a kind with the name of one of ours may only have the wrong apiVersion. */
function noteOf({ apiVersion, kind }: ForeignKind): Problem {
  const message = `ignored, here and by the gateway: its apiVersion is ${apiVersion}`;
  const version = versionOf(kind);
  const hint = version === undefined ? "" : `; write apiVersion ${version} if the gateway's ${kind} is meant`;
  return makeProblem(["kind"], "kind", `${message}${hint}`);
}

function locateProblem(file: string, document: ManifestDocument, problem: Problem, severity: Severity): Finding {
  const identity = identifyDocument(document.object);
  const namespace = identity === undefined || identity.namespace === "" ? "" : `${identity.namespace}/`;
  const subject = identity === undefined ? "" : `${identity.kind} ${namespace}${identity.name}`;
  const position = document.locate(problem.path);
  return { file, position, subject, field: problem.field, message: problem.message, severity };
}

/** By file as given, then line and column, so that two runs print the same. */
function sortFindings(findings: readonly Finding[], manifests: readonly NamedManifest[]): Finding[] {
  const ranks = new Map(manifests.map(({ file }, index) => [file, index]));
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
  const color = { error: colors.red, warning: colors.yellow, note: colors.dim }[severity];
  const words = color(`${severity === "error" ? "" : `${severity}: `}${printable(message)}`);
  return [place, printable(subject), colors.cyan(printable(field)), words].filter((part) => part !== "").join("  ");
}

/** Names come from files: control characters in them must not reach a terminal. */
function printable(value: string): string {
  return value.replace(/[\u0000-\u001f\u007f-\u009f]/g, "?");
}

function count(amount: number, one: string, many: string): string {
  return `${amount} ${amount === 1 ? one : many}`;
}

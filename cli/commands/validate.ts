/**
 * `tollgate validate FILES...`: the API server's verdict without a cluster.
 *
 * One line for each problem, with file, line and field, as compilers print them, so that editors can jump there. Exit
 * status 1 when there is an error; warnings alone are fine.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import picocolors from "picocolors";
import { checkReferences } from "../../operator/schema/check-references.ts";
import { type ManifestDocument, parseManifest } from "../../operator/schema/parse-manifest.ts";
import { formatField, type Problem } from "../../operator/schema/problem.ts";
import { type KnownObject, validateResource } from "../../operator/schema/validate-resource.ts";
import { isColored, type ProgramIo } from "../program-io.ts";
import { UsageError } from "../read-settings.ts";

export interface Finding {
  readonly file: string;
  /** Both begin at 1. */
  readonly line: number;
  readonly column: number;
  readonly severity: "error" | "warning";
  readonly problem: Problem;
  /** `ApiKey team-a/bot`; empty where no object was made out. */
  readonly object: string;
}

export interface Report {
  readonly objectCount: number;
  /** In order of file and line. */
  readonly findings: readonly Finding[];
}

/** @throws UsageError when no file is named */
export function runValidate(paths: readonly string[], io: ProgramIo): number {
  if (paths.length === 0) throw new UsageError(["name the manifests to validate: files or folders"]);
  const files = listManifestFiles(paths);
  const report = validateFiles(files.map((file) => ({ file, text: readFileSync(file, "utf8") })));
  const colors = picocolors.createColors(isColored(io.stdout, io.environment));
  for (const finding of report.findings) {
    const severity = finding.severity === "error" ? colors.red("error") : colors.yellow("warning");
    io.stdout.write(
      `${colors.bold(`${finding.file}:${finding.line}:${finding.column}`)} ${severity} ${describe(finding)}\n`,
    );
  }
  const errorCount = report.findings.filter((finding) => finding.severity === "error").length;
  io.stdout.write(
    `${files.length} ${files.length === 1 ? "file" : "files"}, ${report.objectCount} valid objects, ${errorCount} ${errorCount === 1 ? "error" : "errors"}\n`,
  );
  return errorCount === 0 ? 0 : 1;
}

function describe({ object, problem }: Finding): string {
  const field = formatField(problem.path);
  return [object, field, problem.message].filter((part) => part !== "").join(": ");
}

/** Files as named, and those of folders that look like manifests, in order of name. @throws UsageError */
export function listManifestFiles(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) throw new UsageError([`${path} does not exist`]);
    if (!stats.isDirectory()) return [path];
    return readdirSync(path, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(ya?ml|json)$/.test(name))
      .sort()
      .map((name) => join(path, name));
  });
}

/** Validates each document, then the references between those that are valid. Pure. */
export function validateFiles(files: readonly { readonly file: string; readonly text: string }[]): Report {
  const findings: Finding[] = [];
  const places = new Map<KnownObject, { readonly file: string; readonly document: ManifestDocument }>();
  for (const { file, text } of files) {
    const manifest = parseManifest(text, file);
    for (const problem of manifest.problems)
      findings.push({ file, ...problem.position, severity: "error", problem, object: "" });
    for (const document of manifest.documents) {
      const { object, problems } = validateResource(document.object);
      if (object !== undefined) places.set(object, { file, document });
      for (const problem of problems)
        findings.push({ file, ...document.locate(problem.path), severity: "error", problem, object: "" });
    }
  }
  for (const { object, problem, severity } of checkReferences([...places.keys()])) {
    const place = places.get(object);
    if (place === undefined) continue;
    findings.push({
      file: place.file,
      ...place.document.locate(problem.path),
      severity,
      problem,
      object: nameOf(object),
    });
  }
  findings.sort(
    (left, right) => left.file.localeCompare(right.file) || left.line - right.line || left.column - right.column,
  );
  return { objectCount: places.size, findings };
}

function nameOf(object: KnownObject): string {
  const { namespace, name } = object.metadata;
  return `${object.kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

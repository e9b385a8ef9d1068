/**
 * Writes what an image holds below `/app`: compiled code, the production packages that it loads, and nothing else.
 *
 * The `Dockerfile` and the end-to-end suite both call this, so that what is tested is what is shipped. Two runs over the
 * same sources give the same bytes.
 */
import { cpSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { projectRoot, runTool } from "#scripts/run";
import { type LockFile, packageClosure, packageOf } from "./package-closure.ts";
import { reachableModules } from "./reachable-modules.ts";
import type { ImageTarget } from "./targets.ts";

/** Packages of many large files of which few are loaded: only those are copied. */
const sparsePackages = new Set(["gpt-tokenizer"]);
/** Of no use to a running program. */
const uselessFile = /\.(d\.[mc]?ts|[mc]?ts|map|md|markdown|flow)$|\/(test|tests|\.github|docs|benchmarks?|examples?)$/;

/** Compiles the sources once for all images. @throws Error when they do not compile */
export function compileSources(out: string): void {
  const { status } = runTool("typescript/bin/tsc", ["-p", "tsconfig.build.json", "--outDir", out], "inherit");
  if (status !== 0) throw new Error("the sources do not compile");
  // `tsc` emits nothing for plain JavaScript.
  const validators = "proxy/snapshot/validators.gen.mjs";
  copy(join(projectRoot, validators), join(out, validators));
}

/** @param compiled folder that `compileSources` has written */
export function writeImageTree(target: ImageTarget, compiled: string, out: string): void {
  const { files, data, imports } = reachableModules(compiled, [target.entry], new Set(target.leftOut));
  rmSync(out, { recursive: true, force: true });
  for (const file of files) copy(join(compiled, file), join(out, file));
  for (const file of ["LICENSE", ...data]) copy(join(projectRoot, file), join(out, file));
  write(join(out, "package.json"), packageOfImage());
  for (const file of target.leftOut) write(join(out, file), leftOutModule);
  const lock: LockFile = JSON.parse(readFileSync(join(projectRoot, "package-lock.json"), "utf8"));
  for (const path of packageClosure(lock, imports)) {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    if (sparsePackages.has(name)) copySparsely(path, imports, out);
    else cpSync(join(projectRoot, path), join(out, path), { recursive: true, filter: isUseful });
  }
}

/** Package imports lead to the sources; in the image they lead to what was compiled from them. */
function packageOfImage(): string {
  const text = readFileSync(join(projectRoot, "package.json"), "utf8");
  return text.replaceAll(/(": "\.\/\w+\/\*)\.ts"/g, '$1.js"');
}

const leftOutModule = 'throw new Error("this image does not hold that command");\n';

/** Nested packages are entries of the closure themselves. */
function isUseful(source: string): boolean {
  return !uselessFile.test(source) && !source.endsWith("/node_modules");
}

function copySparsely(path: string, imports: readonly string[], out: string): void {
  const folder = join(projectRoot, path);
  const entries = imports
    .filter((specifier) => join("node_modules", packageOf(specifier)) === path)
    .map((specifier) => resolveWithin(folder, specifier));
  const files = [...reachableModules(folder, entries).files, "package.json", "LICENSE"];
  for (const file of files) copy(join(folder, file), join(out, path, file));
}

/** @returns the file of a specifier, relative to its package's folder */
function resolveWithin(folder: string, specifier: string): string {
  // Resolving follows links, and so must the folder.
  return relative(realpathSync(folder), fileURLToPath(import.meta.resolve(specifier)));
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

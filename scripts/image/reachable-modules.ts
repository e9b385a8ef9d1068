/** Which compiled files a program can load: its entry and everything that is imported from there. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

export interface Reachable {
  /** Relative to the folder that was walked, sorted. */
  readonly files: readonly string[];
  /** Files that are no code and are opened beside it, for example a schema; they may stand elsewhere. */
  readonly data: readonly string[];
  /** What is imported by bare name, for example `undici` or `gpt-tokenizer/encoding/o200k_base`; sorted. */
  readonly imports: readonly string[];
}

const importForms = [
  /\b(?:import|export)\s+(?:[\w*{}\s,$]+?\s+from\s+)?"([^"]+)"/g,
  /\bimport\(\s*"([^"]+)"\s*\)/g,
  /\brequire\("([^"]+)"\)/g,
  /\bnew URL\(\s*["`]([^"`]+)["`],\s*import\.meta\.url\s*\)/g,
];

/** Files of threads, named without their ending (`proxy/runtime/start-thread.ts`). */
const threadForm = /\bstartThread\(\s*"([^"]+)"/g;

/**
 * Walks the imports of compiled files.
 *
 * @param entries files to begin with, relative to `folder`
 * @param leftOut files that stand for commands of other programs: they are named but not entered
 * @throws Error for an import of a file that is not there
 */
export function reachableModules(
  folder: string,
  entries: readonly string[],
  leftOut: ReadonlySet<string> = new Set(),
): Reachable {
  const files = new Set<string>();
  const data = new Set<string>();
  const imports = new Set<string>();
  const waiting = [...entries];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file) || leftOut.has(file)) continue;
    if (!/\.(js|mjs|cjs)$/.test(file)) {
      data.add(file);
      continue;
    }
    const path = join(folder, file);
    if (!existsSync(path)) throw new Error(`${file} is imported and is not there`);
    files.add(file);
    for (const name of importsOf(readFileSync(path, "utf8"))) {
      if (name.startsWith(".")) waiting.push(normalize(join(dirname(file), name)));
      else if (name.startsWith("#")) waiting.push(compiledFileOf(name));
      else if (!name.startsWith("node:")) imports.add(name);
    }
  }
  return { files: [...files].sort(), data: [...data].sort(), imports: [...imports].sort() };
}

/** The file that a package import names (`imports` of package.json): `#proxy/limits` is `proxy/limits.js`. */
function compiledFileOf(name: string): string {
  const path = name.slice(1);
  return path.endsWith(".mjs") ? path : `${path}.js`;
}

/** The names that a module imports, asks for at run time, or opens beside itself. */
function importsOf(code: string): string[] {
  // Comments may quote imports.
  const bare = code.replace(/^\s*(?:\/\*[\s\S]*?\*\/|\/\/.*$)/gm, "");
  const threads = [...bare.matchAll(threadForm)].map((match) => `${match[1]}.js`);
  return [...importForms.flatMap((form) => [...bare.matchAll(form)].map((match) => match[1] ?? "")), ...threads];
}

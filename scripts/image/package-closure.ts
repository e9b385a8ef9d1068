/** Which installed packages a set of imports needs, by the lock file: theirs and all that those depend on. */
import { join } from "node:path";

/** The members of `package-lock.json` that are read here. */
export interface LockFile {
  readonly packages: {
    readonly [path: string]: {
      readonly version?: string;
      readonly dependencies?: Readonly<Record<string, string>>;
      readonly peerDependencies?: Readonly<Record<string, string>>;
      readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
    };
  };
}

/** `undici` of `undici`, `@scope/name` of `@scope/name/deep/file.js`. */
export function packageOf(specifier: string): string {
  const parts = specifier.split("/");
  return parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}

/**
 * Optional dependencies are left out: a program must run without them.
 *
 * @returns folders below the project's root, `node_modules/...`, sorted
 * @throws Error for a package that the lock file does not name
 */
export function packageClosure(lock: LockFile, imports: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const waiting = imports.map((specifier) => ({ name: packageOf(specifier), from: "" }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const path = resolvePackage(lock, next.name, next.from);
    if (found.has(path)) continue;
    found.add(path);
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = lock.packages[path] ?? {};
    const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
    for (const name of [...Object.keys(dependencies), ...peers]) waiting.push({ name, from: path });
  }
  return [...found].sort();
}

/** As Node resolves it: the nearest `node_modules` on the way up. */
function resolvePackage(lock: LockFile, name: string, from: string): string {
  for (let folder = from; ; folder = parentPackage(folder)) {
    const path = join(folder, "node_modules", name);
    if (lock.packages[path] !== undefined) return path;
    if (folder === "") throw new Error(`${name}, wanted by ${from || "the program"}, is not in the lock file`);
  }
}

function parentPackage(path: string): string {
  const index = path.lastIndexOf("/node_modules/");
  return index === -1 ? "" : path.slice(0, index);
}

/**
 * Matches model patterns of keys and limits: an exact name, `prefix*`, `*suffix` or `*`.
 *
 * Names are compared byte by byte: no case folding and no normalisation, ever, since a name that only looks like an
 * allowed one belongs to another model. A `*` anywhere else is a character like any other.
 */

interface PatternSet {
  readonly matchesAll: boolean;
  readonly exact: ReadonlySet<string>;
  readonly prefixes: readonly string[];
  readonly suffixes: readonly string[];
}

const compiled = new WeakMap<readonly string[], PatternSet>();

/**
 * Whether any of the patterns matches the name. An empty list matches nothing.
 * @param patterns compiled once per array, so give the same array again and never change it
 */
export function matchesAnyPattern(patterns: readonly string[], model: string): boolean {
  let set = compiled.get(patterns);
  if (set === undefined) {
    set = compilePatterns(patterns);
    compiled.set(patterns, set);
  }
  if (set.matchesAll || set.exact.has(model)) return true;
  for (const prefix of set.prefixes) if (model.startsWith(prefix)) return true;
  for (const suffix of set.suffixes) if (model.endsWith(suffix)) return true;
  return false;
}

function compilePatterns(patterns: readonly string[]): PatternSet {
  const exact = new Set<string>();
  const prefixes: string[] = [];
  const suffixes: string[] = [];
  for (const pattern of patterns) {
    if (pattern.endsWith("*")) prefixes.push(pattern.slice(0, -1));
    else if (pattern.startsWith("*")) suffixes.push(pattern.slice(1));
    else exact.add(pattern);
  }
  return { matchesAll: prefixes.includes(""), exact, prefixes, suffixes };
}

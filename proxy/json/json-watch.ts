/** Finds a few known keys among many without decoding any: it compares lengths first, then bytes. */

/** Watched keys by the length of their UTF-8 spelling. */
export interface Watch {
  readonly byLength: readonly (readonly WatchedKey[] | undefined)[];
  readonly names: ReadonlySet<string>;
}

interface WatchedKey {
  readonly name: string;
  readonly bytes: Buffer;
}

const compiled = new WeakMap<readonly string[], Watch>();

/** Compiled once per array: give a constant. */
export function compileWatch(names: readonly string[]): Watch {
  const known = compiled.get(names);
  if (known !== undefined) return known;
  const byLength: WatchedKey[][] = [];
  for (const name of names) {
    const bytes = Buffer.from(name);
    const sameLength = byLength[bytes.length] ?? [];
    sameLength.push({ name, bytes });
    byLength[bytes.length] = sameLength;
  }
  // Filled without holes: holes would make every look-up of an absent length walk the prototype.
  const watch = { byLength: Array.from(byLength, (keys) => keys), names: new Set(names) };
  compiled.set(names, watch);
  return watch;
}

/**
 * @param open offset of the key's opening quote
 * @param close offset of its closing quote
 * @returns the watched name, or undefined
 */
export function isWatched(
  watch: Watch,
  bytes: Buffer,
  open: number,
  close: number,
  hasEscape: boolean,
): string | undefined {
  if (hasEscape) {
    const name: unknown = JSON.parse(bytes.toString("utf8", open, close + 1));
    return typeof name === "string" && watch.names.has(name) ? name : undefined;
  }
  const length = close - open - 1;
  if (length >= watch.byLength.length) return undefined;
  const candidates = watch.byLength[length];
  if (candidates === undefined) return undefined;
  for (const candidate of candidates) {
    let matched = 0;
    while (matched < length && bytes[open + 1 + matched] === candidate.bytes[matched]) matched += 1;
    if (matched === length) return candidate.name;
  }
  return undefined;
}

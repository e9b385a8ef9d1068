/** Writes paths of members inside a body as each protocol's clients spell them, and the patterns that find them. */
import type { Hit, JsonKind, ScannedObject } from "#proxy/json/strict-json";
import type { Protocol } from "#proxy/neutral/wire";

type Path = readonly (string | number)[];

/** Spells a path as errors of the protocol do: `messages[0].role`, or `messages.0.role` for Anthropic-style. */
export function formatPath(path: Path, protocol: Protocol): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number" && protocol !== "Anthropic") text += `[${step}]`;
    else text += text === "" ? `${step}` : `.${step}`;
  }
  return text;
}

/**
 * Where a kind of member stands. `*` is any element of a list, or the one element that stands without its list: the
 * interface takes `tools` and `input` so (docs/design/interface.md 2.1, 2.4, 2.6), and what it brings to the provider's
 * form must be found before. So every pattern covers both spellings, and no table can name one and forget the other.
 */
export interface PathPattern {
  readonly steps: readonly string[];
  /** Only values of these kinds: a JSON Schema may have a property of any name. */
  readonly kinds: readonly JsonKind[];
}

/** Writes a pattern as one word: `messages.*.content.*.image_url`. */
export function pathPattern(path: string, ...kinds: readonly JsonKind[]): PathPattern {
  return { steps: path.split("."), kinds };
}

export function matchesPath({ key, kind, path }: Hit, { steps, kinds }: PathPattern): boolean {
  if (key !== steps.at(-1) || path.length > steps.length || !kinds.includes(kind)) return false;
  let at = 0;
  for (const step of steps) {
    if (step === "*") {
      if (typeof path[at] === "number") at += 1;
    } else if (path[at] === step) at += 1;
    else return false;
  }
  return at === path.length;
}

/** Keys to watch for so that the patterns can match: their last steps. */
export function watchedKeysOf(...patterns: readonly (readonly PathPattern[])[]): readonly string[] {
  return [...new Set(patterns.flat().map((pattern) => pattern.steps.at(-1) ?? ""))];
}

/** Counts hits that match one of the patterns. */
export function countMatches(body: ScannedObject, patterns: readonly PathPattern[]): number {
  let matches = 0;
  for (const hit of body.hits) if (patterns.some((pattern) => matchesPath(hit, pattern))) matches += 1;
  return matches;
}

/** Spells the paths of hits that match one of the patterns. */
export function findMatches(body: ScannedObject, patterns: readonly PathPattern[], protocol: Protocol): string[] {
  if (body.hits.length === 0) return [];
  return body.hits
    .filter((hit) => patterns.some((pattern) => matchesPath(hit, pattern)))
    .map((hit) => formatPath(hit.path, protocol));
}

/** Spells those of the top-level members that are present and not null. */
export function presentMembers(body: ScannedObject, names: readonly string[]): string[] {
  return names.filter((name) => {
    const member = body.member(name);
    return member !== undefined && member.kind !== "null";
  });
}

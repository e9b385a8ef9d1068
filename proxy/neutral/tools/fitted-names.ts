/**
 * Replaces names that an upstream refuses with names that it accepts: a bijection for one request
 * (docs/design/translation.md 5.1).
 *
 * A writer asks `toUpstream` for every name it writes and hands `changed` to the adaptation of the reply, which puts
 * the client's names back. Names that are fine stay as they are, and no changed name ever equals another one.
 */
import { createHash } from "node:crypto";

/** What names must be like: at most 64 characters of a few kinds. */
export interface NameRule {
  readonly valid: RegExp;
  readonly foreign: RegExp;
  /** Put before a name whose first character may not come first. */
  readonly firstValid: RegExp;
  /**
   * Every changed name ends in a digest of the client's. What comes later in a conversation can then not take the plain
   * name from what was sent before: a provider binds thinking to the bytes of all earlier turns.
   */
  readonly alwaysDigests?: boolean;
}

const lengthMax = 64;
const digestLength = 8;

const unchanged: ReadonlyMap<string, string> = new Map();
const noNames: ReadonlySet<string> = new Set();

export class FittedNames {
  readonly #rule: NameRule;
  readonly #upstream = new Map<string, string>();
  readonly #used = new Set<string>();
  /** Made on first need: names that are no good are rare. */
  #changed: Map<string, string> | undefined;

  /**
   * @param names all names known beforehand: those that are valid keep theirs, whatever the others become
   * @param reserved names that nothing of the client gets
   */
  constructor(rule: NameRule, names: Iterable<string> = [], reserved: ReadonlySet<string> = noNames) {
    this.#rule = rule;
    for (const name of reserved) this.#used.add(name);
    const invalid: string[] = [];
    for (const name of names) {
      if (this.#rule.valid.test(name) && !reserved.has(name)) this.#keep(name);
      else invalid.push(name);
    }
    for (const name of invalid) this.toUpstream(name);
  }

  /** The name for the upstream; the same for the same name. Names not announced before are fitted in. */
  toUpstream(name: string): string {
    const known = this.#upstream.get(name);
    if (known !== undefined) return known;
    if (this.#rule.valid.test(name) && !this.#used.has(name)) {
      this.#keep(name);
      return name;
    }
    const changed = this.#findFree(name);
    this.#upstream.set(name, changed);
    this.#used.add(changed);
    this.#changed ??= new Map();
    this.#changed.set(changed, name);
    return changed;
  }

  /** Upstream's names to the client's, for those that differ. */
  get changed(): ReadonlyMap<string, string> {
    return this.#changed ?? unchanged;
  }

  #keep(name: string): void {
    this.#upstream.set(name, name);
    this.#used.add(name);
  }

  #findFree(name: string): string {
    let fitted = name.replace(this.#rule.foreign, "_");
    if (!this.#rule.firstValid.test(fitted)) fitted = `_${fitted}`;
    if (fitted.length > lengthMax || this.#rule.alwaysDigests === true) fitted = withDigest(fitted, name);
    for (let round = 0; this.#used.has(fitted); round += 1) {
      fitted = withDigest(fitted, round === 0 ? name : `${name}#${round}`);
    }
    return fitted;
  }
}

function withDigest(fitted: string, source: string): string {
  const digest = createHash("sha256").update(source).digest("hex").slice(0, digestLength);
  return `${fitted.slice(0, lengthMax - digestLength - 1)}_${digest}`;
}

/** Restores in the arguments of calls the keys that the client declared (`tools/property-keys.ts`), as they stream. */
import type { ReplyEvent } from "#proxy/neutral/reply";
import { partKey, type ReplyFilter } from "./filter.ts";

type Keys = ReadonlyMap<string, string>;

/** Keys of the upstream, by its name of the tool. */
export class RenameKeys implements ReplyFilter {
  readonly #tools: ReadonlyMap<string, Keys>;
  readonly #open = new Map<string, KeyRenamer>();

  constructor(tools: ReadonlyMap<string, Keys>) {
    this.#tools = tools;
  }

  apply(event: ReplyEvent): readonly ReplyEvent[] {
    if (event.type === "open" && event.block.kind === "call") {
      const keys = this.#tools.get(event.block.name);
      if (keys !== undefined) this.#open.set(partKey(event), new KeyRenamer(keys));
      return [event];
    }
    if (event.type !== "delta" && event.type !== "close") return [event];
    const renamer = this.#open.get(partKey(event));
    if (renamer === undefined) return [event];
    const { candidate, part } = event;
    const text = event.type === "delta" ? renamer.push(event.text) : renamer.end();
    const said: readonly ReplyEvent[] = text === "" ? [] : [{ type: "delta", candidate, part, text }];
    if (event.type === "delta") return said;
    this.#open.delete(partKey(event));
    return [...said, event];
  }
}

/** The text of one JSON object with the keys of its root changed; it may be cut anywhere. */
class KeyRenamer {
  readonly #keys: Keys;
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  /** The next text at the root is a key. */
  #isKeyNext = false;
  /** What of a key has come, its first quote with it. */
  #key: string | undefined;

  constructor(keys: Keys) {
    this.#keys = keys;
  }

  push(text: string): string {
    let out = "";
    /** What is neither said nor held begins here. */
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const character = text[at] ?? "";
      if (!this.#isText) {
        const isKey = character === '"' && this.#depth === 1 && this.#isKeyNext;
        if (isKey) {
          out += text.slice(from, at);
          from = at;
          this.#key = "";
        }
        this.#step(character);
        continue;
      }
      if (this.#isEscaped) this.#isEscaped = false;
      else if (character === "\\") this.#isEscaped = true;
      else if (character === '"') {
        this.#isText = false;
        if (this.#key === undefined) continue;
        out += this.#renamed(this.#key + text.slice(from, at + 1));
        from = at + 1;
        this.#key = undefined;
        this.#isKeyNext = false;
      }
    }
    if (this.#key === undefined) return out + text.slice(from);
    this.#key += text.slice(from);
    return out;
  }

  /** What is held of a key that was cut. */
  end(): string {
    const rest = this.#key ?? "";
    this.#key = undefined;
    return rest;
  }

  #step(character: string): void {
    if (character === '"') this.#isText = true;
    else if (character === "{" || character === "[") {
      this.#depth += 1;
      this.#isKeyNext = character === "{" && this.#depth === 1;
    } else if (character === "}" || character === "]") this.#depth -= 1;
    else if (character === "," && this.#depth === 1) this.#isKeyNext = true;
  }

  #renamed(quoted: string): string {
    try {
      const key = this.#keys.get(String(JSON.parse(quoted)));
      return key === undefined ? quoted : JSON.stringify(key);
    } catch {
      return quoted;
    }
  }
}

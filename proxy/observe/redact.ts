/**
 * Wraps a value so that it cannot be printed by accident: every sink shows `[secret]`.
 *
 * It wraps keys of clients, credentials of channels and tokens wherever they are held longer than one function call.
 * The text is in a private field, so that neither JSON, templates, `util.inspect`, spreading nor a thrown error can
 * reach it (docs/design/reliability.md Q4); only `reveal()` gives it out, and is easy to search for.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { inspect } from "node:util";

const shown = "[secret]";

export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself: only for the header of the one request that needs it. */
  reveal(): string {
    return this.#text;
  }

  /** Compares in constant time. */
  equals(other: Secret): boolean {
    return timingSafeEqual(
      createHash("sha256").update(this.#text).digest(),
      createHash("sha256").update(other.#text).digest(),
    );
  }

  /** First 12 hex digits of the SHA-256: tells two secrets apart without showing either. */
  fingerprint(): string {
    return fingerprint(this.#text);
  }

  toString(): string {
    return shown;
  }

  toJSON(): string {
    return shown;
  }

  [Symbol.toPrimitive](): string {
    return shown;
  }

  [inspect.custom](): string {
    return shown;
  }

  get [Symbol.toStringTag](): string {
    return "Secret";
  }
}

/** First 12 hex digits of the SHA-256 of a secret text, as status and debug pages show it. */
export function fingerprint(secret: string): string {
  return createHash("sha256").update(secret).digest("hex").slice(0, 12);
}

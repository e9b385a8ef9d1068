/**
 * Collects what an upstream produced, for an estimate where its own usage is absent (docs/design/reliability.md H2).
 */

export interface Produced {
  /** Text, reasoning and tool arguments. */
  readonly text: string;
  /** Tokens of pictures and of sound, by what providers usually count for them. */
  readonly imageTokens: number;
  readonly audioTokens: number;
}

export const nothingProduced: Produced = { text: "", imageTokens: 0, audioTokens: 0 };

/** What Gemini counts for one picture, and nearly what others do for one of 1024 x 1024. */
const imageTokensEach = 1_290;
/** 32 tokens are a second, which is 48,000 bytes of the usual 24 kHz and 16 bit: 64,000 characters of base64. */
const audioCharactersPerToken = 2_000;
/**
 * Some 250,000 tokens; with the blocks kept, within the 2 MiB that a stream may cost (docs/design/reliability.md G10).
 */
const charactersMax = 1024 * 1024;

/** Bounded: what lies beyond is more than any model produces in one reply. */
export class ProducedOutput {
  readonly #parts: string[] = [];
  #length = 0;
  readonly #imageIds = new Set<unknown>();
  #images = 0;
  #audioCharacters = 0;

  add(text: unknown): void {
    if (typeof text !== "string" || text === "" || this.#length > charactersMax) return;
    this.#parts.push(text);
    this.#length += text.length;
  }

  /** @param id by which a picture that is told of twice is one */
  addImage(id?: unknown): void {
    if (id !== undefined && this.#imageIds.has(id)) return;
    if (id !== undefined) this.#imageIds.add(id);
    this.#images += 1;
  }

  /** @param base64 the next piece of sound; anything else is none */
  addAudio(base64: unknown): void {
    if (typeof base64 === "string") this.#audioCharacters += base64.length;
  }

  /** The output so far: its text, and tokens of pictures and sound by estimate. */
  summary(): Produced {
    return {
      text: this.#parts.join(""),
      imageTokens: this.#images * imageTokensEach,
      audioTokens: Math.ceil(this.#audioCharacters / audioCharactersPerToken),
    };
  }
}

export function isNothing({ text, imageTokens, audioTokens }: Produced): boolean {
  return text === "" && imageTokens === 0 && audioTokens === 0;
}

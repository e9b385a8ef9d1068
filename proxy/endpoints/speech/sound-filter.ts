/**
 * Filters the bytes of an upstream that sends sound.
 *
 * They have no terminator of their own: only the end of the upstream's body, as HTTP frames it, makes them whole. Text in
 * place of sound never passes, whatever it is labelled: an error would else be saved as a recording (docs/design/audio.md 2).
 */
import { nothingProduced, type Produced } from "#proxy/formats/stream/produced";
import type { SoundFraming, SoundMeter, SoundStream } from "./sound-stream.ts";

/** So many printable characters at the start are text: no container begins so, and no samples do. */
const textBytes = 16;
const noBytes: readonly Buffer[] = [];

export class SoundFilter implements SoundStream {
  readonly error = undefined;
  readonly usage = undefined;
  readonly #framing: SoundFraming;
  readonly #meter: SoundMeter;
  #start: Buffer | undefined = Buffer.alloc(0);
  #events = 0;
  #isComplete = false;
  #violation: string | undefined;

  constructor(framing: SoundFraming, meter: SoundMeter) {
    this.#framing = framing;
    this.#meter = meter;
  }

  get events(): number {
    return this.#events;
  }

  get position(): string {
    return `byte ${this.#meter.bytes}`;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  get violation(): string | undefined {
    return this.#violation;
  }

  get heldBytes(): number {
    return this.#meter.heldBytes;
  }

  get hasContent(): boolean {
    return this.#meter.bytes > 0;
  }

  get soundBytes(): number {
    return this.#meter.bytes;
  }

  measured(): number | undefined {
    return this.#meter.measured();
  }

  produced(): Produced {
    return nothingProduced;
  }

  push(chunk: Buffer): readonly Buffer[] {
    this.#events += 1;
    if (this.#violation !== undefined || chunk.length === 0) return noBytes;
    if (this.#start === undefined) return this.#pass(chunk);
    this.#start = this.#start.length === 0 ? chunk : Buffer.concat([this.#start, chunk]);
    return this.#start.length < textBytes ? noBytes : this.#begin(this.#start);
  }

  end(): readonly Buffer[] {
    const begun = this.#start === undefined || this.#start.length === 0 ? noBytes : this.#begin(this.#start);
    if (this.#violation !== undefined || this.#meter.bytes === 0) return noBytes;
    this.#isComplete = true;
    const { last } = this.#framing;
    return last === undefined ? begun : [...begun, last];
  }

  #begin(start: Buffer): readonly Buffer[] {
    this.#start = undefined;
    if (isText(start.subarray(0, textBytes))) {
      this.#violation = `expected sound, got ${start.length} characters of text`;
      return noBytes;
    }
    return this.#pass(start);
  }

  #pass(sound: Buffer): readonly Buffer[] {
    this.#meter.add(sound);
    return [this.#framing.write(sound)];
  }
}

function isText(bytes: Buffer): boolean {
  return bytes.every((byte) => (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d);
}

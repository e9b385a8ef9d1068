/**
 * Describes sound that passes as it comes, framed as the client reads it: bytes, or events that hold bytes. How long it is can
 * be told by what has passed.
 */
import type { ReplyReading, StreamFilter } from "#proxy/formats/format";
import { type MeasuredSound, soundStartBytes } from "#proxy/settle/sound-length";
import { encodeEvent } from "#proxy/sse/encoder";

/** A stream of which the sound itself is known as far as it came. */
export interface SoundStream extends StreamFilter {
  /** How much of it came; 0 too where it was not looked for. */
  readonly soundBytes: number;
  readonly sound: MeasuredSound;
}

export function isSoundStream(reply: StreamFilter | ReplyReading): reply is SoundStream {
  return "soundBytes" in reply;
}

/** Counts the bytes of a sound, and keeps its start where its length is asked for. */
export class SoundMeter {
  readonly #startBytes: number;
  readonly #pieces: Buffer[] = [];
  #kept = 0;
  #bytes = 0;

  constructor(isMeasured: boolean) {
    this.#startBytes = isMeasured ? soundStartBytes : 0;
  }

  add(sound: Buffer): void {
    this.#bytes += sound.length;
    const room = this.#startBytes - this.#kept;
    if (room <= 0) return;
    const piece = sound.subarray(0, room);
    this.#pieces.push(piece);
    this.#kept += piece.length;
  }

  /** Of all sound so far. */
  get bytes(): number {
    return this.#bytes;
  }

  get heldBytes(): number {
    return this.#kept;
  }

  get sound(): MeasuredSound {
    return { start: Buffer.concat(this.#pieces), bytes: this.#bytes };
  }
}

/** How the client reads sound. */
export interface SoundFraming {
  write(sound: Buffer): Buffer;
  /** What stands behind all of it. */
  readonly last?: Buffer;
}

export const asBytes: SoundFraming = { write: (sound) => sound };

/** The upstream tells no usage with bytes, and clients expect some (openai.com API reference: speech.audio.done). */
const noUsage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };

export const asEvents: SoundFraming = {
  write: (sound) => encodeEvent(undefined, `{"type":"speech.audio.delta","audio":"${sound.toString("base64")}"}`),
  last: encodeEvent(undefined, JSON.stringify({ type: "speech.audio.done", usage: noUsage })),
};

/** The same sound in slices, for a client that reads events. */
export function eventsOfSound(sound: Buffer, usage: object): readonly Buffer[] {
  const events: Buffer[] = [];
  for (let at = 0; at < sound.length; at += soundStartBytes) {
    events.push(asEvents.write(sound.subarray(at, at + soundStartBytes)));
  }
  return [...events, encodeEvent(undefined, JSON.stringify({ type: "speech.audio.done", usage }))];
}

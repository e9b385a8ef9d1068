/**
 * Describes sound that passes as it comes, framed as the client reads it: bytes, or events that hold bytes. How long it is can
 * be told by what has passed.
 */
import type { ReplyReading, StreamFilter } from "#proxy/formats/format";
import { SoundLength } from "#proxy/settle/sound/sound-length";
import { encodeEvent } from "#proxy/sse/encoder";

/** A stream of which the sound itself is known as far as it came. */
export interface SoundStream extends StreamFilter {
  /** Bytes of sound that came; by the size of the events, where these were not read. */
  readonly soundBytes: number;
  /** How long the sound is, once nothing more comes; undefined where its bytes do not tell, or were not looked at. */
  measured(): number | undefined;
}

export function isSoundStream(reply: StreamFilter | ReplyReading): reply is SoundStream {
  return "soundBytes" in reply;
}

/** Counts the bytes of a sound, and measures it where its length is asked for. */
export class SoundMeter {
  readonly #length: SoundLength | undefined;
  #bytes = 0;

  constructor(isMeasured: boolean) {
    this.#length = isMeasured ? new SoundLength() : undefined;
  }

  add(sound: Buffer): void {
    this.#bytes += sound.length;
    this.#length?.push(sound);
  }

  /** Counts sound that is not looked at. */
  addUnseen(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Of all sound so far. */
  get bytes(): number {
    return this.#bytes;
  }

  get heldBytes(): number {
    return this.#length?.heldBytes ?? 0;
  }

  /** As of `SoundStream`. */
  measured(): number | undefined {
    return this.#length?.end();
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

/** Sound of one event, where a whole one is cut into events. */
const eventSoundBytes = 64 * 1024;

/** The same sound in slices, for a client that reads events. */
export function eventsOfSound(sound: Buffer, usage: object): readonly Buffer[] {
  const events: Buffer[] = [];
  for (let at = 0; at < sound.length; at += eventSoundBytes) {
    events.push(asEvents.write(sound.subarray(at, at + eventSoundBytes)));
  }
  return [...events, encodeEvent(undefined, JSON.stringify({ type: "speech.audio.done", usage }))];
}

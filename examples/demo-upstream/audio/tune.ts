/** Turns a text into a tune: each letter a short note, higher towards the end of the alphabet; everything else a rest. */
import { bytesPerSample, sampleRate } from "./wav.ts";

const noteSeconds = 0.05;
const loudness = 0.25;
const lowestHertz = 220;
/** The tune ends then, wherever the text is. */
const tuneSecondsMax = 180;

/**
 * @param speed 2: twice as fast
 * @returns little-endian samples of 16 bits, one channel, at `sampleRate`
 */
export function tuneOf(text: string, speed: number): Buffer {
  const charactersMax = Math.floor((tuneSecondsMax * speed) / noteSeconds);
  const characters = [...text.slice(0, charactersMax).normalize("NFD").toLowerCase()].slice(0, charactersMax);
  const samples = Math.max(1, Math.round((noteSeconds * sampleRate) / speed));
  const pcm = Buffer.alloc(characters.length * samples * bytesPerSample);
  for (const [place, character] of characters.entries()) {
    const hertz = pitchOf(character);
    if (hertz === undefined) continue;
    for (let sample = 0; sample < samples; sample += 1) {
      // Each note swells and fades, so that none begins with a click.
      const swell = Math.sin((Math.PI * sample) / samples);
      const wave = Math.sin((2 * Math.PI * hertz * sample) / sampleRate);
      pcm.writeInt16LE(Math.round(32_767 * loudness * swell * wave), (place * samples + sample) * bytesPerSample);
    }
  }
  return pcm;
}

/** A semitone a letter or digit; letters beyond `a` to `z` by what is left of their number. */
function pitchOf(character: string): number | undefined {
  if (!/[\p{L}\p{N}]/u.test(character)) return undefined;
  const step = ((character.codePointAt(0) ?? 0) + 8) % 26;
  return lowestHertz * 2 ** (step / 12);
}

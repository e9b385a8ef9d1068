/**
 * Estimates how long a text takes to be spoken, and its tokens: reserved before the call, and charged where neither the
 * upstream nor the sound tells (docs/design/audio.md 5). Pure.
 */
import type { SpeechCall } from "./read-speech.ts";

/**
 * A byte of UTF-8, at the usual speed. English has about 14 letters a second, of one byte each; Chinese 4 or 5 signs, of
 * three bytes each: by the byte both take about as long.
 */
const millisecondsPerByte = 72;
/** Slow speakers, and digits that are read as words. */
const slowness = 4;
/** Silence around the shortest text. */
const leastMilliseconds = 1_000;
/** Google counts as many for a second that is spoken (https://ai.google.dev/gemini-api/docs/pricing); OpenAI some 21. */
const tokensPerSecond = 25;

type SpokenText = Pick<SpeechCall, "input" | "speed">;

/** How long the text most likely takes. */
export function likelyMilliseconds({ input, speed }: SpokenText): number {
  return Math.ceil(Math.max(leastMilliseconds, (Buffer.byteLength(input) * millisecondsPerByte) / speed));
}

/** How long it may take at most. */
export function reservedMilliseconds(text: SpokenText): number {
  return leastMilliseconds + slowness * likelyMilliseconds(text);
}

/** Output tokens of so much sound. */
export function tokensOfSound(milliseconds: number): number {
  return Math.ceil((milliseconds * tokensPerSecond) / 1_000);
}

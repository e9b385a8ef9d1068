/**
 * Collects what a response has said so far (PURE), for the case that it breaks off and nobody counts it: text by its words,
 * audio by its length.
 */
import { asText, memberAt, parseJson } from "#proxy/json/json-value";
import { audioTokens } from "./conversation-size.ts";

/** Events whose `delta` is text that the model wrote; those of the beta interface among them. */
const textDeltas: ReadonlySet<string> = new Set([
  "response.output_text.delta",
  "response.text.delta",
  "response.output_audio_transcript.delta",
  "response.audio_transcript.delta",
  "response.function_call_arguments.delta",
]);
const audioDeltas: ReadonlySet<string> = new Set(["response.output_audio.delta", "response.audio.delta"]);
/** Ids and names around the audio of an event. */
const audioFrameBytes = 200;
/** More than any model says in one response; what is beyond is counted by its length. */
const textLengthMax = 1024 * 1024;

export function isDelta(type: string): boolean {
  return textDeltas.has(type) || audioDeltas.has(type);
}

export class ProducedOutput {
  #text = "";
  #beyondBytes = 0;
  #audioLength = 0;

  /** One event of `isDelta`. */
  add(type: string, event: Buffer): void {
    if (audioDeltas.has(type)) this.#audioLength += Math.max(4, event.length - audioFrameBytes);
    else if (this.#text.length > textLengthMax) this.#beyondBytes += event.length;
    else this.#text += asText(memberAt(parseJson(event.toString()), "delta"));
  }

  get isNothing(): boolean {
    return this.#text === "" && this.#audioLength === 0;
  }

  /** @param bytesPerSecond of the session's output @param tokensOf counts tokens of text */
  async tokens(
    bytesPerSecond: number,
    tokensOf: (text: string) => Promise<number>,
  ): Promise<{ readonly output: number; readonly audioOutput: number }> {
    const audioOutput = audioTokens(this.#audioLength, bytesPerSecond, true);
    if (this.#text === "") return { output: 0, audioOutput };
    return { output: (await tokensOf(this.#text)) + Math.ceil(this.#beyondBytes / 4), audioOutput };
  }
}

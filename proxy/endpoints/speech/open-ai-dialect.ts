/** Passes calls of `/v1/audio/speech` on to upstreams that serve the same. */
import type { Dialect } from "#proxy/endpoints/dialects/dialect";
import { editJsonBody } from "#proxy/endpoints/dialects/edit-json-body";
import type { SpeechCall } from "./read-speech.ts";
import { SoundReader, type SoundReading } from "./sound-reader.ts";

export function openAISpeech(reading: SoundReading): Dialect<SpeechCall> {
  return {
    write: ({ body }, plan) => ({ ...editJsonBody(body, "Speech", plan), accepts: "bytes" }),
    reader: (call) => new SoundReader(call, reading),
  };
}

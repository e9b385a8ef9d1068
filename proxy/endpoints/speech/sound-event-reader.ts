/** Reads the events of an upstream that sends sound in them: the last one says that it is whole, and what it used. */
import { speechUsage } from "#proxy/endpoints/dialects/audio-usage";
import { classifyErrorEvent, holdsError } from "#proxy/formats/classify-error";
import type { EventReader, ReadEvent, StreamState } from "#proxy/formats/stream/event-stream-filter";
import { nothingProduced, type Produced } from "#proxy/formats/stream/produced";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import type { TokenUsage } from "#proxy/settle/usage";

const lastType = "speech.audio.done";

export class SoundEventReader implements EventReader {
  readonly terminatorText = "[DONE]";
  /** That of errors without a quote before it: the name of an event has none. */
  readonly markers: readonly Buffer[] = [Buffer.from(lastType), Buffer.from("rror")];
  readonly wantsEvery: boolean;
  readonly #onEach: ((event: JsonObject) => void) | undefined;
  #usage: TokenUsage | undefined;

  /** @param onEach is shown every event before it passes. Absent: only the last one is parsed */
  constructor(onEach: ((event: JsonObject) => void) | undefined) {
    this.#onEach = onEach;
    this.wantsEvery = onEach !== undefined;
  }

  get usage(): TokenUsage | undefined {
    return this.#usage;
  }

  read({ json, data, bytes }: ReadEvent, state: StreamState): Buffer | undefined {
    if (data === this.terminatorText) return undefined;
    if (!isObject(json)) return bytes;
    if (holdsError(json)) {
      state.error = classifyErrorEvent(json);
      return undefined;
    }
    this.#onEach?.(json);
    state.hasContent = true;
    if (json["type"] !== lastType) return bytes;
    this.#usage = speechUsage(json["usage"]);
    state.isComplete = true;
    return bytes;
  }

  /** Without its last event no sound is whole. */
  end(): undefined {}

  produced(): Produced {
    return nothingProduced;
  }
}

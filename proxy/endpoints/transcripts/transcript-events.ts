/**
 * Filters the stream of a transcript. Servers of this format end it in three ways, told apart by what is on the wire:
 *
 * | Server | Pieces of text | End | Usage |
 * | --- | --- | --- | --- |
 * | OpenAI | `transcript.text.delta` | `transcript.text.done` | of the end |
 * | vLLM | objects `transcription.chunk`, `translation.chunk` | `[DONE]` | of the last chunk, where it was asked for |
 * | Mistral | `transcription.text.delta` | `transcription.done` | of the end |
 *
 * Bytes of the first two pass as they are. Mistral's events become OpenAI's, which the official SDKs know.
 */
import { heardMilliseconds, transcriptUsage } from "#proxy/endpoints/dialects/audio-usage";
import { classifyErrorEvent, holdsError } from "#proxy/formats/classify-error";
import type { StreamFilter } from "#proxy/formats/format";
import {
  type EventReader,
  EventStreamFilter,
  type ReadEvent,
  type StreamState,
} from "#proxy/formats/stream/event-stream-filter";
import { type Produced, ProducedOutput } from "#proxy/formats/stream/produced";
import { asList, asText, isObject, type JsonObject, member, memberAt } from "#proxy/json/json-value";
import type { ChargedUnits } from "#proxy/settle/price";
import type { TokenUsage } from "#proxy/settle/usage";
import { encodeEvent } from "#proxy/sse/encoder";
import { EventSplitter } from "#proxy/sse/event-splitter";
import { openAIEventOf } from "./mistral-events.ts";

export function transcriptFilter(eventBytesMax: number): StreamFilter {
  return new EventStreamFilter(new TranscriptEventReader(), new EventSplitter(eventBytesMax));
}

const chunks: ReadonlySet<unknown> = new Set(["transcription.chunk", "translation.chunk"]);

class TranscriptEventReader implements EventReader {
  readonly terminatorText = "[DONE]";
  /** OpenAI's pieces of text pass unread. The last is that of errors: without a quote, for the name of an event has none. */
  readonly markers: readonly Buffer[] = [
    "transcript.text.done",
    "transcription.",
    "translation.",
    this.terminatorText,
    "rror",
  ].map((text) => Buffer.from(text));
  readonly wantsEvery = false;
  readonly #produced = new ProducedOutput();
  #usage: TokenUsage | undefined;
  #units: ChargedUnits | undefined;
  #isChunked = false;
  #segments = 0;

  get usage(): TokenUsage | undefined {
    return this.#usage;
  }

  get units(): ChargedUnits | undefined {
    return this.#units;
  }

  read({ json, data, bytes }: ReadEvent, state: StreamState): Buffer | undefined {
    if (data === this.terminatorText) {
      if (this.#isChunked) state.isComplete = true;
      return this.#isChunked ? bytes : undefined;
    }
    if (!isObject(json)) return bytes;
    this.#noteUsage(json);
    if (holdsError(json)) {
      state.error = classifyErrorEvent(json);
      return undefined;
    }
    state.hasContent = true;
    if (chunks.has(json["object"])) this.#isChunked = true;
    if (json["type"] === "transcript.text.done") state.isComplete = true;
    return this.#translate(json, bytes, state);
  }

  #noteUsage(event: JsonObject): void {
    this.#usage = transcriptUsage(event["usage"]) ?? this.#usage;
    this.#units = unitsOf(event) ?? this.#units;
  }

  #translate(event: JsonObject, bytes: Buffer, state: StreamState): Buffer | undefined {
    const translated = openAIEventOf(event, this.#segments);
    if (translated === "own") return bytes;
    if (event["type"] === "transcription.done") state.isComplete = true;
    if (event["type"] === "transcription.segment") this.#segments += 1;
    return translated === undefined ? undefined : encodeEvent(undefined, JSON.stringify(translated));
  }

  /** Without its last event no transcript is whole. */
  end(): undefined {}

  visit(event: unknown): void {
    const isOwn = member(event, "type") === "transcript.text.delta";
    if (isOwn || member(event, "type") === "transcription.text.delta") {
      this.#produced.add(member(event, isOwn ? "delta" : "text"));
    }
    for (const choice of asList(member(event, "choices")))
      this.#produced.add(asText(memberAt(choice, "delta", "content")));
  }

  produced(): Produced {
    return this.#produced.summary();
  }
}

/** What a reply or the end of a stream says is charged by the piece. */
export function unitsOf(reply: unknown): ChargedUnits | undefined {
  const audioMilliseconds = heardMilliseconds(reply);
  return audioMilliseconds === undefined ? undefined : { audioMilliseconds };
}

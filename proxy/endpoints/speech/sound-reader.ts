/** Reads the reply to a call of speech: bytes or events, told apart by the content type before the first of them passes. */
import { tellsError } from "#proxy/endpoints/dialects/error-members";
import { classifyErrorEvent } from "#proxy/formats/classify-error";
import type { ReplyReading, StreamFilter } from "#proxy/formats/format";
import { nothingProduced } from "#proxy/formats/stream/produced";
import { isObject, parseJson } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import type { ReplyBridge } from "#proxy/translate/reply-bridge";
import type { JudgedReply, ReplyReader } from "#proxy/upstream/reply/reply-reader";
import type { SpeechCall } from "./read-speech.ts";
import { SoundEventFilter } from "./sound-event-filter.ts";
import { SoundFilter } from "./sound-filter.ts";
import { asBytes, asEvents, SoundMeter } from "./sound-stream.ts";
import { kindOfReply, namedSoundType, typeOfFormat } from "./sound-types.ts";

export interface SoundReading {
  readonly eventBytesMax: number;
  /** The length of the sound is charged: it is read out of events. That of bytes is measured in any case. */
  readonly isMeasured: boolean;
}

export class SoundReader implements ReplyReader {
  readonly isBridged = true;
  readonly contentType: string;
  readonly #call: SpeechCall;
  readonly #reading: SoundReading;

  constructor(call: SpeechCall, reading: SoundReading) {
    this.#call = call;
    this.#reading = reading;
    this.contentType = typeOfFormat(call.format);
  }

  judge(contentType: string): JudgedReply {
    const { wantsEvents } = this.#call;
    switch (kindOfReply(contentType)) {
      case "sound":
        return {
          streams: streamsOf(() => new SoundFilter(wantsEvents ? asEvents : asBytes, this.#createMeter(true))),
          isOpaque: true,
          responseType: wantsEvents ? undefined : namedSoundType(contentType),
        };
      case "events":
        return { streams: streamsOf(() => this.#createEventFilter()), isOpaque: !wantsEvents };
      case "other":
        return this.#isJsonWanted ? { responseType: "application/json" } : {};
    }
  }

  /** A vendor's format of that name: the sound in one object, with what the vendor says of it. */
  get #isJsonWanted(): boolean {
    return this.#call.format === "json" && !this.#call.wantsEvents;
  }

  /** Of bare samples the bytes tell all. */
  #createMeter(isSeen: boolean): SoundMeter {
    return new SoundMeter(isSeen && this.#call.format !== "pcm");
  }

  #createEventFilter(): StreamFilter {
    const isUnwrapped = !this.#call.wantsEvents;
    const { isMeasured } = this.#reading;
    return new SoundEventFilter(this.#createMeter(isMeasured || isUnwrapped), { ...this.#reading, isUnwrapped });
  }

  /** @throws InvalidReply for what is neither an error nor the JSON that was asked for */
  readReply(body: Buffer): ReplyReading {
    const json = parseJson(body.toString("utf8"));
    if (!isObject(json)) throw new InvalidReply("the reply is no sound");
    const isError = tellsError(json);
    if (!isError && !this.#isJsonWanted) throw new InvalidReply("the reply is no sound");
    return { usage: undefined, error: isError ? classifyErrorEvent(json) : undefined, produced: () => nothingProduced };
  }

  bridge(): ReplyBridge {
    return {
      readReply: (body) => this.readReply(body),
      translateReply: (body) => ({ body, lost: [] }),
      streamOfReply: (body) => [body],
    };
  }
}

function streamsOf(createFilter: () => StreamFilter): NonNullable<JudgedReply["streams"]> {
  return { createFilter, createOwnFilter: createFilter };
}

/** Reads the reply to a call for a transcript: JSON, text in lines, or events. */
import { transcriptUsage } from "#proxy/endpoints/dialects/audio-usage";
import { tellsError } from "#proxy/endpoints/dialects/error-members";
import { classifyErrorEvent } from "#proxy/formats/classify-error";
import type { ReplyReading, StreamFilter, UpstreamError } from "#proxy/formats/format";
import { nothingProduced, type Produced } from "#proxy/formats/stream/produced";
import { asList, asText, member, parseJson } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import { encodeEvent } from "#proxy/sse/encoder";
import type { ReplyBridge } from "#proxy/translate/reply-bridge";
import type { JudgedReply, ReplyReader } from "#proxy/upstream/reply/reply-reader";
import type { TranscriptCall } from "./read-transcript.ts";
import { transcriptFilter, unitsOf } from "./transcript-events.ts";
import { isTextFormat, isTranscript, isTranscriptText, namedTextType, typeOfTranscript } from "./transcript-formats.ts";

export class TranscriptReader implements ReplyReader {
  /** For a client that streams a reply that did not; else the body passes as it is. */
  readonly isBridged = false;
  readonly #call: TranscriptCall;
  readonly #eventBytesMax: number;
  #contentType = "";

  constructor(call: TranscriptCall, eventBytesMax: number) {
    this.#call = call;
    this.#eventBytesMax = eventBytesMax;
  }

  get contentType(): string {
    return typeOfTranscript(this.#call.format);
  }

  /** Older models know no stream, and reply as a whole to a call for one. */
  judge(contentType: string): JudgedReply {
    this.#contentType = contentType.trim().toLowerCase();
    const { stream, format } = this.#call;
    if (!stream) return { responseType: isTextFormat(format) ? namedTextType(contentType) : undefined };
    if (!this.#contentType.startsWith("text/event-stream")) return {};
    const createFilter = (): StreamFilter => transcriptFilter(this.#eventBytesMax);
    return { streams: { createFilter, createOwnFilter: createFilter } };
  }

  /** @throws InvalidReply for what is neither a transcript nor an error */
  readReply(body: Buffer): ReplyReading {
    const text = body.toString("utf8");
    const json = parseJson(text);
    const error = errorOf(json);
    if (error === undefined) this.#check(text, json);
    const usage = transcriptUsage(member(json, "usage"));
    const produced = (): Produced => ({ ...nothingProduced, text: textOf(json) ?? text });
    return { usage, units: unitsOf(json), error, produced };
  }

  #check(text: string, json: unknown): void {
    const { format } = this.#call;
    const isWhole = isTextFormat(format) ? isTranscriptText(text, format) : isTranscript(json);
    if (!isWhole || this.#contentType.startsWith("text/html")) throw new InvalidReply("the reply is no transcript");
  }

  bridge(): ReplyBridge {
    return {
      readReply: (body) => this.readReply(body),
      translateReply: (body) => ({ body, lost: [] }),
      streamOfReply: (body) => eventsOf(body, this.#call.format),
    };
  }
}

/** What a transcript in JSON says; undefined for what is none. */
function textOf(json: unknown): string | undefined {
  if (!isTranscript(json)) return undefined;
  const { text } = json;
  return typeof text === "string"
    ? text
    : asList(json["segments"])
        .map((one) => asText(member(one, "text")))
        .join("");
}

function errorOf(json: unknown): UpstreamError | undefined {
  return isTranscript(json) || !tellsError(json) ? undefined : classifyErrorEvent(json);
}

/** A whole transcript as the stream that was asked for. */
function eventsOf(body: Buffer, format: string): readonly Buffer[] {
  const json = isTextFormat(format) ? undefined : parseJson(body.toString("utf8"));
  const text = textOf(json) ?? body.toString("utf8");
  const usage = member(json, "usage");
  const done = { type: "transcript.text.done", text, ...(usage === undefined ? {} : { usage }) };
  return [
    encodeEvent(undefined, JSON.stringify({ type: "transcript.text.delta", delta: text })),
    encodeEvent(undefined, JSON.stringify(done)),
  ];
}

/**
 * Reads the reply of a Gemini-style model that speaks: bare samples in one object (docs/design/audio.md 3). They go on as `pcm`,
 * or as `wav` with a header before them.
 */
import { classifyErrorEvent } from "#proxy/formats/classify-error";
import type { ReplyReading } from "#proxy/formats/format";
import { blockReasonOf } from "#proxy/formats/generate-content/native/block-reason";
import { generateContentUpstream } from "#proxy/formats/generate-content/native/upstream-format";
import { readFinish } from "#proxy/formats/generate-content/translate/reply/finish-reasons";
import { asList, asText, member, memberAt, parseJson } from "#proxy/json/json-value";
import { type Samples, samplesOf, wavHeader } from "#proxy/neutral/media/wav-file";
import { InvalidReply } from "#proxy/neutral/reply";
import { samplesMilliseconds } from "#proxy/settle/sound/sound-length";
import { inputTokens, outputTokens, type TokenUsage } from "#proxy/settle/usage";
import type { ReplyBridge, WholeReply } from "#proxy/translate/reply-bridge";
import type { JudgedReply, ReplyReader } from "#proxy/upstream/reply/reply-reader";
import type { SpeechCall } from "./read-speech.ts";
import { eventsOfSound } from "./sound-stream.ts";
import { typeOfFormat } from "./sound-types.ts";

interface Spoken {
  readonly samples: Samples;
  readonly usage: TokenUsage | undefined;
}

export class GeminiSpeechReader implements ReplyReader, ReplyBridge {
  readonly contentType = "application/json";
  readonly isBridged = true;
  readonly #call: SpeechCall;
  /** The reply that was read last: its sound is decoded once. */
  #last: { readonly body: Buffer; readonly spoken: Spoken } | undefined;

  constructor(call: SpeechCall) {
    this.#call = call;
  }

  /** Where the client names no format, it gets what needs no decoder and says what it is. */
  get #format(): string {
    return this.#call.format ?? "wav";
  }

  judge(): JudgedReply {
    return this.#call.wantsEvents ? {} : { responseType: typeOfFormat(this.#format) };
  }

  bridge(): ReplyBridge {
    return this;
  }

  /** @throws InvalidReply for what holds no whole sound and is no error */
  readReply(body: Buffer): ReplyReading {
    const json = parseJson(body.toString("utf8"));
    const reading = generateContentUpstream.readReply(body, json);
    if (reading.error !== undefined) return reading;
    const [candidate] = asList(member(json, "candidates"));
    const refusal = blockReasonOf(json) ?? endOf(candidate);
    if (refusal !== undefined) return { ...reading, error: refusedText(refusal) };
    const samples = soundOf(candidate);
    if (samples === undefined) throw new InvalidReply("the reply holds no sound");
    const usage = usageOf(reading.usage, json);
    this.#last = { body, spoken: { samples, usage } };
    return { ...reading, usage, units: { audioMilliseconds: samplesMilliseconds(samples.bytes.length, samples.rate) } };
  }

  translateReply(body: Buffer): WholeReply {
    return { body: Buffer.concat(this.#write(body)), lost: [] };
  }

  streamOfReply(body: Buffer): readonly Buffer[] {
    return this.#write(body);
  }

  #write(body: Buffer): readonly Buffer[] {
    if (this.#last?.body !== body) this.readReply(body);
    if (this.#last === undefined) throw new InvalidReply("the reply holds no sound");
    const { samples, usage } = this.#last.spoken;
    const sound = this.#format === "wav" ? [wavHeader(samples), samples.bytes] : [samples.bytes];
    if (!this.#call.wantsEvents) return sound;
    const [input, output] = usage === undefined ? [0, 0] : [inputTokens(usage), outputTokens(usage)];
    const told = { input_tokens: input, output_tokens: output, total_tokens: input + output };
    return eventsOfSound(Buffer.concat(sound), told);
  }
}

/**
 * @returns why the provider kept the sound back; undefined where it is whole
 * @throws InvalidReply for sound that was cut: it would look whole
 */
function endOf(candidate: unknown): string | undefined {
  const word = asText(member(candidate, "finishReason"));
  if (word === "") return undefined;
  const { reason } = readFinish(word, false, undefined);
  if (reason === "content-filter") return word;
  if (reason !== "stop") throw new InvalidReply(`the sound is not whole (${reason})`);
  return undefined;
}

/** The text itself was refused: another provider would read the same. */
function refusedText(reason: string): NonNullable<ReplyReading["error"]> {
  return classifyErrorEvent({ error: { message: `The text was refused (${reason}).`, code: "content_filter" } });
}

/** Without details the output is that of sound, which was asked for. */
function usageOf(usage: TokenUsage | undefined, reply: unknown): TokenUsage | undefined {
  const details = asList(memberAt(reply, "usageMetadata", "candidatesTokensDetails"));
  if (usage === undefined || details.length > 0) return usage;
  return { ...usage, output: 0, audioOutput: usage.audioOutput + usage.output };
}

/** All sound of a candidate; undefined where it holds none. */
function soundOf(candidate: unknown): Samples | undefined {
  const found: Samples[] = [];
  for (const part of asList(memberAt(candidate, "content", "parts"))) {
    const data = member(part, "inlineData");
    const samples = samplesOf(asText(member(data, "mimeType")), asText(member(data, "data")));
    if (samples !== undefined && samples.bytes.length > 0) found.push(samples);
  }
  const [first] = found;
  return first === undefined ? undefined : { ...first, bytes: Buffer.concat(found.map(({ bytes }) => bytes)) };
}

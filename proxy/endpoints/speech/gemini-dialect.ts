/**
 * Has a Gemini-style model speak: generateContent with sound as its modality
 * (docs/design/audio.md 3).
 *
 * It replies with bare samples in one object. They go on as `pcm`, or as `wav` with a header before them; the gateway encodes
 * no other format, so a call that asks for one is refused.
 */
import type { Dialect, WrittenCall } from "#proxy/endpoints/dialects/dialect";
import { applyPlanRules } from "#proxy/formats/body/body-rules";
import { classifyErrorEvent } from "#proxy/formats/classify-error";
import type { ReplyReading, UpstreamPlan } from "#proxy/formats/format";
import { blockReasonOf } from "#proxy/formats/generate-content/native/block-reason";
import { generateContentUpstream } from "#proxy/formats/generate-content/native/upstream-format";
import { BodyEditor } from "#proxy/json/body-editor";
import { asList, asText, member, memberAt, parseJson } from "#proxy/json/json-value";
import { scanJsonObject } from "#proxy/json/strict-json";
import { Losses } from "#proxy/neutral/losses/losses";
import { type Samples, samplesOf, wavHeader } from "#proxy/neutral/media/wav-file";
import { InvalidReply } from "#proxy/neutral/reply";
import { samplesMilliseconds } from "#proxy/settle/sound/sound-length";
import { inputTokens, outputTokens } from "#proxy/settle/usage";
import type { ReplyBridge } from "#proxy/translate/reply-bridge";
import type { JudgedReply, ReplyReader } from "#proxy/upstream/reply/reply-reader";
import type { SpeechCall } from "./read-speech.ts";
import { eventsOfSound } from "./sound-stream.ts";
import { typeOfFormat } from "./sound-types.ts";

export const geminiSpeech: Dialect<SpeechCall> = {
  write: writeCall,
  reader: (call) => new GeminiSpeechReader(call),
};

/** Members that the call to Google says in its own way. `speed` is one of them where it is the usual one. */
const saidMembers = new Set(["model", "input", "voice", "instructions", "response_format", "stream_format", "speed"]);
const writtenBounds = { depthMax: 1_000, keysMax: 1_000 };

function writeCall(call: SpeechCall, plan: UpstreamPlan): WrittenCall {
  const losses = new Losses(plan.channel.unsupportedParameters);
  if (call.upstreamObjects.length > 0) losses.refuse("voice");
  if (call.format !== undefined && call.format !== "wav" && call.format !== "pcm") {
    losses.refuse("response_format", "must be 'wav' or 'pcm' for the selected model.");
  }
  if (call.speed !== 1) losses.drop("speed");
  for (const { name, kind } of call.body.members) if (kind !== "null" && !saidMembers.has(name)) losses.drop(name);
  const isSaid = (name: string): boolean => plan.unsupported?.includes(name) !== true;
  const voice = isSaid("voice") ? call.voice : undefined;
  const style = isSaid("instructions") ? call.instructions : undefined;
  const body = {
    contents: [{ role: "user", parts: [{ text: style === undefined ? call.input : `${style}:\n${call.input}` }] }],
    generationConfig: {
      responseModalities: ["AUDIO"],
      ...(voice === undefined ? {} : { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } } }),
    },
  };
  const editor = new BodyEditor(scanJsonObject(Buffer.from(JSON.stringify(body)), writtenBounds));
  applyPlanRules(editor, plan);
  return { body: editor.build(), dropped: losses.dropped, verb: "generateContent", isStream: false };
}

class GeminiSpeechReader implements ReplyReader {
  readonly contentType = "application/json";
  readonly isBridged = true;
  readonly #call: SpeechCall;

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

  readReply(body: Buffer): ReplyReading {
    const json = parseJson(body.toString("utf8"));
    const reading = generateContentUpstream.readReply(body, json);
    if (reading.error !== undefined) return reading;
    const blocked = blockReasonOf(json);
    if (blocked !== undefined) return { ...reading, error: refusedPrompt(blocked) };
    const samples = soundOf(json);
    if (samples === undefined) return reading;
    return { ...reading, units: { audioMilliseconds: samplesMilliseconds(samples.bytes.length, samples.rate) } };
  }

  bridge(): ReplyBridge {
    return {
      readReply: (body) => this.readReply(body),
      translateReply: (body) => ({ body: Buffer.concat(this.#write(body)), lost: [] }),
      streamOfReply: (body) => this.#write(body),
    };
  }

  #write(body: Buffer): readonly Buffer[] {
    const json = parseJson(body.toString("utf8"));
    const samples = soundOf(json);
    if (samples === undefined) throw new InvalidReply("the reply holds no sound");
    const sound = this.#format === "wav" ? [wavHeader(samples), samples.bytes] : [samples.bytes];
    if (!this.#call.wantsEvents) return sound;
    const { usage } = generateContentUpstream.readReply(body, json);
    const [input, output] = usage === undefined ? [0, 0] : [inputTokens(usage), outputTokens(usage)];
    const told = { input_tokens: input, output_tokens: output, total_tokens: input + output };
    return eventsOfSound(Buffer.concat(sound), told);
  }
}

/** The prompt itself was refused: another provider would read the same text. */
function refusedPrompt(reason: string): NonNullable<ReplyReading["error"]> {
  return classifyErrorEvent({ error: { message: `The text was refused (${reason}).`, code: "content_filter" } });
}

/** All sound of the first candidate; undefined where it holds none. */
function soundOf(reply: unknown): Samples | undefined {
  const [candidate] = asList(member(reply, "candidates"));
  const found: Samples[] = [];
  for (const part of asList(memberAt(candidate, "content", "parts"))) {
    const data = member(part, "inlineData");
    const samples = samplesOf(asText(member(data, "mimeType")), asText(member(data, "data")));
    if (samples !== undefined && samples.bytes.length > 0) found.push(samples);
  }
  const [first] = found;
  return first === undefined ? undefined : { ...first, bytes: Buffer.concat(found.map(({ bytes }) => bytes)) };
}

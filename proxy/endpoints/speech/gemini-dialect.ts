/**
 * Has a Gemini-style model speak: generateContent with sound as its modality
 * (docs/design/audio.md 3).
 *
 * The gateway encodes no sound: a call that asks for another format than `gemini-reader.ts` can give is refused.
 */
import type { Dialect, WrittenCall } from "#proxy/endpoints/dialects/dialect";
import { applyPlanRules } from "#proxy/formats/body/body-rules";
import type { UpstreamPlan } from "#proxy/formats/format";
import { BodyEditor } from "#proxy/json/body-editor";
import { scanJsonObject } from "#proxy/json/strict-json";
import { Losses } from "#proxy/neutral/losses/losses";
import { GeminiSpeechReader } from "./gemini-reader.ts";
import type { SpeechCall } from "./read-speech.ts";

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

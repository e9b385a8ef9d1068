/** `POST /v1/audio/transcriptions` and `/v1/audio/translations`: say how much was heard, in each of the formats. */
import { writeError } from "#examples/demo-upstream/chat-completions";
import {
  type DemoCall,
  type DemoEndpoint,
  type DemoReply,
  eventsReply,
  jsonReply,
} from "#examples/demo-upstream/endpoint";
import { BadRequest } from "#examples/demo-upstream/format";
import { choice, isOn } from "#examples/demo-upstream/http/read-option";
import { text } from "#examples/demo-upstream/json-view";
import { secondsOfWav } from "./wav.ts";

type Task = "transcribe" | "translate";

interface Transcript {
  readonly task: Task;
  readonly text: string;
  readonly seconds: number;
  readonly language: string;
}

const plainFormats = ["json", "text", "srt", "vtt", "verbose_json"] as const;
const audioTokensPerSecond = 10;
/** For a file whose length is not told by its header: that of speech at 32 kbit/s. */
const usualBytesPerSecond = 4000;

export const transcriptions: DemoEndpoint = {
  path: /^\/v1\/audio\/transcriptions$/,
  keyHeader: "bearer",
  writeError,
  reply: (call) => {
    const format = choice(call.body, "response_format", [...plainFormats, "diarized_json"], "json");
    const transcript = hear(call, "transcribe");
    // As at OpenAI, whisper-1 does not stream.
    const streams = isOn(call.body, "stream") && !isWhisper(call);
    return streams ? writeStream(transcript) : writeTranscript(transcript, format, isWhisper(call));
  },
};

export const translations: DemoEndpoint = {
  path: /^\/v1\/audio\/translations$/,
  keyHeader: "bearer",
  writeError,
  reply: (call) => {
    const format = choice(call.body, "response_format", plainFormats, "json");
    return writeTranscript(hear(call, "translate"), format, isWhisper(call));
  },
};

function isWhisper({ model }: DemoCall): boolean {
  return model?.startsWith("whisper") === true;
}

function hear({ body, files, model }: DemoCall, task: Task): Transcript {
  if (model === undefined) throw new BadRequest("model", "you must provide a model parameter");
  const file = files.find(({ field }) => field === "file");
  if (file === undefined) throw new BadRequest("file", "Missing required parameter: 'file'.");
  const told = secondsOfWav(file.bytes);
  const seconds = told ?? file.bytes.length / usualBytesPerSecond;
  const heard = told === undefined ? "a recording" : `${told.toFixed(1)} seconds`;
  const prompt = text(body["prompt"]);
  return {
    task,
    seconds,
    language: text(body["language"]) ?? "english",
    text: `The demo upstream heard ${heard} in ${file.bytes.length} bytes of ${file.contentType}.${
      prompt === undefined ? "" : ` The prompt was: ${prompt}`
    }`,
  };
}

type Format = (typeof plainFormats)[number] | "diarized_json";

function writeTranscript(transcript: Transcript, format: Format, isWhisper: boolean): DemoReply {
  const { task, seconds, language } = transcript;
  const byDuration = { type: "duration", seconds: Math.ceil(seconds) };
  const plain = (body: string): DemoReply => ({ kind: "whole", contentType: "text/plain; charset=utf-8", body });
  const end = timeOf(seconds);
  switch (format) {
    case "json":
      return jsonReply({ text: transcript.text, usage: isWhisper ? byDuration : tokensOf(transcript) });
    case "verbose_json":
      return jsonReply({
        task,
        language,
        duration: seconds,
        text: transcript.text,
        segments: [segmentOf(transcript)],
        usage: byDuration,
      });
    case "diarized_json":
      return jsonReply({
        task,
        duration: seconds,
        text: transcript.text,
        segments: [
          {
            id: "seg_demo0",
            type: "transcript.text.segment",
            speaker: "A",
            start: 0,
            end: seconds,
            text: transcript.text,
          },
        ],
        usage: tokensOf(transcript),
      });
    case "text":
      return plain(`${transcript.text}\n`);
    case "srt":
      return plain(`1\n00:00:00,000 --> ${end.replace(".", ",")}\n${transcript.text}\n\n`);
    case "vtt":
      return plain(`WEBVTT\n\n00:00:00.000 --> ${end}\n${transcript.text}\n\n`);
    default:
      return format satisfies never;
  }
}

function segmentOf(transcript: Transcript): object {
  return {
    id: 0,
    seek: 0,
    start: 0,
    end: transcript.seconds,
    text: transcript.text,
    tokens: [],
    temperature: 0,
    avg_logprob: -0.1,
    compression_ratio: 1,
    no_speech_prob: 0,
  };
}

function tokensOf({ text: said, seconds }: Transcript): object {
  const audio = Math.ceil(seconds * audioTokensPerSecond);
  const output = Math.ceil(said.length / 4);
  return {
    type: "tokens",
    input_tokens: audio,
    input_token_details: { audio_tokens: audio, text_tokens: 0 },
    output_tokens: output,
    total_tokens: audio + output,
  };
}

function writeStream(transcript: Transcript): DemoReply {
  const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
  const words = transcript.text.match(/\s*\S+/g) ?? [];
  return eventsReply(
    [
      ...words.map((delta) => event({ type: "transcript.text.delta", delta })),
      event({ type: "transcript.text.done", text: transcript.text, usage: tokensOf(transcript) }),
    ],
    event({ type: "error", error: { type: "server_error", message: "The demo upstream was asked to fail." } }),
  );
}

/** `HH:MM:SS.mmm`, as in WebVTT. */
function timeOf(seconds: number): string {
  return new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23);
}

/** Reads a call of `/v1/audio/transcriptions` or `/v1/audio/translations`: a form with one recording (docs/design/audio.md 4). */
import { baseName, readFormFields } from "#proxy/endpoints/forms/form-fields";
import { GatewayError } from "#proxy/errors";
import {
  booleanRule,
  checkParameters,
  invalidValue,
  kindRule,
  numberRule,
  readCheckedText,
  readFlag,
  requireModel,
} from "#proxy/formats/body/parameter-rules";
import type { ModelCall } from "#proxy/formats/model-call";
import type { ScannedObject } from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import type { Form, FormFile } from "#proxy/multipart/form";
import { sniffAudio } from "#proxy/neutral/media/sniff-audio";
import type { CallPath } from "#proxy/neutral/wire";
import { type Recording, recordingOf, unseenRecording } from "./recording.ts";

export interface TranscriptCall extends ModelCall {
  /** The fields of the form. */
  readonly body: ScannedObject;
  readonly form: Form;
  readonly recording: Recording;
  /** `response_format`; `json` where the call names none. */
  readonly format: string;
  /** Bytes of text that the model reads beside the recording. */
  readonly promptBytes: number;
}

/** Fields by which some servers fetch the recording themselves, whatever file stands beside them. */
const references: readonly string[] = ["file_id", "file_url", "url"];

/** Fields that are texts, whatever they look like. */
const texts: ReadonlySet<string> = new Set([
  ...references,
  "model",
  "prompt",
  "language",
  "response_format",
  "user",
  "chunking_strategy",
]);

/** Parts of which a form may have several: lists, which some clients write without brackets. */
export const repeatedTranscriptParts: ReadonlySet<string> = new Set([
  ...["include", "keywords", "languages", "timestamp_granularities"],
  ...["known_speaker_names", "known_speaker_references"],
]);

const rules = [
  kindRule("prompt", "string"),
  kindRule("language", "string"),
  kindRule("response_format", "string"),
  numberRule("temperature", 0),
  booleanRule("stream"),
];

/** @throws GatewayError `missing_parameter`, `invalid_type`, `invalid_value`, `invalid_json` */
export function readTranscript(form: Form, endpoint: CallPath, limits: ProxyLimits): TranscriptCall {
  const body = readFormFields(form, texts, limits);
  const model = requireModel(body);
  checkParameters(body, rules);
  const upstreamObjects = references.filter((name) => isGiven(form, name));
  return {
    endpoint,
    model,
    stream: readFlag(body, "stream"),
    body,
    upstreamObjects,
    form,
    recording: readRecording(form, upstreamObjects.length > 0),
    format: readCheckedText(body, "response_format") ?? "json",
    promptBytes: Buffer.byteLength(readCheckedText(body, "prompt") ?? ""),
  };
}

/** An empty field says nothing, and a file under such a name is one all the same. */
function isGiven({ parts }: Form, name: string): boolean {
  return parts.some((part) => baseName(part.name) === name && (part.kind === "file" || part.value !== ""));
}

/** @param isElsewhere the call refers to another recording, which nobody here can measure */
function readRecording(form: Form, isElsewhere: boolean): Recording {
  const hasFile = form.parts.some(({ name }) => name === "file");
  if (isElsewhere && !hasFile) return unseenRecording();
  const { content } = requireFile(form);
  if (sniffAudio(content.start) === undefined) {
    throw invalidValue("file", "must be a recording: flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm");
  }
  return isElsewhere ? unseenRecording(content) : recordingOf(content);
}

/** One recording, since one is charged. */
function requireFile({ parts }: Form): FormFile {
  const part = parts.find(({ name }) => name === "file");
  if (parts.filter(({ name }) => baseName(name) === "file").length > 1)
    throw invalidValue("file", "must be given once");
  if (part?.kind === "file") return part;
  if (part === undefined) {
    throw new GatewayError("missing_parameter", "Missing required parameter: 'file'.", { param: "file" });
  }
  throw new GatewayError("invalid_type", "'file' must be a file, with a file name in its part of the form.", {
    param: "file",
  });
}

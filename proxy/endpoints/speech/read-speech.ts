/** Reads a call of `/v1/audio/speech` (docs/design/audio.md 1). */
import type { TextCall } from "#proxy/endpoints/dialects/text-counter";
import { GatewayError } from "#proxy/errors";
import {
  checkParameters,
  invalidValue,
  kindRule,
  numberRule,
  type ParameterRule,
  presentMember,
  requireMember,
  requireModel,
} from "#proxy/formats/body/parameter-rules";
import { asText, member as memberOf } from "#proxy/json/json-value";
import { readJson, readNumber, readString, type ScannedObject, scanJsonObject } from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import type { CallPath } from "#proxy/neutral/wire";

export interface SpeechCall extends TextCall {
  /** Text to be spoken. */
  readonly input: string;
  /** Characters of it, as they are charged: code points. */
  readonly characters: number;
  /** Undefined: the model's own. */
  readonly voice: string | undefined;
  /** `response_format`; undefined: the model's own. */
  readonly format: string | undefined;
  /** `stream_format: sse`: the client reads events in place of bytes. */
  readonly wantsEvents: boolean;
  /** 1 where the call does not say. */
  readonly speed: number;
  readonly instructions: string | undefined;
}

const rules: readonly ParameterRule[] = [
  kindRule("input", "string"),
  kindRule("voice", "string", "object"),
  kindRule("instructions", "string"),
  kindRule("response_format", "string"),
  kindRule("stream_format", "string"),
  numberRule("speed", 0.25, 4),
  kindRule("metadata", "object"),
];

/** @throws GatewayError `missing_parameter`, `invalid_type`, `invalid_value` */
export function readSpeech(bytes: Buffer, endpoint: CallPath, limits: ProxyLimits): SpeechCall {
  const body = scanJsonObject(bytes, { depthMax: limits.jsonDepthMax, keysMax: limits.jsonKeysMax });
  const model = requireModel(body);
  checkParameters(body, rules);
  const input = readString(body, requireMember(body, "input")) ?? "";
  if (input === "") throw invalidValue("input", "must not be empty");
  const voice = readVoice(body);
  return {
    endpoint,
    model,
    // Sound goes on as it comes, whatever it is framed in.
    stream: true,
    body,
    upstreamObjects: voice?.isObject === true ? ["voice"] : [],
    input,
    characters: countCharacters(input),
    voice: voice?.name,
    format: textOf(body, "response_format"),
    wantsEvents: textOf(body, "stream_format") === "sse",
    speed: readNumber(body, presentMember(body, "speed")) ?? 1,
    instructions: textOf(body, "instructions"),
  };
}

interface Voice {
  readonly name: string;
  /** `{id}`: a voice that the provider's account keeps. */
  readonly isObject: boolean;
}

function readVoice(body: ScannedObject): Voice | undefined {
  const found = presentMember(body, "voice");
  if (found === undefined) return undefined;
  const name = readString(body, found);
  if (name !== undefined) return { name, isObject: false };
  const id = asText(memberOf(readJson(body, found), "id"));
  if (id === "") {
    throw new GatewayError("invalid_type", "'voice' must be a string, or an object with an 'id'.", { param: "voice" });
  }
  return { name: id, isObject: true };
}

function textOf(body: ScannedObject, name: string): string | undefined {
  const found = presentMember(body, name);
  return found === undefined ? undefined : readString(body, found);
}

/** Code points, of which JSON lets no halves of pairs in. Most texts are ASCII, and nothing of these is looked at. */
function countCharacters(text: string): number {
  if (Buffer.byteLength(text) === text.length) return text.length;
  let secondHalves = 0;
  for (let at = 0; at < text.length; at += 1) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) secondHalves += 1;
  return text.length - secondHalves;
}

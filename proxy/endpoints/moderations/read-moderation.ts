/** Reads a call of `/v1/moderations`. */

import type { TextCall } from "#proxy/endpoints/dialects/text-counter";
import { GatewayError } from "#proxy/errors";
import { invalidValue, presentMember, requireMember } from "#proxy/formats/body/parameter-rules";
import { asList, isObject, member } from "#proxy/json/json-value";
import { readJson, readString, scanJsonObject } from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import type { CallPath } from "#proxy/neutral/wire";

/** What OpenAI takes where a call names no model. */
const defaultModel = "omni-moderation-latest";

export interface ModerationCall extends TextCall {
  /** Texts to be judged, or parts of the one that is. */
  readonly inputs: number;
  readonly images: number;
  /** Verdicts that the call asks for: one for each text, one for parts together; undefined where texts and parts mix. */
  readonly verdicts: number | undefined;
}

/** @throws GatewayError `missing_parameter`, `invalid_type`, `invalid_value` */
export function readModeration(bytes: Buffer, endpoint: CallPath, limits: ProxyLimits): ModerationCall {
  const body = scanJsonObject(bytes, { depthMax: limits.jsonDepthMax, keysMax: limits.jsonKeysMax });
  const named = presentMember(body, "model");
  const model = named === undefined ? defaultModel : readString(body, named);
  if (model === undefined) throw new GatewayError("invalid_type", "'model' must be a string.", { param: "model" });
  if (model === "") throw invalidValue("model", "must not be empty");
  const input = readJson(body, requireMember(body, "input"));
  const parts = readParts(input);
  return {
    endpoint,
    model,
    stream: false,
    body,
    upstreamObjects: [],
    inputs: parts.length,
    images: parts.filter((part) => member(part, "type") === "image_url").length,
    verdicts: countVerdicts(parts),
  };
}

function countVerdicts(parts: readonly unknown[]): number | undefined {
  const texts = parts.filter((part) => typeof part === "string").length;
  if (texts === parts.length) return texts;
  return texts === 0 ? 1 : undefined;
}

function readParts(input: unknown): readonly unknown[] {
  if (typeof input === "string") return [input];
  if (!Array.isArray(input)) {
    throw new GatewayError("invalid_type", "'input' must be a string or an array.", { param: "input" });
  }
  if (input.length === 0) throw invalidValue("input", "must not be empty");
  for (const [index, part] of asList(input).entries()) checkPart(part, `input[${index}]`);
  return input;
}

function checkPart(part: unknown, param: string): void {
  if (typeof part === "string") return;
  if (isObject(part) && typeof member(part, "type") === "string") return;
  throw new GatewayError("invalid_type", `'${param}' must be a string, or an object with a 'type'.`, { param });
}

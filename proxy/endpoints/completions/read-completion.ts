/** Reads a call of `/v1/completions`: a prompt that is gone on with, without roles (docs/design/completions.md 1). */
import { GatewayError } from "#proxy/errors";
import {
  booleanRule,
  checkParameters,
  integerRule,
  invalidValue,
  kindRule,
  numberRule,
  type ParameterRule,
  presentMember,
  readCheckedCount,
  readFlag,
  requireModel,
} from "#proxy/formats/body/parameter-rules";
import { type ForeignMember, refuseForeignBody } from "#proxy/formats/body/wrong-protocol";
import { wantsStreamUsage } from "#proxy/formats/chat-completions/native/read-call";
import type { ModelCall } from "#proxy/formats/model-call";
import { readJson, type ScannedObject, scanJsonObject } from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import type { CallPath } from "#proxy/neutral/wire";
import { capNames } from "./output-cap.ts";

export interface CompletionCall extends ModelCall {
  readonly body: ScannedObject;
  /** Each is gone on with alone; at least 1, since none is the model's own beginning of a text. */
  readonly prompts: number;
  /** Tokens that prompts name by their numbers. */
  readonly tokenIds: number;
  /** Most output tokens of one candidate; undefined when the client set none. */
  readonly outputCap: number | undefined;
  /** What the upstream makes for each prompt, of which `n` go to the client. */
  readonly candidates: number;
  /** As of `ChatCall`. */
  readonly wantsStreamUsage: boolean;
  /** There are none. */
  readonly attachments: number;
}

const foreign: readonly ForeignMember[] = [
  { name: "messages", means: "chat", unless: "prompt" },
  { name: "contents", means: "contents", unless: "prompt" },
  { name: "input", means: "responses", unless: "prompt" },
];

/** Hard everywhere (docs/design/interface.md 2 and 8); `logprobs` is a number here and no flag, and some take both. */
const parameters: readonly ParameterRule[] = [
  kindRule("prompt", "string", "array"),
  booleanRule("stream"),
  kindRule("stream_options", "object"),
  ...capNames.map((name) => integerRule(name, 0)),
  integerRule("n", 1, 128),
  integerRule("best_of", 1, 128),
  numberRule("temperature", 0, 2),
  numberRule("top_p", 0, 1),
  numberRule("frequency_penalty", -2, 2),
  numberRule("presence_penalty", -2, 2),
  numberRule("seed"),
  kindRule("stop", "string", "array"),
  { name: "logprobs", kinds: ["number", "true", "false"], integer: true, minimum: 0 },
  kindRule("logit_bias", "object"),
  kindRule("suffix", "string"),
  booleanRule("echo"),
  kindRule("user", "string", "object"),
];

/** @throws GatewayError `missing_parameter`, `invalid_type`, `invalid_value`, `wrong_protocol` */
export function readCompletion(bytes: Buffer, endpoint: CallPath, limits: ProxyLimits): CompletionCall {
  const body = scanJsonObject(bytes, { depthMax: limits.jsonDepthMax, keysMax: limits.jsonKeysMax });
  refuseForeignBody(body, foreign);
  const model = requireModel(body);
  checkParameters(body, parameters);
  const wanted = readCheckedCount(body, "n") ?? 1;
  const made = readCheckedCount(body, "best_of") ?? wanted;
  if (made < wanted) throw invalidValue("best_of", "must not be less than 'n'");
  return {
    endpoint,
    model,
    stream: readFlag(body, "stream"),
    body,
    upstreamObjects: [],
    ...readPrompts(body),
    outputCap: readCap(body),
    candidates: made,
    wantsStreamUsage: wantsStreamUsage(body),
    attachments: 0,
  };
}

/** The larger of two caps: a chat model that is asked in its place may take the newer one. */
function readCap(body: ScannedObject): number | undefined {
  const caps = capNames.flatMap((name) => readCheckedCount(body, name) ?? []);
  return caps.length === 0 ? undefined : Math.max(...caps);
}

type Prompts = Pick<CompletionCall, "prompts" | "tokenIds">;

const onePrompt: Prompts = { prompts: 1, tokenIds: 0 };

/** A text, texts, token ids, or lists of token ids: nothing else, and no two of them together. */
function readPrompts(body: ScannedObject): Prompts {
  const member = presentMember(body, "prompt");
  if (member === undefined || member.kind === "string") return onePrompt;
  const prompts: unknown = readJson(body, member);
  if (!Array.isArray(prompts)) throw new TypeError("a prompt that is no string was checked to be a list");
  if (prompts.length === 0) throw invalidValue("prompt", "must not be empty");
  if (prompts.every(isTokenId)) return { prompts: 1, tokenIds: prompts.length };
  if (prompts.every((prompt) => typeof prompt === "string")) return { prompts: prompts.length, tokenIds: 0 };
  let tokenIds = 0;
  for (const [index, prompt] of prompts.entries()) {
    const param = `prompt[${index}]`;
    if (!Array.isArray(prompt) || !prompt.every(isTokenId)) {
      const message = `'${param}' must be of one kind with the others: all strings, all token ids, or all lists of token ids.`;
      throw new GatewayError("invalid_type", message, { param });
    }
    if (prompt.length === 0) throw invalidValue(param, "must not be empty");
    tokenIds += prompt.length;
  }
  return { prompts: prompts.length, tokenIds };
}

function isTokenId(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

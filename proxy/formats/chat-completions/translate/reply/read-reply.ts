/**
 * Reads a whole chat completion as a stream of one chunk, so that a body and a stream cannot mean different things. A
 * reply that is one text and nothing else, as most are, takes a shorter way.
 */

import { usageOf } from "#proxy/formats/chat-completions/native/read-usage";
import { ChunkReader } from "#proxy/formats/chat-completions/translate/stream/read-stream";
import { asText, isObject, type JsonObject } from "#proxy/json/json-value";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { isSet } from "#proxy/neutral/losses/unmapped-members";
import type { Reply } from "#proxy/neutral/reply";
import { readFinish } from "./finish-reason.ts";

const textAlone = { hasCalls: false, hasRefusal: false };

/** @throws InvalidReply when the body has no choice, or a choice is broken */
export function readReply(body: JsonObject): Reply {
  return readText(body) ?? aggregateReply(new ChunkReader().readBody(body));
}

/** @returns undefined for a reply that is not one text alone */
function readText(body: JsonObject): Reply | undefined {
  const choices = body["choices"];
  const choice: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  if (!isObject(choice) || body["citations"] !== undefined || (choice["index"] ?? 0) !== 0) return undefined;
  const message = choice["message"];
  const delta = choice["delta"] ?? undefined;
  if (delta !== undefined || !isObject(message) || isSet(choice["logprobs"])) return undefined;
  const text = message["content"];
  if (typeof text !== "string" || text === "") return undefined;
  for (const name of Object.keys(message)) {
    if (name !== "content" && name !== "role" && isSet(message[name])) return undefined;
  }
  const finish = readFinish(asText(choice["finish_reason"]) || undefined, textAlone);
  return {
    id: asText(body["id"]) || undefined,
    model: asText(body["model"]) || undefined,
    serviceTier: asText(body["service_tier"]) || undefined,
    candidates: [{ blocks: [{ kind: "text", text, citations: [], logprobs: [], states: [] }], finish }],
    usage: usageOf(body),
  };
}

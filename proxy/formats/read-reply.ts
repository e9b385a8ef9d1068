/** Reads a whole reply for all formats: each format says where its usage, its errors and its text are. */
import { GatewayError } from "#proxy/errors";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import type { TokenUsage } from "#proxy/settle/usage";
import { classifyErrorEvent } from "./classify-error.ts";
import type { ReplyReading } from "./format.ts";
import { ProducedOutput } from "./stream/produced.ts";

/** @throws GatewayError `upstream_error` when the body was no JSON object */
export function requireReply(json: unknown): JsonObject {
  if (!isObject(json)) throw new GatewayError("upstream_error", "The provider's reply is not a JSON object.");
  return json;
}

/** @param isReply false when it is an error, or nothing that this format knows */
export function readingOf(
  reply: JsonObject,
  usage: TokenUsage | undefined,
  isReply: boolean,
  readOutput: (reply: JsonObject, output: ProducedOutput) => void,
): ReplyReading {
  return {
    usage,
    error: isReply ? undefined : classifyErrorEvent(reply),
    produced: () => {
      const output = new ProducedOutput();
      readOutput(reply, output);
      return output.summary();
    },
  };
}

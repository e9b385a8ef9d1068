/**
 * generateContent and streamGenerateContent (Gemini-style), served in their own format.
 *
 * The upstream of a streamed call must be asked with `alt=sse`, whatever the client asked for. Called by the request
 * pipeline through `ChatFormat`.
 */
import { GatewayError } from "../../errors.ts";
import type { ChatCall, ChatFormat, ReplyReading } from "../chat-format.ts";
import { classifyErrorEvent, classifyErrorReply } from "../classify-error.ts";
import { isObject, parseJson } from "../json-value.ts";
import { checkRouteParameters } from "../request/parameter-rules.ts";
import { ProducedText } from "../retained-events.ts";
import { editBody } from "./edit-body.ts";
import { readProducedText } from "./produced-text.ts";
import { readCall, watchedKeys } from "./read-call.ts";
import { readUsage } from "./read-usage.ts";
import { type FoundMember, findEither, GenerationMembers } from "./spellings.ts";
import { renderStreamError } from "./stream-error.ts";
import { GenerateContentStreamMeter } from "./stream-meter.ts";

export const generateContent: ChatFormat = {
  format: "GenerateContent",
  protocol: "Gemini",
  watchedKeys,
  readCall,
  checkRouteParameters: (call, route) => {
    const generation = new GenerationMembers(call.body);
    checkRouteParameters(route, (name) => findParameter(call, generation, name));
  },
  editBody,
  readReply,
  readErrorReply: (status, headers, body) => classifyErrorReply(status, headers, body, Date.now()),
  createStreamMeter: (call, eventBytesMax) =>
    new GenerateContentStreamMeter(call.endpoint.geminiStream ?? "sse", eventBytesMax),
  renderStreamError,
  contentType: (call) =>
    call.endpoint.geminiStream === "sse" ? "text/event-stream; charset=utf-8" : "application/json",
};

/** Names of INTERFACE.md for what this format calls otherwise. */
const spellings: Readonly<Record<string, string>> = {
  max_tokens: "maxOutputTokens",
  max_completion_tokens: "maxOutputTokens",
  n: "candidateCount",
  stop: "stopSequences",
};

function findParameter(call: ChatCall, generation: GenerationMembers, name: string): FoundMember | undefined {
  const bare = name.startsWith("generationConfig.") ? name.slice("generationConfig.".length) : name;
  const camel = spellings[bare] ?? bare.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  return generation.find(camel) ?? findEither(call.body, camel);
}

function readReply(body: Buffer): ReplyReading {
  const json = parseJson(body.toString("utf8"));
  const reply = Array.isArray(json) ? json[0] : json;
  if (!isObject(reply)) throw new GatewayError("upstream_error", "The provider's answer is not a JSON object.");
  const hasError = isObject(reply["error"]);
  const isReply = ["candidates", "promptFeedback", "usageMetadata"].some((name) => name in reply);
  return {
    usage: readUsage(reply["usageMetadata"]),
    error: hasError || !isReply ? classifyErrorEvent(reply) : undefined,
    producedText: () => {
      const text = new ProducedText();
      readProducedText(reply, text);
      return text.toString();
    },
  };
}

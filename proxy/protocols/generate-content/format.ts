/**
 * generateContent and streamGenerateContent (Gemini-style), served in their own format.
 *
 * The upstream of a streamed call must be asked with `alt=sse`, whatever the client asked for. Called by the request
 * pipeline through `ChatFormat`.
 */
import type { ChatCall, ChatFormat, ReplyReading } from "../chat-format.ts";
import { isObject, parseJson } from "../json-value.ts";
import { readingOf, requireReply } from "../read-reply.ts";
import { applyRouteSupport } from "../request/body-rules.ts";
import { checkRouteParameters } from "../request/parameter-rules.ts";
import { editBody } from "./edit-body.ts";
import { readProducedText } from "./produced-text.ts";
import { readCall, watchedKeys } from "./read-call.ts";
import { readUsage } from "./read-usage.ts";
import { SearchQueries } from "./searches.ts";
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
    checkRouteParameters(route, (name) => findParameter(call, generation, spellings[bareName(name)] ?? name));
  },
  editBody: (call, plan, editor) => {
    applyRouteSupport(editor, plan, (name) => findParameter(call, new GenerationMembers(call.body), name));
    editBody(call, plan, editor);
  },
  readReply,
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

/** The interface spells generation parameters with their place or without it. */
function bareName(name: string): string {
  return name.startsWith("generationConfig.") ? name.slice("generationConfig.".length) : name;
}

function findParameter(call: ChatCall, generation: GenerationMembers, name: string): FoundMember | undefined {
  const camel = bareName(name).replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  return generation.find(camel) ?? findEither(call.body, camel);
}

function readReply(body: Buffer, json: unknown = parseJson(body.toString("utf8"))): ReplyReading {
  const reply = requireReply(Array.isArray(json) ? json[0] : json);
  const hasError = isObject(reply["error"]);
  const isReply = ["candidates", "promptFeedback", "usageMetadata"].some((name) => name in reply);
  const queries = new SearchQueries();
  queries.note(reply);
  return readingOf(reply, readUsage(reply["usageMetadata"], queries.count), isReply && !hasError, readProducedText);
}

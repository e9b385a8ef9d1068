/** The endpoints of the four chat formats, and of the token counts that belong to them. */
import { chatCompletions } from "./chat-completions.ts";
import { answer } from "./conversation.ts";
import { type DemoCall, type DemoEndpoint, type DemoReply, eventsReply, jsonReply } from "./endpoint.ts";
import type { DemoFormat, ReplyContext } from "./format.ts";
import { generateContent } from "./generate-content.ts";
import { member } from "./json-view.ts";
import { messages } from "./messages.ts";
import { responses } from "./responses.ts";

const failed = "The demo upstream was asked to fail.";
const geminiModel = "^/v1(?:beta|alpha)?/models/(?<model>.+):";

export const chatEndpoints: readonly DemoEndpoint[] = [
  bodyStreamed(chatCompletions, /^\/v1\/chat\/completions$/, "bearer"),
  bodyStreamed(responses, /^\/v1\/responses$/, "bearer"),
  bodyStreamed(messages, /^\/v1\/messages$/, "x-api-key"),
  counts(messages, /^\/v1\/messages\/count_tokens$/, "x-api-key"),
  gemini("generateContent", (call) => jsonReply(generateContent.writeReply(contextOf(generateContent, call)))),
  gemini("streamGenerateContent", streamGenerateContent),
  counts(generateContent, new RegExp(`${geminiModel}countTokens$`), "x-goog-api-key"),
];

function contextOf(format: DemoFormat, call: DemoCall): ReplyContext {
  const { body, serial, createdAt } = call;
  const question = format.readQuestion(body, call.model);
  return { question, answer: answer(question), body, serial, createdAt };
}

/** A format whose body says whether to stream. */
function bodyStreamed(format: DemoFormat, path: RegExp, keyHeader: DemoEndpoint["keyHeader"]): DemoEndpoint {
  return {
    path,
    keyHeader,
    writeError: format.writeError,
    reply: (call) => {
      const context = contextOf(format, call);
      return call.body["stream"] === true
        ? eventsReply(format.writeStream(context), format.writeStreamError(failed))
        : jsonReply(format.writeReply(context));
    },
  };
}

function gemini(verb: string, reply: (call: DemoCall) => DemoReply): DemoEndpoint {
  const { writeError } = generateContent;
  return { path: new RegExp(`${geminiModel}${verb}$`), keyHeader: "x-goog-api-key", writeError, reply };
}

/** SSE or, without `alt=sse`, one JSON array. */
function streamGenerateContent(call: DemoCall): DemoReply {
  const events = generateContent.writeStream(contextOf(generateContent, call));
  const error = generateContent.writeStreamError(failed);
  const frame = (event: string): string => `data: ${event}\r\n\r\n`;
  if (call.query.get("alt") === "sse") return eventsReply(events.map(frame), frame(error));
  return {
    kind: "streamed",
    contentType: "application/json; charset=UTF-8",
    pieces: events.map((event, index) => `${index === 0 ? "[" : ",\r\n"}${event}`),
    ending: "]",
    errorPiece: `,\r\n${error}`,
  };
}

/** The tokens that the same call would be counted as; the whole call may stand in a member `generateContentRequest`. */
function counts(format: DemoFormat, path: RegExp, keyHeader: DemoEndpoint["keyHeader"]): DemoEndpoint {
  return {
    path,
    keyHeader,
    writeError: format.writeError,
    reply: (call) => {
      const nested = member(call.body, "generateContentRequest");
      const counted = { max_tokens: 1, ...call.body, ...(typeof nested === "object" ? nested : {}) };
      const { inputTokens } = answer(format.readQuestion(counted, call.model));
      return jsonReply(format === messages ? { input_tokens: inputTokens } : { totalTokens: inputTokens });
    },
  };
}

/**
 * The four chat formats as a test needs them: how to call, what an upstream answers, how to tell a terminator and an
 * error event. Answers are the demo upstream's own.
 */
import { chatCompletions } from "#examples/demo-upstream/chat-completions";
import { answer } from "#examples/demo-upstream/conversation";
import type { DemoFormat } from "#examples/demo-upstream/format";
import { generateContent } from "#examples/demo-upstream/generate-content";
import { messages } from "#examples/demo-upstream/messages";
import { responses } from "#examples/demo-upstream/responses";

export interface FormatUnderTest {
  readonly name: "ChatCompletions" | "Responses" | "Messages" | "GenerateContent";
  readonly path: (model: string, stream: boolean) => string;
  readonly body: (model: string, stream: boolean, prompt: string) => object;
  readonly keyHeader: (key: string) => string;
  /** Text that only a complete stream holds. */
  readonly terminator: string;
  /** What the client is told in a stream that failed. */
  readonly errorEvent: RegExp;
  /** Whether a stream ends cleanly behind it (docs/design/requests.md 3). */
  readonly failsCleanly: boolean;
  /** Events of a whole stream, each with its blank line, that answers with an echo of the prompt. */
  readonly events: (prompt?: string) => readonly string[];
  /** A whole reply. */
  readonly reply: (prompt?: string) => string;
  /** Words of the protocol's error body for an overloaded upstream and so on: the path to the type. */
  readonly errorType: (body: unknown) => string;
}

function writes(format: DemoFormat, body: (prompt: string) => object, frame: (event: string) => string) {
  const context = (prompt: string) => {
    const fields = { ...body(prompt) };
    const question = format.readQuestion(fields, "echo");
    return { question, answer: answer(question), body: fields, serial: 1, createdAt: 1_700_000_000 };
  };
  return {
    events: (prompt = "hi") => format.writeStream(context(prompt)).map(frame),
    reply: (prompt = "hi") => JSON.stringify(format.writeReply(context(prompt))),
  };
}

const bearer = (key: string): string => `authorization: Bearer ${key}`;
const same = (event: string): string => event;
const chatBody = (model: string, stream: boolean, prompt: string): object => ({
  model,
  messages: [{ role: "user", content: prompt }],
  ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
});
const responsesBody = (model: string, stream: boolean, prompt: string): object => ({ model, input: prompt, stream });
const messagesBody = (model: string, stream: boolean, prompt: string): object => ({
  model,
  max_tokens: 1000,
  messages: [{ role: "user", content: prompt }],
  stream,
});
const contentsBody = (_model: string, _stream: boolean, prompt: string): object => ({
  contents: [{ role: "user", parts: [{ text: prompt }] }],
});

function read(value: unknown, ...path: readonly string[]): string {
  let at: unknown = value;
  for (const name of path) at = typeof at === "object" && at !== null ? Reflect.get(at, name) : undefined;
  return String(at);
}

export const formats: readonly FormatUnderTest[] = [
  {
    name: "ChatCompletions",
    path: () => "/v1/chat/completions",
    body: chatBody,
    keyHeader: bearer,
    terminator: "data: [DONE]",
    errorEvent: /data: \{"error":\{"message":/,
    failsCleanly: true,
    errorType: (body) => read(body, "error", "code"),
    ...writes(chatCompletions, (prompt) => chatBody("echo", true, prompt), same),
  },
  {
    name: "Responses",
    path: () => "/v1/responses",
    body: responsesBody,
    keyHeader: bearer,
    terminator: '"type":"response.completed"',
    errorEvent: /event: error\n.*event: response\.failed\n/s,
    failsCleanly: true,
    errorType: (body) => read(body, "error", "code"),
    ...writes(responses, (prompt) => responsesBody("echo", true, prompt), same),
  },
  {
    name: "Messages",
    path: () => "/v1/messages",
    body: messagesBody,
    keyHeader: (key) => `x-api-key: ${key}\r\nanthropic-version: 2023-06-01`,
    terminator: '"type":"message_stop"',
    errorEvent: /event: error\ndata: \{"type":"error","error":\{"type":"/,
    failsCleanly: true,
    errorType: (body) => read(body, "error", "type"),
    ...writes(messages, (prompt) => messagesBody("echo", true, prompt), same),
  },
  {
    name: "GenerateContent",
    path: (model, stream) => `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: contentsBody,
    keyHeader: (key) => `x-goog-api-key: ${key}`,
    terminator: '"finishReason":"STOP"',
    errorEvent: /data: \{"error":\{"code":[45][0-9]{2},/,
    failsCleanly: false,
    errorType: (body) => read(body, "error", "status"),
    ...writes(
      generateContent,
      (prompt) => contentsBody("echo", true, prompt),
      (event) => `data: ${event}\r\n\r\n`,
    ),
  },
];

export function formatNamed(name: FormatUnderTest["name"]): FormatUnderTest {
  const found = formats.find((format) => format.name === name);
  if (found === undefined) throw new TypeError(`no format ${name}`);
  return found;
}

/** The format of a request that an upstream got. @param head request line and headers */
export function formatOf(head: string): FormatUnderTest {
  const [, path = ""] = head.split(" ", 2);
  if (path.endsWith("/chat/completions")) return formatNamed("ChatCompletions");
  if (path.endsWith("/responses")) return formatNamed("Responses");
  return formatNamed(path.endsWith("/messages") ? "Messages" : "GenerateContent");
}

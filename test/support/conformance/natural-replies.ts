/** The shortest reply of each format that is a reply, whole and streamed: for tests that look at requests. */
import type { ReceivedRequest, ScriptedReply } from "#test/support/fake-upstream";

const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "upstream-model",
  choices: [{ index: 0, message: { role: "assistant", content: "hi", refusal: null }, finish_reason: "stop" }],
  usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
};
const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "upstream-model" };
const response = {
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "upstream-model",
  output: [],
  usage: { input_tokens: 2, output_tokens: 1, total_tokens: 3 },
};
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "upstream-model",
  content: [{ type: "text", text: "hi" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 2, output_tokens: 1 },
};
const contents = {
  candidates: [{ index: 0, content: { role: "model", parts: [{ text: "hi" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 1, totalTokenCount: 3 },
};

function data(...values: readonly unknown[]): string {
  return values.map((value) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`).join("");
}

function events(...values: readonly { readonly type: string }[]): string {
  return values.map((value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`).join("");
}

const streams = {
  chat: data(
    {
      ...chunk,
      choices: [{ index: 0, delta: { role: "assistant", content: "hi" }, finish_reason: null }],
      usage: null,
    },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: null },
    { ...chunk, choices: [], usage: completion.usage },
    "[DONE]",
  ),
  responses: events(
    { type: "response.created", ...{ sequence_number: 0, response: { ...response, status: "in_progress" } } },
    { type: "response.completed", ...{ sequence_number: 1, response } },
  ),
  messages: events(
    { type: "message_start", ...{ message: { ...message, content: [], stop_reason: null } } },
    { type: "message_delta", ...{ delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } } },
    { type: "message_stop" },
  ),
  contents: data(contents),
};

/** Answers a call of any format as its provider would. */
export function naturalReply(request: ReceivedRequest): ScriptedReply {
  const isStream = request.target.includes(":streamGenerateContent") || /"stream"\s*:\s*true/.test(`${request.body}`);
  const [body, stream] = repliesOf(request.target);
  return isStream
    ? { body: stream, headers: { "content-type": "text/event-stream" }, framing: "length" }
    : { body: JSON.stringify(body) };
}

function repliesOf(target: string): readonly [body: object, stream: string] {
  if (target.includes("/chat/completions")) return [completion, streams.chat];
  if (target.includes("/responses")) return [response, streams.responses];
  if (target.includes("/messages")) return [message, streams.messages];
  return [contents, streams.contents];
}

/** Chat completions as OpenAI speaks them: the reference pages "Create chat completion" and "Chat completion chunk". */
import { contentText } from "#examples/demo-upstream/content-text";
import { type JsonObject, list, member, text } from "#examples/demo-upstream/json-view";
import { type Failure, type Question, type ScriptedCall, usage } from "#test/support/clients/scenario";
import { failureMessages, piecesOf, type ScriptedFormat, type TurnContext } from "./scripted-format.ts";

export const chatCompletions: ScriptedFormat = { read, writeStream, writeReply, writeError };

function read(body: JsonObject): Question {
  const messages = list(body["messages"]);
  return {
    model: text(body["model"]) ?? "",
    isStream: body["stream"] === true,
    tools: list(body["tools"]).flatMap((tool) => text(member(member(tool, "function"), "name")) ?? []),
    results: messages.flatMap((message) =>
      member(message, "role") === "tool" ? contentText(member(message, "content")) : [],
    ),
  };
}

const usageMember = {
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
};

function toolCall(call: ScriptedCall, index: number, serial: number) {
  return {
    id: `call_${serial}_${index}`,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  };
}

function writeReply({ turn, question, serial }: TurnContext): object {
  const calls = (turn.calls ?? []).map((call, index) => toolCall(call, index, serial));
  const message = { role: "assistant", content: turn.text ?? null, refusal: null };
  return {
    id: `chatcmpl-${serial}`,
    object: "chat.completion",
    created: 1_750_000_000,
    model: question.model,
    choices: [
      {
        index: 0,
        message: calls.length === 0 ? message : { ...message, tool_calls: calls },
        logprobs: null,
        finish_reason: calls.length === 0 ? "stop" : "tool_calls",
      },
    ],
    usage: usageMember,
  };
}

function writeStream({ turn, question, body, serial }: TurnContext): readonly string[] {
  const chunk = (fields: object): string =>
    `data: ${JSON.stringify({
      id: `chatcmpl-${serial}`,
      object: "chat.completion.chunk",
      created: 1_750_000_000,
      model: question.model,
      ...fields,
    })}\n\n`;
  const delta = (fields: object, finish: string | null = null): string =>
    chunk({ choices: [{ index: 0, delta: fields, logprobs: null, finish_reason: finish }] });
  // A comment, as relays of this format send them while they wait.
  const begun = [
    ": PROCESSING\n\n",
    delta({ role: "assistant", content: "", refusal: null }),
    ...piecesOf(turn.text ?? "").map((piece) => delta({ content: piece })),
  ];
  if (turn.isCut === true) return begun;
  if (turn.failure !== undefined) return [...begun, failureEvent(turn.failure)];
  const calls = (turn.calls ?? []).flatMap((call, index) => {
    const { id, type, function: called } = toolCall(call, index, serial);
    return [
      delta({ tool_calls: [{ index, id, type, function: { name: called.name, arguments: "" } }] }),
      ...halves(called.arguments).map((part) => delta({ tool_calls: [{ index, function: { arguments: part } }] })),
    ];
  });
  const wantsUsage = member(body["stream_options"], "include_usage") === true;
  return [
    ...begun,
    ...calls,
    delta({}, calls.length === 0 ? "stop" : "tool_calls"),
    ...(wantsUsage ? [chunk({ choices: [], usage: usageMember })] : []),
    "data: [DONE]\n\n",
  ];
}

function halves(whole: string): string[] {
  const middle = Math.ceil(whole.length / 2);
  return [whole.slice(0, middle), whole.slice(middle)];
}

const failureCodes: Readonly<Record<Failure, readonly [type: string, code: string]>> = {
  overloaded: ["server_error", "server_is_overloaded"],
  quota: ["insufficient_quota", "insufficient_quota"],
  contextOverflow: ["invalid_request_error", "context_length_exceeded"],
};

function failureEvent(failure: Failure): string {
  const [type, code] = failureCodes[failure];
  return `data: ${JSON.stringify({ error: { message: failureMessages[failure], type, param: null, code } })}\n\n`;
}

/** Error bodies of both OpenAI formats. */
export function writeError(status: number, message: string): object {
  const words: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
    400: ["invalid_request_error", "invalid_value"],
    404: ["invalid_request_error", "unknown_url"],
    429: ["rate_limit_error", "rate_limit_exceeded"],
    503: ["server_error", "server_is_overloaded"],
  };
  const [type, code] = words[status] ?? ["server_error", null];
  return { error: { message, type, param: null, code } };
}

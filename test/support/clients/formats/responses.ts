/** Responses as OpenAI speaks them: the reference pages "Create a response" and "Streaming events". */
import { contentText } from "#examples/demo-upstream/content-text";
import { type JsonObject, list, member, text } from "#examples/demo-upstream/json-view";
import { type Failure, type Question, type ScriptedCall, usage } from "#test/support/clients/scenario";
import { writeError } from "./chat-completions.ts";
import { failureMessages, namedEvent, piecesOf, type ScriptedFormat, type TurnContext } from "./scripted-format.ts";

export const responses: ScriptedFormat = { read, writeStream, writeReply, writeError };

function read(body: JsonObject): Question {
  const input = list(body["input"]);
  const added = input.flatMap((item) =>
    member(item, "type") === "additional_tools" ? list(member(item, "tools")) : [],
  );
  return {
    model: text(body["model"]) ?? "",
    isStream: body["stream"] === true,
    tools: [...list(body["tools"]), ...added].flatMap(functionNames),
    results: input.flatMap((item) =>
      member(item, "type") === "function_call_output" ? contentText(member(item, "output")) : [],
    ),
  };
}

/** A namespace holds functions of its own. */
function functionNames(tool: unknown): string[] {
  if (member(tool, "type") === "namespace") return list(member(tool, "tools")).flatMap(functionNames);
  const name = text(member(tool, "name"));
  return member(tool, "type") === "function" && name !== undefined ? [name] : [];
}

const usageMember = {
  input_tokens: usage.input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: usage.input + usage.output,
};

function response(
  { question, serial }: TurnContext,
  status: string,
  output: readonly object[],
  more: object = {},
): object {
  return {
    id: `resp_${serial}`,
    object: "response",
    created_at: 1_750_000_000,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    model: question.model,
    output,
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    usage: status === "completed" ? usageMember : null,
    ...more,
  };
}

function messageItem(said: string, serial: number): object {
  return {
    id: `msg_${serial}`,
    type: "message",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: said, annotations: [] }],
  };
}

function callItem(call: ScriptedCall, index: number, serial: number) {
  return {
    id: `fc_${serial}_${index}`,
    type: "function_call",
    status: "completed",
    call_id: `call_${serial}_${index}`,
    name: call.name,
    arguments: JSON.stringify(call.arguments),
  };
}

function itemsOf({ turn, serial }: TurnContext): object[] {
  return [
    ...(turn.text === undefined ? [] : [messageItem(turn.text, serial)]),
    ...(turn.calls ?? []).map((call, index) => callItem(call, index, serial)),
  ];
}

function writeReply(context: TurnContext): object {
  return response(context, "completed", itemsOf(context));
}

function writeStream(context: TurnContext): readonly string[] {
  const { turn, serial } = context;
  let sequence = -1;
  const event = (type: string, fields: object): string => {
    sequence += 1;
    return namedEvent(type, { sequence_number: sequence, ...fields });
  };
  const begun = [
    event("response.created", { response: response(context, "in_progress", []) }),
    event("response.in_progress", { response: response(context, "in_progress", []) }),
    ...(turn.text === undefined ? [] : messageBegun(turn.text, serial, event)),
  ];
  if (turn.isCut === true) return begun;
  if (turn.failure !== undefined) {
    const error = { code: failureCodes[turn.failure], message: failureMessages[turn.failure] };
    return [...begun, event("response.failed", { response: response(context, "failed", [], { error }) })];
  }
  const offset = turn.text === undefined ? 0 : 1;
  return [
    ...begun,
    ...(turn.text === undefined ? [] : messageEnded(turn.text, serial, event)),
    ...(turn.calls ?? []).flatMap((call, index) => callEvents(callItem(call, index, serial), index + offset, event)),
    event("response.completed", { response: response(context, "completed", itemsOf(context)) }),
  ];
}

type EventWriter = (type: string, fields: object) => string;

function messageBegun(said: string, serial: number, event: EventWriter): string[] {
  const at = { item_id: `msg_${serial}`, output_index: 0, content_index: 0 };
  const item = { id: at.item_id, type: "message", status: "in_progress", role: "assistant", content: [] };
  return [
    event("response.output_item.added", { output_index: 0, item }),
    event("response.content_part.added", { ...at, part: { type: "output_text", text: "", annotations: [] } }),
    ...piecesOf(said).map((delta) => event("response.output_text.delta", { ...at, delta, logprobs: [] })),
  ];
}

function messageEnded(said: string, serial: number, event: EventWriter): string[] {
  const at = { item_id: `msg_${serial}`, output_index: 0, content_index: 0 };
  return [
    event("response.output_text.done", { ...at, text: said, logprobs: [] }),
    event("response.content_part.done", { ...at, part: { type: "output_text", text: said, annotations: [] } }),
    event("response.output_item.done", { output_index: 0, item: messageItem(said, serial) }),
  ];
}

function callEvents(item: ReturnType<typeof callItem>, index: number, event: EventWriter): string[] {
  const at = { item_id: item.id, output_index: index };
  const begun = { ...item, status: "in_progress", arguments: "" };
  return [
    event("response.output_item.added", { output_index: index, item: begun }),
    event("response.function_call_arguments.delta", { ...at, delta: item.arguments.slice(0, 5) }),
    event("response.function_call_arguments.delta", { ...at, delta: item.arguments.slice(5) }),
    event("response.function_call_arguments.done", { ...at, arguments: item.arguments }),
    event("response.output_item.done", { output_index: index, item }),
  ];
}

const failureCodes: Readonly<Record<Failure, string>> = {
  overloaded: "server_is_overloaded",
  quota: "insufficient_quota",
  contextOverflow: "context_length_exceeded",
};

/** Messages as Anthropic speaks them: the pages "Messages" and "Streaming messages" (`ping` behind `message_start`). */
import { contentText } from "#examples/demo-upstream/content-text";
import { type JsonObject, list, member, text } from "#examples/demo-upstream/json-view";
import { type Failure, type Question, usage } from "#test/support/clients/scenario";
import { failureMessages, namedEvent, piecesOf, type ScriptedFormat, type TurnContext } from "./scripted-format.ts";

export const messages: ScriptedFormat = { read, writeStream, writeReply, writeError };

/** How every signature of this upstream begins: its rules know its own by it. */
export const signatureMark = "scripted-signature-";

function read(body: JsonObject): Question {
  const blocks = list(body["messages"]).flatMap((message) => list(member(message, "content")));
  return {
    model: text(body["model"]) ?? "",
    isStream: body["stream"] === true,
    // Tools that the provider runs have a type of their own.
    tools: list(body["tools"]).flatMap((tool) =>
      ["custom", undefined].includes(text(member(tool, "type"))) ? (text(member(tool, "name")) ?? []) : [],
    ),
    results: blocks.flatMap((block) =>
      member(block, "type") === "tool_result" ? contentText(member(block, "content")) : [],
    ),
  };
}

function envelope({ question, serial }: TurnContext, content: readonly object[], stop: string | null): object {
  return {
    id: `msg_${serial}`,
    type: "message",
    role: "assistant",
    model: question.model,
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage: {
      input_tokens: usage.input,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: stop === null ? 1 : usage.output,
    },
  };
}

function blocksOf({ turn, body, serial }: TurnContext): object[] {
  const thinks = ["enabled", "adaptive"].includes(text(member(body["thinking"], "type")) ?? "");
  return [
    ...(thinks && turn.thinking !== undefined
      ? [{ type: "thinking", thinking: turn.thinking, signature: `${signatureMark}${serial}` }]
      : []),
    ...(turn.text === undefined ? [] : [{ type: "text", text: turn.text }]),
    ...(turn.calls ?? []).map((call, index) => ({
      type: "tool_use",
      id: `toolu_${serial}_${index}`,
      name: call.name,
      input: call.arguments,
    })),
  ];
}

function stopReason({ turn }: TurnContext): string {
  return turn.calls === undefined ? "end_turn" : "tool_use";
}

function writeReply(context: TurnContext): object {
  return envelope(context, blocksOf(context), stopReason(context));
}

function writeStream(context: TurnContext): readonly string[] {
  const { turn } = context;
  const begun = [namedEvent("message_start", { message: envelope(context, [], null) }), namedEvent("ping", {})];
  if (turn.isCut === true || turn.failure !== undefined) {
    const events = [...begun, ...blockEvents({ type: "text", text: turn.text ?? "" }, 0).slice(0, -1)];
    return turn.failure === undefined ? events : [...events, failureEvent(turn.failure)];
  }
  return [
    ...begun,
    ...blocksOf(context).flatMap(blockEvents),
    namedEvent("message_delta", {
      delta: { stop_reason: stopReason(context), stop_sequence: null },
      usage: { output_tokens: usage.output },
    }),
    namedEvent("message_stop", {}),
  ];
}

function blockEvents(block: object, index: number): string[] {
  const delta = (fields: object): string => namedEvent("content_block_delta", { index, delta: fields });
  const start = (empty: object): string =>
    namedEvent("content_block_start", { index, content_block: { ...block, ...empty } });
  const stop = namedEvent("content_block_stop", { index });
  const said = text(member(block, "text"));
  if (said !== undefined) {
    return [start({ text: "" }), ...piecesOf(said).map((piece) => delta({ type: "text_delta", text: piece })), stop];
  }
  const thinking = text(member(block, "thinking"));
  if (thinking !== undefined) {
    return [
      start({ thinking: "", signature: "" }),
      delta({ type: "thinking_delta", thinking }),
      delta({ type: "signature_delta", signature: member(block, "signature") }),
      stop,
    ];
  }
  const input = JSON.stringify(member(block, "input"));
  return [
    start({ input: {} }),
    delta({ type: "input_json_delta", partial_json: "" }),
    ...[input.slice(0, 6), input.slice(6)].map((piece) => delta({ type: "input_json_delta", partial_json: piece })),
    stop,
  ];
}

const failureTypes: Readonly<Record<Failure, string>> = {
  overloaded: "overloaded_error",
  quota: "billing_error",
  contextOverflow: "invalid_request_error",
};

function failureEvent(failure: Failure): string {
  const message =
    failure === "contextOverflow" ? "prompt is too long: 210000 tokens > 200000 maximum" : failureMessages[failure];
  return namedEvent("error", { error: { type: failureTypes[failure], message } });
}

function writeError(status: number, message: string): object {
  const types: Readonly<Record<number, string>> = {
    400: "invalid_request_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
  };
  return { type: "error", error: { type: types[status] ?? "api_error", message }, request_id: "req_scripted" };
}

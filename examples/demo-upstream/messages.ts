/** Messages as an upstream speaks them (`POST /v1/messages`). Every event needs its `event:` line. */
import { contentText } from "./content-text.ts";
import { type DemoQuestion, isOwnState } from "./conversation.ts";
import { BadRequest, type DemoFormat, type ReplyContext } from "./format.ts";
import { count, type JsonObject, list, member, text } from "./json-view.ts";

export const messages: DemoFormat = { readQuestion, writeReply, writeStream, writeError, writeStreamError };

function readQuestion(body: JsonObject): DemoQuestion {
  const model = text(body["model"]);
  const turns = list(body["messages"]);
  const maxTokens = count(body["max_tokens"]);
  if (model === undefined) throw new BadRequest("model", "model: Field required");
  if (turns.length === 0) throw new BadRequest("messages", "messages: at least one message is required");
  if (maxTokens === undefined) throw new BadRequest("max_tokens", "max_tokens: Field required");
  const last = turns.at(-1);
  const users = turns.filter((turn) => member(turn, "role") === "user");
  const result = list(member(last, "content")).find((block) => member(block, "type") === "tool_result");
  const format = member(body["output_config"], "format") ?? body["output_format"];
  return {
    model,
    text: contentText(member(users.at(-1), "content")),
    promptCharacters:
      contentText(body["system"]).length +
      turns.reduce<number>((sum, turn) => sum + contentText(member(turn, "content")).length, 0),
    images: users.flatMap((turn) => list(member(turn, "content"))).filter((block) => member(block, "type") === "image")
      .length,
    tools: list(body["tools"]).flatMap((tool) => {
      const name = text(member(tool, "name"));
      return name === undefined ? [] : [{ name, schema: member(tool, "input_schema") }];
    }),
    toolChoice: readToolChoice(body["tool_choice"]),
    toolResult: result === undefined ? undefined : contentText(member(result, "content")),
    schema: member(format, "type") === "json_schema" ? member(format, "schema") : undefined,
    maxTokens,
    thinks: ["enabled", "adaptive"].includes(text(member(body["thinking"], "type")) ?? ""),
    remembers: turns
      .flatMap((turn) => list(member(turn, "content")))
      .some((block) => member(block, "type") === "thinking" && isOwnState(member(block, "signature"))),
  };
}

function readToolChoice(choice: unknown): DemoQuestion["toolChoice"] {
  const name = text(member(choice, "name"));
  if (member(choice, "type") === "tool" && name !== undefined) return { name };
  if (member(choice, "type") === "any") return "required";
  return member(choice, "type") === "none" ? "none" : "auto";
}

function stopReason({ answer }: ReplyContext): string {
  return { stop: "end_turn", length: "max_tokens", tool: "tool_use" }[answer.finish];
}

function envelope(
  context: ReplyContext,
  content: readonly object[],
  stop: string | null,
  outputTokens: number,
): object {
  return {
    id: `msg_demo${context.serial}`,
    type: "message",
    role: "assistant",
    model: context.question.model,
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage: {
      input_tokens: context.answer.inputTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: outputTokens,
      service_tier: "standard",
    },
  };
}

function writeReply(context: ReplyContext): unknown {
  const { answer, serial } = context;
  const block =
    answer.toolCall === undefined
      ? { type: "text", text: answer.pieces.join(""), citations: null }
      : {
          type: "tool_use",
          id: `toolu_demo${serial}`,
          name: answer.toolCall.name,
          input: JSON.parse(answer.toolCall.argumentsPieces.join("")),
        };
  return envelope(context, [...thoughtBlocks(context), block], stopReason(context), answer.outputTokens);
}

function thoughtBlocks({ answer }: ReplyContext): readonly object[] {
  if (answer.thought === undefined) return [];
  return [{ type: "thinking", thinking: answer.thought.text, signature: answer.thought.state }];
}

function thoughtEvents({ answer }: ReplyContext): readonly string[] {
  if (answer.thought === undefined) return [];
  const { text: thinking, state: signature } = answer.thought;
  return [
    event("content_block_start", { index: 0, content_block: { type: "thinking", thinking: "", signature: "" } }),
    event("content_block_delta", { index: 0, delta: { type: "thinking_delta", thinking } }),
    event("content_block_delta", { index: 0, delta: { type: "signature_delta", signature } }),
    event("content_block_stop", { index: 0 }),
  ];
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function writeStream(context: ReplyContext): readonly string[] {
  const { answer, serial } = context;
  const block =
    answer.toolCall === undefined
      ? { type: "text", text: "" }
      : { type: "tool_use", id: `toolu_demo${serial}`, name: answer.toolCall.name, input: {} };
  const deltas =
    answer.toolCall === undefined
      ? answer.pieces.map((piece) => ({ type: "text_delta", text: piece }))
      : answer.toolCall.argumentsPieces.map((piece) => ({ type: "input_json_delta", partial_json: piece }));
  const index = answer.thought === undefined ? 0 : 1;
  return [
    event("message_start", { message: envelope(context, [], null, 1) }),
    ...thoughtEvents(context),
    event("content_block_start", { index, content_block: block }),
    event("ping", {}),
    ...deltas.map((delta) => event("content_block_delta", { index, delta })),
    event("content_block_stop", { index }),
    event("message_delta", {
      delta: { stop_reason: stopReason(context), stop_sequence: null },
      usage: { output_tokens: answer.outputTokens },
    }),
    event("message_stop", {}),
  ];
}

function writeError(status: number, message: string): unknown {
  const types: Readonly<Record<number, string>> = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
  };
  return { type: "error", error: { type: types[status] ?? "api_error", message }, request_id: "req_demo" };
}

function writeStreamError(message: string): string {
  return event("error", { error: { type: "overloaded_error", message } });
}

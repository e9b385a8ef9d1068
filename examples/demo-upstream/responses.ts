/** Responses as an upstream speaks them (`POST /v1/responses`). Every event carries its name and number. */
import { writeError } from "./chat-completions.ts";
import { contentText } from "./content-text.ts";
import { type DemoQuestion, isOwnState } from "./conversation.ts";
import { BadRequest, type DemoFormat, type ReplyContext } from "./format.ts";
import { count, type JsonObject, list, member, text } from "./json-view.ts";

export const responses: DemoFormat = { readQuestion, writeReply, writeStream, writeError, writeStreamError };

function readQuestion(body: JsonObject): DemoQuestion {
  const model = text(body["model"]);
  const input = body["input"];
  if (model === undefined) throw new BadRequest("model", "you must provide a model parameter");
  if (input === undefined) throw new BadRequest("input", "Missing required parameter: 'input'.");
  const items = typeof input === "string" ? [{ role: "user", content: input }] : list(input);
  const users = items.filter((item) => member(item, "role") === "user");
  const last = items.at(-1);
  const format = member(body["text"], "format");
  const tools = Array.isArray(body["tools"]) ? body["tools"] : body["tools"] === undefined ? [] : [body["tools"]];
  return {
    model,
    text: contentText(member(users.at(-1), "content")),
    promptCharacters:
      (text(body["instructions"]) ?? "").length +
      items.reduce<number>((sum, item) => sum + contentText(member(item, "content")).length, 0),
    images: users
      .flatMap((item) => list(member(item, "content")))
      .filter((part) => member(part, "type") === "input_image").length,
    tools: tools.flatMap((tool) => {
      const name = text(member(tool, "name"));
      return member(tool, "type") !== "function" || name === undefined
        ? []
        : [{ name, schema: member(tool, "parameters") }];
    }),
    toolChoice: readToolChoice(body["tool_choice"]),
    toolResult: member(last, "type") === "function_call_output" ? contentText(member(last, "output")) : undefined,
    schema:
      member(format, "type") === "json_schema"
        ? member(format, "schema")
        : member(format, "type") === "json_object"
          ? {}
          : undefined,
    maxTokens: count(body["max_output_tokens"]),
    thinks: member(body["reasoning"], "summary") !== undefined && member(body["reasoning"], "summary") !== null,
    remembers: items.some(
      (item) => member(item, "type") === "reasoning" && isOwnState(member(item, "encrypted_content")),
    ),
  };
}

function readToolChoice(choice: unknown): DemoQuestion["toolChoice"] {
  if (choice === "none" || choice === "required") return choice;
  const name = text(member(choice, "name"));
  return name === undefined ? "auto" : { name };
}

type Status = "in_progress" | "completed" | "incomplete";

function responseObject(context: ReplyContext, status: Status, output: readonly object[]): object {
  const { answer, body, question, serial } = context;
  const isDone = status !== "in_progress";
  return {
    id: `resp_demo${serial}`,
    object: "response",
    created_at: context.createdAt,
    status,
    completed_at: isDone ? context.createdAt : null,
    background: false,
    error: null,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    max_tool_calls: null,
    model: question.model,
    output,
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: body["reasoning"] ?? { effort: null, summary: null },
    safety_identifier: null,
    service_tier: "default",
    store: body["store"] ?? true,
    temperature: body["temperature"] ?? 1,
    text: body["text"] ?? { format: { type: "text" }, verbosity: "medium" },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: body["tools"] ?? [],
    top_logprobs: 0,
    top_p: body["top_p"] ?? 1,
    truncation: body["truncation"] ?? "disabled",
    usage: isDone
      ? {
          input_tokens: answer.inputTokens,
          input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
          output_tokens: answer.outputTokens,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: answer.inputTokens + answer.outputTokens,
        }
      : null,
    user: null,
    metadata: body["metadata"] ?? {},
  };
}

function finalStatus(context: ReplyContext): "completed" | "incomplete" {
  return context.answer.finish === "length" ? "incomplete" : "completed";
}

function textPart(content: string): object {
  return { type: "output_text", text: content, annotations: [], logprobs: [] };
}

function messageItem(context: ReplyContext, status: Status, content: readonly object[]): object {
  return { id: `msg_demo${context.serial}`, type: "message", status, role: "assistant", content };
}

function callItem(context: ReplyContext, status: Status, callArguments: string): object {
  const { serial, answer } = context;
  return {
    id: `fc_demo${serial}`,
    type: "function_call",
    status,
    call_id: `call_demo${serial}`,
    name: answer.toolCall?.name ?? "",
    arguments: callArguments,
  };
}

function finalItem(context: ReplyContext): object {
  const { answer } = context;
  return answer.toolCall === undefined
    ? messageItem(context, finalStatus(context), [textPart(answer.pieces.join(""))])
    : callItem(context, "completed", answer.toolCall.argumentsPieces.join(""));
}

function thoughtItem(context: ReplyContext): object | undefined {
  const { answer, body, serial } = context;
  if (answer.thought === undefined) return undefined;
  const isKept = list(body["include"]).includes("reasoning.encrypted_content");
  return {
    id: `rs_demo${serial}`,
    type: "reasoning",
    summary: [{ type: "summary_text", text: answer.thought.text }],
    ...(isKept ? { encrypted_content: answer.thought.state } : {}),
  };
}

function writeReply(context: ReplyContext): unknown {
  const thought = thoughtItem(context);
  const output = thought === undefined ? [finalItem(context)] : [thought, finalItem(context)];
  return responseObject(context, finalStatus(context), output);
}

/** Events of the thought, before everything else. */
function sendThought(context: ReplyContext, send: (type: string, fields: object) => void): void {
  const { answer, serial } = context;
  if (answer.thought === undefined) return;
  const item = { id: `rs_demo${serial}`, type: "reasoning", summary: [] };
  const place = { item_id: item.id, output_index: 0, summary_index: 0 };
  const { text: thought } = answer.thought;
  send("response.output_item.added", { output_index: 0, item });
  send("response.reasoning_summary_part.added", { ...place, part: { type: "summary_text", text: "" } });
  send("response.reasoning_summary_text.delta", { ...place, delta: thought });
  send("response.reasoning_summary_text.done", { ...place, text: thought });
  send("response.reasoning_summary_part.done", { ...place, part: { type: "summary_text", text: thought } });
  send("response.output_item.done", { output_index: 0, item: thoughtItem(context) });
}

function writeStream(context: ReplyContext): readonly string[] {
  const { answer, serial } = context;
  const events: string[] = [];
  const send = (type: string, fields: object): void => {
    events.push(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: events.length, ...fields })}\n\n`);
  };
  send("response.created", { response: responseObject(context, "in_progress", []) });
  send("response.in_progress", { response: responseObject(context, "in_progress", []) });
  sendThought(context, send);
  const output_index = answer.thought === undefined ? 0 : 1;
  if (answer.toolCall === undefined) {
    const place = { item_id: `msg_demo${serial}`, output_index, content_index: 0 };
    const whole = answer.pieces.join("");
    send("response.output_item.added", { output_index, item: messageItem(context, "in_progress", []) });
    send("response.content_part.added", { ...place, part: textPart("") });
    for (const piece of answer.pieces) send("response.output_text.delta", { ...place, delta: piece, logprobs: [] });
    send("response.output_text.done", { ...place, text: whole, logprobs: [] });
    send("response.content_part.done", { ...place, part: textPart(whole) });
  } else {
    const place = { item_id: `fc_demo${serial}`, output_index };
    send("response.output_item.added", { output_index, item: callItem(context, "in_progress", "") });
    for (const piece of answer.toolCall.argumentsPieces)
      send("response.function_call_arguments.delta", { ...place, delta: piece });
    send("response.function_call_arguments.done", {
      ...place,
      name: answer.toolCall.name,
      arguments: answer.toolCall.argumentsPieces.join(""),
    });
  }
  send("response.output_item.done", { output_index, item: finalItem(context) });
  send(`response.${finalStatus(context)}`, { response: writeReply(context) });
  return events;
}

function writeStreamError(message: string): string {
  const error = { type: "server_error", code: "server_error", message, param: null };
  return `event: error\ndata: ${JSON.stringify({ type: "error", sequence_number: 1_000_000, code: error.code, message, param: null, error })}\n\n`;
}

/** Chat completions as an upstream speaks them (`POST /v1/chat/completions`). */
import { contentText } from "./content-text.ts";
import type { DemoQuestion } from "./conversation.ts";
import { BadRequest, type DemoFormat, type ReplyContext } from "./format.ts";
import { wholeNumber } from "./http/read-option.ts";
import { count, isObject, type JsonObject, list, member, text } from "./json-view.ts";

/** As OpenAI's. */
const choicesMax = 128;

export const chatCompletions: DemoFormat = { readQuestion, writeReply, writeStream, writeError, writeStreamError };

function readQuestion(body: JsonObject): DemoQuestion {
  const model = text(body["model"]);
  const messages = list(body["messages"]);
  if (model === undefined) throw new BadRequest("model", "you must provide a model parameter");
  if (messages.length === 0) throw new BadRequest("messages", "'messages' must be an array with at least one item");
  const last = messages.at(-1);
  const users = messages.filter((message) => member(message, "role") === "user");
  const parts = users.flatMap((message) => list(member(message, "content")));
  const format = member(body, "response_format");
  return {
    model,
    text: contentText(member(users.at(-1), "content")),
    promptCharacters: messages.reduce<number>(
      (sum, message) => sum + contentText(member(message, "content")).length,
      0,
    ),
    images: parts.filter((part) => member(part, "type") === "image_url").length,
    tools: list(body["tools"]).flatMap((tool) => {
      const name = text(member(member(tool, "function"), "name"));
      return name === undefined ? [] : [{ name, schema: member(member(tool, "function"), "parameters") }];
    }),
    toolChoice: readToolChoice(body["tool_choice"]),
    toolResult: member(last, "role") === "tool" ? contentText(member(last, "content")) : undefined,
    schema:
      member(format, "type") === "json_schema"
        ? member(member(format, "json_schema"), "schema")
        : member(format, "type") === "json_object"
          ? {}
          : undefined,
    maxTokens: count(body["max_completion_tokens"]) ?? count(body["max_tokens"]),
    thinks: typeof body["reasoning_effort"] === "string" && body["reasoning_effort"] !== "none",
    remembers: false,
  };
}

function readToolChoice(choice: unknown): DemoQuestion["toolChoice"] {
  if (choice === "none" || choice === "required") return choice;
  const name = text(member(member(choice, "function"), "name"));
  return name === undefined ? "auto" : { name };
}

function finishReason(context: ReplyContext): string {
  return context.answer.finish === "tool" ? "tool_calls" : context.answer.finish;
}

function usage({ answer }: ReplyContext): object {
  return {
    prompt_tokens: answer.inputTokens,
    completion_tokens: answer.outputTokens,
    total_tokens: answer.inputTokens + answer.outputTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** `n`: how many choices; each is the same. @throws BadRequest for more than OpenAI makes */
function choiceCount(body: JsonObject): number {
  return wholeNumber(body, "n", 1, choicesMax) ?? 1;
}

function writeReply(context: ReplyContext): unknown {
  const { answer, question, body, serial } = context;
  const call = answer.toolCall;
  const thought = answer.thought === undefined ? {} : { reasoning_content: answer.thought.text };
  const message =
    call === undefined
      ? { role: "assistant", content: answer.pieces.join(""), ...thought, refusal: null, annotations: [] }
      : {
          role: "assistant",
          content: null,
          ...thought,
          refusal: null,
          annotations: [],
          tool_calls: [
            {
              id: `call_demo${serial}`,
              type: "function",
              function: { name: call.name, arguments: call.argumentsPieces.join("") },
            },
          ],
        };
  return {
    id: `chatcmpl-demo${serial}`,
    object: "chat.completion",
    created: context.createdAt,
    model: question.model,
    choices: Array.from({ length: choiceCount(body) }, (_, index) => ({
      index,
      message,
      logprobs: null,
      finish_reason: finishReason(context),
    })),
    usage: usage(context),
    service_tier: "default",
    system_fingerprint: "fp_demo",
  };
}

function writeStream(context: ReplyContext): readonly string[] {
  const { answer, question, body, serial } = context;
  const wantsUsage = member(body["stream_options"], "include_usage") === true;
  const chunk = (fields: object): string =>
    `data: ${JSON.stringify({
      id: `chatcmpl-demo${serial}`,
      object: "chat.completion.chunk",
      created: context.createdAt,
      model: question.model,
      service_tier: "default",
      system_fingerprint: "fp_demo",
      ...(wantsUsage ? { usage: null } : {}),
      ...fields,
    })}\n\n`;
  const indexes = Array.from({ length: choiceCount(body) }, (_, index) => index);
  const all = (delta: object, finish: string | null): string[] =>
    indexes.map((index) => chunk({ choices: [{ index, delta, logprobs: null, finish_reason: finish }] }));
  const call = answer.toolCall;
  const opening = { role: "assistant", content: call === undefined ? "" : null, refusal: null };
  const toolCall = (fields: object) => ({ tool_calls: [{ index: 0, ...fields }] });
  const content =
    call === undefined
      ? answer.pieces.flatMap((piece) => all({ content: piece }, null))
      : [
          ...all(
            toolCall({ id: `call_demo${serial}`, type: "function", function: { name: call.name, arguments: "" } }),
            null,
          ),
          ...call.argumentsPieces.flatMap((piece) => all(toolCall({ function: { arguments: piece } }), null)),
        ];
  return [
    ...all(opening, null),
    ...(answer.thought === undefined ? [] : all({ reasoning_content: answer.thought.text }, null)),
    ...content,
    ...all({}, finishReason(context)),
    ...(wantsUsage ? [chunk({ choices: [], usage: usage(context) })] : []),
    "data: [DONE]\n\n",
  ];
}

/** The error object of OpenAI-style interfaces; responses share it. */
export function writeError(status: number, message: string, param: string | undefined): unknown {
  const types: Readonly<Record<number, readonly [string, string | null]>> = {
    400: ["invalid_request_error", "invalid_value"],
    401: ["invalid_request_error", "invalid_api_key"],
    404: ["invalid_request_error", "model_not_found"],
    429: ["rate_limit_error", "rate_limit_exceeded"],
  };
  const [type, code] = types[status] ?? ["server_error", null];
  return { error: { message, type, param: param ?? null, code } };
}

function writeStreamError(message: string): string {
  const error = writeError(500, message, undefined);
  return `data: ${JSON.stringify(isObject(error) ? error : {})}\n\n`;
}

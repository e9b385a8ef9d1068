/**
 * generateContent and streamGenerateContent as an upstream speaks them. Streams are SSE or, without `alt=sse`, one JSON
 * array; the server frames them, this file writes the objects.
 */
import { type DemoQuestion, isOwnState } from "./conversation.ts";
import { BadRequest, type DemoFormat, type ReplyContext } from "./format.ts";
import { count, either, type JsonObject, list, member, text } from "./json-view.ts";

export const generateContent: DemoFormat = { readQuestion, writeReply, writeStream, writeError, writeStreamError };

function readQuestion(body: JsonObject, modelInPath: string | undefined): DemoQuestion {
  const contents = list(body["contents"]);
  if (contents.length === 0)
    throw new BadRequest("contents", "* GenerateContentRequest.contents: contents is not specified");
  const config = either(body, "generationConfig", "generation_config");
  const users = contents.filter((content) => member(content, "role") !== "model");
  const parts = users.flatMap((content) => list(member(content, "parts")));
  const calling = either(either(body, "toolConfig", "tool_config"), "functionCallingConfig", "function_calling_config");
  const result = list(member(contents.at(-1), "parts")).find(
    (part) => either(part, "functionResponse", "function_response") !== undefined,
  );
  const declarations = list(body["tools"]).flatMap((tool) =>
    list(either(tool, "functionDeclarations", "function_declarations")),
  );
  const isJson = either(config, "responseMimeType", "response_mime_type") === "application/json";
  return {
    model: (modelInPath ?? "").replace(/^models\//, ""),
    text: partsText(users.at(-1)),
    promptCharacters:
      partsText(either(body, "systemInstruction", "system_instruction")).length +
      contents.reduce<number>((sum, content) => sum + partsText(content).length, 0),
    images: parts.filter((part) => either(part, "inlineData", "inline_data", "fileData", "file_data") !== undefined)
      .length,
    tools: declarations.flatMap((declaration) => {
      const name = text(member(declaration, "name"));
      return name === undefined ? [] : [{ name, schema: either(declaration, "parameters", "parametersJsonSchema") }];
    }),
    toolChoice: readToolChoice(calling),
    toolResult:
      result === undefined
        ? undefined
        : JSON.stringify(member(either(result, "functionResponse", "function_response"), "response") ?? {}),
    schema: either(config, "responseSchema", "responseJsonSchema", "response_schema") ?? (isJson ? {} : undefined),
    maxTokens: count(either(config, "maxOutputTokens", "max_output_tokens")),
    thinks: member(either(config, "thinkingConfig", "thinking_config"), "includeThoughts") === true,
    remembers: contents
      .flatMap((content) => list(member(content, "parts")))
      .some((part) => isOwnState(either(part, "thoughtSignature", "thought_signature"))),
  };
}

function partsText(content: unknown): string {
  return list(member(content, "parts"))
    .map((part) => text(member(part, "text")) ?? "")
    .join("\n");
}

function readToolChoice(calling: unknown): DemoQuestion["toolChoice"] {
  const name = text(list(either(calling, "allowedFunctionNames", "allowed_function_names"))[0]);
  switch (member(calling, "mode")) {
    case "NONE":
      return "none";
    case "ANY":
      return name === undefined ? "required" : { name };
    default:
      return "auto";
  }
}

function reply(context: ReplyContext, parts: readonly object[], isLast: boolean, outputTokens: number): object {
  const { answer, question, serial } = context;
  const finish = isLast ? { finishReason: answer.finish === "length" ? "MAX_TOKENS" : "STOP" } : {};
  return {
    candidates: [{ content: { role: "model", parts }, ...finish, index: 0 }],
    usageMetadata: {
      promptTokenCount: answer.inputTokens,
      candidatesTokenCount: outputTokens,
      totalTokenCount: answer.inputTokens + outputTokens,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: answer.inputTokens }],
    },
    modelVersion: question.model,
    responseId: `demo${serial}`,
  };
}

function thoughtParts({ answer }: ReplyContext): readonly object[] {
  return answer.thought === undefined ? [] : [{ text: answer.thought.text, thought: true }];
}

/** Google signs the call of a step, or its last text. */
function signature({ answer }: ReplyContext): object {
  return answer.thought === undefined ? {} : { thoughtSignature: Buffer.from(answer.thought.state).toString("base64") };
}

function callPart(context: ReplyContext): object {
  const call = context.answer.toolCall;
  return {
    ...signature(context),
    functionCall: {
      id: `call_demo${context.serial}`,
      name: call?.name ?? "",
      args: JSON.parse(call?.argumentsPieces.join("") ?? "{}"),
    },
  };
}

function writeReply(context: ReplyContext): unknown {
  const { answer } = context;
  const part = answer.toolCall === undefined ? { text: answer.pieces.join("") } : callPart(context);
  return reply(context, [...thoughtParts(context), part], true, answer.outputTokens);
}

/** One JSON text an event, without framing. */
function writeStream(context: ReplyContext): readonly string[] {
  const { answer } = context;
  const parts = answer.toolCall === undefined ? answer.pieces.map((piece) => ({ text: piece })) : [callPart(context)];
  const before = thoughtParts(context).map((part) => JSON.stringify(reply(context, [part], false, 0)));
  return [
    ...before,
    ...parts.map((part, index) =>
      JSON.stringify(reply(context, [part], false, answer.toolCall === undefined ? index + 1 : answer.outputTokens)),
    ),
    JSON.stringify(reply(context, [{ text: "" }], true, answer.outputTokens)),
  ];
}

function writeError(status: number, message: string): unknown {
  const names: Readonly<Record<number, string>> = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
  };
  return { error: { code: status, message, status: names[status] ?? "INTERNAL" } };
}

function writeStreamError(message: string): string {
  return JSON.stringify({ error: { code: 503, message, status: "UNAVAILABLE" } });
}

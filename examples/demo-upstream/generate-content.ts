/**
 * generateContent and streamGenerateContent as an upstream speaks them. Streams are SSE or, without `alt=sse`, one JSON
 * array; the server frames them, this file writes the objects.
 */
import { type DemoQuestion, isOwnState } from "./conversation.ts";
import { BadRequest, type DemoFormat, type ReplyContext } from "./format.ts";
import { type GeneratedMedia, generateMedia } from "./generated-media.ts";
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

interface Progress {
  readonly parts: readonly object[];
  readonly isLast: boolean;
  /** Tokens of text so far. */
  readonly textTokens: number;
  /** Pictures and speech so far. */
  readonly media: GeneratedMedia | undefined;
}

function reply(context: ReplyContext, { parts, isLast, textTokens, media }: Progress): object {
  const { answer, question, serial } = context;
  const finish = isLast ? { finishReason: answer.finish === "length" ? "MAX_TOKENS" : "STOP" } : {};
  const outputTokens = (media?.tokens ?? []).reduce((sum, { tokenCount }) => sum + tokenCount, textTokens);
  return {
    candidates: [{ content: { role: "model", parts }, ...finish, index: 0 }],
    usageMetadata: {
      promptTokenCount: answer.inputTokens,
      candidatesTokenCount: outputTokens,
      totalTokenCount: answer.inputTokens + outputTokens,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: answer.inputTokens }],
      ...(media === undefined ? {} : { candidatesTokensDetails: media.tokens }),
    },
    modelVersion: question.model,
    responseId: `demo${serial}`,
  };
}

/** A call of a tool is a reply without pictures and speech. */
function mediaOf({ answer, body, question }: ReplyContext): GeneratedMedia | undefined {
  return answer.toolCall === undefined ? generateMedia(body, question.text) : undefined;
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
  const media = mediaOf(context);
  const hasText = media?.isTextWanted ?? true;
  const part = answer.toolCall === undefined ? { text: answer.pieces.join("") } : callPart(context);
  const parts = [...thoughtParts(context), ...(hasText ? [part] : []), ...(media?.parts ?? [])];
  return reply(context, { parts, isLast: true, textTokens: hasText ? answer.outputTokens : 0, media });
}

/** One JSON text an event, without framing. */
function writeStream(context: ReplyContext): readonly string[] {
  const { answer } = context;
  const media = mediaOf(context);
  const pieces = media?.isTextWanted === false ? [] : answer.pieces.map((piece) => ({ text: piece }));
  const isCall = answer.toolCall !== undefined;
  const spoken = isCall ? [callPart(context)] : pieces;
  const event = (part: object, textTokens: number, made?: GeneratedMedia, isLast = false): string =>
    JSON.stringify(reply(context, { parts: [part], isLast, textTokens, media: made }));
  const textTokens = isCall ? answer.outputTokens : spoken.length;
  return [
    ...thoughtParts(context).map((part) => event(part, 0)),
    ...spoken.map((part, index) => event(part, isCall ? textTokens : index + 1)),
    ...(media?.parts ?? []).map((part) => event(part, textTokens, media)),
    event({ text: "" }, textTokens, media, true),
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

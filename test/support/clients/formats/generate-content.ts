/** generateContent as Google speaks it: the pages "Generating content", "Function calling" and "Thought signatures". */
import { either, type JsonObject, list, member, text } from "#examples/demo-upstream/json-view";
import { type Failure, type Question, usage } from "#test/support/clients/scenario";
import { failureMessages, piecesOf, type ScriptedFormat, type TurnContext } from "./scripted-format.ts";

export const generateContent: ScriptedFormat = { read, writeStream, writeReply, writeError };

/** How every signature of this upstream begins, before it is put into base64. */
export const signatureMark = "scripted-signature-";

function read(body: JsonObject, path: string): Question {
  const parts = list(body["contents"]).flatMap((content) => list(member(content, "parts")));
  const [, model = "", verb = ""] = /\/models\/([^:]+):(\w+)/.exec(decodeURIComponent(path)) ?? [];
  return {
    model,
    isStream: verb === "streamGenerateContent",
    tools: list(body["tools"])
      .flatMap((tool) => list(either(tool, "functionDeclarations", "function_declarations")))
      .flatMap((declaration) => text(member(declaration, "name")) ?? []),
    results: parts.flatMap((part) => {
      const result = either(part, "functionResponse", "function_response");
      return result === undefined ? [] : resultText(member(result, "response"));
    }),
  };
}

/** Clients put a result under a name of their choice. */
function resultText(response: unknown): string {
  return text(either(response, "output", "result", "content")) ?? JSON.stringify(response ?? {});
}

function chunk({ question, serial }: TurnContext, parts: readonly object[], isLast: boolean): object {
  return {
    candidates: [{ content: { role: "model", parts }, ...(isLast ? { finishReason: "STOP" } : {}), index: 0 }],
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: isLast ? usage.output : 1,
      totalTokenCount: usage.input + (isLast ? usage.output : 1),
    },
    modelVersion: question.model,
    responseId: `scripted${serial}`,
  };
}

/** Only the first call of a step is signed. */
function callParts({ turn, serial }: TurnContext): object[] {
  return (turn.calls ?? []).map((call, index) => ({
    functionCall: { id: `call_${serial}_${index}`, name: call.name, args: call.arguments },
    ...(index === 0 ? { thoughtSignature: Buffer.from(`${signatureMark}${serial}`).toString("base64") } : {}),
  }));
}

function thoughtParts({ turn, body }: TurnContext): object[] {
  const thinking = member(body["generationConfig"], "thinkingConfig");
  const isShown = member(thinking, "includeThoughts") === true && turn.thinking !== undefined;
  return isShown ? [{ text: turn.thinking, thought: true }] : [];
}

function writeReply(context: TurnContext): object {
  const said = context.turn.text === undefined ? [] : [{ text: context.turn.text }];
  return chunk(context, [...thoughtParts(context), ...said, ...callParts(context)], true);
}

function writeStream(context: TurnContext): readonly string[] {
  const { turn } = context;
  const frame = (json: object): string => `data: ${JSON.stringify(json)}\r\n\r\n`;
  const begun = [...thoughtParts(context), ...piecesOf(turn.text ?? "").map((piece) => ({ text: piece }))].map((part) =>
    frame(chunk(context, [part], false)),
  );
  if (turn.isCut === true) return begun;
  if (turn.failure !== undefined) return [...begun, frame(failureError(turn.failure))];
  const calls = callParts(context);
  return [...begun, frame(chunk(context, calls.length === 0 ? [{ text: "" }] : calls, true))];
}

const failureStatuses: Readonly<Record<Failure, number>> = { overloaded: 503, quota: 429, contextOverflow: 400 };

function failureError(failure: Failure): object {
  const message =
    failure === "contextOverflow"
      ? "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
      : failureMessages[failure];
  return writeError(failureStatuses[failure], message);
}

function writeError(status: number, message: string): object {
  const statuses: Readonly<Record<number, string>> = {
    400: "INVALID_ARGUMENT",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
  };
  return { error: { code: status, message, status: statuses[status] ?? "INTERNAL" } };
}

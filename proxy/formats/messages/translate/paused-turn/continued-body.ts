/**
 * Builds the request that continues a paused turn: the first request of the turn, with all content so far as its last
 * message (docs/design/messages.md 4.1).
 *
 * Every other byte of the conversation stays, so that the provider finds it in its cache, and no body is read as a
 * value, however large. Pure.
 */
import { BodyEditor } from "#proxy/json/body-editor";
import { asList, isObject, type JsonObject, member, parseJson } from "#proxy/json/json-value";
import { scanMembers } from "#proxy/json/strict-json";

/** The least that the provider takes. */
const thinkingBudgetLeast = 1_024;

export interface TurnContent {
  /** Blocks of the turn so far, as they came. */
  readonly content: readonly unknown[];
  /** Where the provider's programs ran: what they left there is still there. */
  readonly containerId: unknown;
  /** Tokens, thinking included. */
  readonly outputTokens: number;
}

export interface ContinuedBody {
  readonly bytes: Buffer;
  readonly outputCap: number;
}

/**
 * The client's cap is for the whole response: the output so far counts. The budget for thinking shrinks with it.
 * @param request body of the first request of the turn
 * @returns undefined when nothing is left of the cap
 */
export function continuedBody(request: Buffer, soFar: TurnContent): ContinuedBody | undefined {
  const editor = new BodyEditor(scanMembers(request, 0, request.length));
  const read = (name: string): unknown => parseJson(editor.text(name) ?? "null");
  const cap = read("max_tokens");
  if (typeof cap !== "number") return undefined;
  const outputCap = cap - soFar.outputTokens;
  const thinking = shrunkThinking(read("thinking"), outputCap / cap);
  const budget = member(thinking, "budget_tokens");
  if (outputCap <= 0 || (typeof budget === "number" && budget >= outputCap)) return undefined;
  const { containerId, content } = soFar;
  editor.set("messages", withMessage(editor.text("messages") ?? "[]", { role: "assistant", content }));
  editor.set("max_tokens", String(outputCap));
  editor.set("stream", "true");
  if (thinking !== undefined) editor.set("thinking", JSON.stringify(thinking));
  if (typeof containerId === "string" && !editor.has("container")) {
    editor.set("container", JSON.stringify(containerId));
  }
  if (forcesHosted(read("tool_choice"), read("tools"))) editor.set("tool_choice", '{"type":"auto"}');
  return { bytes: editor.build(), outputCap };
}

/** @param list text of an array */
function withMessage(list: string, message: JsonObject): string {
  const begun = list.slice(0, list.lastIndexOf("]")).trimEnd();
  return `${begun}${begun.endsWith("[") ? "" : ","}${JSON.stringify(message)}]`;
}

function shrunkThinking(thinking: unknown, share: number): JsonObject | undefined {
  const budget = member(thinking, "budget_tokens");
  if (!isObject(thinking) || typeof budget !== "number") return undefined;
  return { ...thinking, budget_tokens: Math.max(thinkingBudgetLeast, Math.floor(budget * share)) };
}

/** Asked for again, a tool of the provider's that had to be used would be used without end. */
function forcesHosted(choice: unknown, tools: unknown): boolean {
  const type = member(choice, "type");
  if (type === "any") return asList(tools).every(isHosted);
  return (
    type === "tool" && asList(tools).some((tool) => member(tool, "name") === member(choice, "name") && isHosted(tool))
  );
}

/** Tools of the client's have no type, or this one. */
function isHosted(tool: unknown): boolean {
  const type = member(tool, "type");
  return typeof type === "string" && type !== "custom";
}

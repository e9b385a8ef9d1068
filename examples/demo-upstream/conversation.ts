/**
 * What the demo model understands of a request and what it answers, apart from any wire format.
 *
 * Pure and deterministic: the same question gives the same answer, so tests can know it beforehand.
 */

export interface DemoTool {
  readonly name: string;
  /** JSON schema of the arguments, as declared. */
  readonly schema: unknown;
}

export interface DemoQuestion {
  readonly model: string;
  /** Text of the last user message. */
  readonly text: string;
  /** Characters of all text in the request: the base of the input count. */
  readonly promptCharacters: number;
  readonly images: number;
  readonly tools: readonly DemoTool[];
  /** `auto`: call the first tool when the text asks for one; a name: call that one. */
  readonly toolChoice: "auto" | "none" | "required" | { readonly name: string };
  /** The last message is a tool's result: answer with it. */
  readonly toolResult: string | undefined;
  /** Answer must be JSON that fits this schema; `true` fits any JSON object. */
  readonly schema: unknown;
  readonly maxTokens: number | undefined;
  /** Thinking is on and may be shown. */
  readonly thinks: boolean;
  /** State of an earlier thought came back with the history, as this upstream gave it. */
  readonly remembers: boolean;
}

export interface DemoAnswer {
  /** Pieces of a word or so each; a token is a piece. */
  readonly pieces: readonly string[];
  /** Said before everything else; the state must come back unchanged in the next turn. */
  readonly thought: { readonly text: string; readonly state: string } | undefined;
  readonly toolCall: { readonly name: string; readonly argumentsPieces: readonly string[] } | undefined;
  readonly finish: "stop" | "length" | "tool";
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** How the state of a thought begins: opaque to everybody else. */
const stateMark = "demo-state-";

/** Whether a piece of state is one that this upstream made. Gemini-style state is base64 on the wire. */
export function isOwnState(state: unknown): boolean {
  if (typeof state !== "string") return false;
  return state.startsWith(stateMark) || Buffer.from(state, "base64").toString("latin1").startsWith(stateMark);
}

/** Answers a question: an echo, a tool call or a document that fits a schema. */
export function answer(question: DemoQuestion): DemoAnswer {
  const tool = chooseTool(question);
  const thought = question.thinks ? { text: "The demo thinks.", state: `${stateMark}${question.model}` } : undefined;
  const inputTokens = Math.max(1, Math.ceil(question.promptCharacters / 4)) + question.images * 85;
  if (tool !== undefined) {
    const argumentsPieces = cut(JSON.stringify(exampleOf(tool.schema, tool.schema, 0)));
    return {
      pieces: [],
      thought,
      toolCall: { name: tool.name, argumentsPieces },
      finish: "tool",
      inputTokens,
      outputTokens: argumentsPieces.length + 2,
    };
  }
  const whole = cut(compose(question));
  const pieces = question.maxTokens === undefined ? whole : whole.slice(0, Math.max(0, question.maxTokens));
  const finish = pieces.length < whole.length ? "length" : "stop";
  return { pieces, thought, toolCall: undefined, finish, inputTokens, outputTokens: pieces.length };
}

function chooseTool(question: DemoQuestion): DemoTool | undefined {
  const { tools, toolChoice } = question;
  if (tools.length === 0 || toolChoice === "none" || question.toolResult !== undefined) return undefined;
  if (typeof toolChoice === "object") return tools.find((tool) => tool.name === toolChoice.name) ?? tools[0];
  if (toolChoice === "required") return tools[0];
  const asked = tools.find((tool) => question.text.includes(tool.name));
  return asked ?? (/\b(tool|function|weather)\b/i.test(question.text) ? tools[0] : undefined);
}

function compose(question: DemoQuestion): string {
  if (question.schema !== undefined) return JSON.stringify(exampleOf(question.schema, question.schema, 0));
  if (question.toolResult !== undefined) {
    const memory = question.remembers ? "I remember what I thought. " : "";
    return `${memory}The tool answered: ${question.toolResult.slice(0, 400)}`;
  }
  const seen =
    question.images === 0 ? "" : ` I see ${question.images === 1 ? "an image" : `${question.images} images`}.`;
  const text = question.text.length > 400 ? `${question.text.slice(0, 400)}...` : question.text;
  return `This is the demo upstream, model ${question.model}.${seen} You said: ${text}`;
}

/** Cuts text into words with the space before them; long words into parts. No piece splits a character. */
function cut(text: string): string[] {
  return text.match(/\s*[^\s]{1,12}|\s+$/gu) ?? [];
}

interface SchemaView {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly items?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly unknown[];
  readonly oneOf?: readonly unknown[];
  readonly $ref?: unknown;
  readonly minimum?: unknown;
  readonly minItems?: unknown;
}

/** A small value that fits a JSON schema (or the OpenAPI subset of Gemini), as far as types, enums and references go. */
export function exampleOf(schema: unknown, root: unknown, depth: number): unknown {
  if (!isSchema(schema) || depth > 8) return {};
  if (typeof schema.$ref === "string") return exampleOf(resolve(schema.$ref, root), root, depth + 1);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined && schema.enum.length > 0) return schema.enum[0];
  const branch = schema.anyOf?.[0] ?? schema.oneOf?.[0];
  if (branch !== undefined) return exampleOf(branch, root, depth + 1);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (typeof type === "string" ? type.toLowerCase() : undefined) {
    case "string":
      return "demo";
    case "integer":
    case "number":
      return typeof schema.minimum === "number" ? schema.minimum : 1;
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return [exampleOf(schema.items, root, depth + 1)];
    default:
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, child]) => [name, exampleOf(child, root, depth + 1)]),
      );
  }
}

function isSchema(value: unknown): value is SchemaView {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Local references only: `#/$defs/Name`. */
function resolve(reference: string, root: unknown): unknown {
  let at: unknown = root;
  for (const part of reference.replace(/^#\/?/, "").split("/")) {
    if (part === "") continue;
    at = typeof at === "object" && at !== null ? Object.entries(at).find(([name]) => name === part)?.[1] : undefined;
  }
  return at;
}

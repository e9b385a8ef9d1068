/** The facts of a request, whatever its protocol: what two requests must share to ask the same. */
import { createHash } from "node:crypto";
import { at, list, text } from "#test/support/digest/facts";

export type RequestItem =
  | { readonly text: string }
  /** `sha256:` of the bytes, or the url. */
  | { readonly file: string; readonly kind: string }
  | { readonly call: string; readonly args: unknown }
  | { readonly result: unknown };

export interface RequestTurn {
  readonly role: "user" | "assistant";
  readonly items: RequestItem[];
}

export interface RequestTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
}

export interface RequestDigest {
  system: string;
  turns: RequestTurn[];
  tools: RequestTool[];
  /** `auto`, `none`, `required`, or the name of the one tool; null when not said. */
  tool_choice: string | null;
  max_tokens: number | null;
  temperature: number | null;
  top_p: number | null;
  top_k: number | null;
  stop: string[];
  /** Whether the answer must be JSON: `json`, `schema`, or null. */
  structured: "json" | "schema" | null;
  /** Whether thinking was asked for (true), forbidden (false) or left alone. */
  thinking: boolean | null;
  stream: boolean;
  n: number;
  seed: number | null;
  parallel: boolean | null;
  user: string | null;
}

export function emptyRequest(): RequestDigest {
  return {
    system: "",
    turns: [],
    tools: [],
    tool_choice: null,
    max_tokens: null,
    temperature: null,
    top_p: null,
    top_k: null,
    stop: [],
    structured: null,
    thinking: null,
    stream: false,
    n: 1,
    seed: null,
    parallel: null,
    user: null,
  };
}

/** Adds items to a side of the conversation; neighbouring messages of one side form one turn. */
export function addItems(facts: RequestDigest, role: RequestTurn["role"], items: readonly RequestItem[]): void {
  if (items.length === 0) return;
  const last = facts.turns.at(-1);
  if (last?.role === role) last.items.push(...items);
  else facts.turns.push({ role, items: [...items] });
}

export function addSystem(facts: RequestDigest, piece: string): void {
  facts.system += piece;
}

export function fileOf(
  kind: string,
  source: { readonly base64?: string; readonly url?: string; readonly text?: string },
): RequestItem {
  if (source.text !== undefined) return { text: source.text };
  const data = /^data:[^,]*;base64,(.*)$/s.exec(source.url ?? "")?.[1] ?? source.base64;
  if (data === undefined) return { kind, file: source.url ?? "" };
  return { kind, file: `sha256:${createHash("sha256").update(Buffer.from(data, "base64")).digest("hex")}` };
}

const wrappers = new Set(["content", "output", "result", "response", "text", "error"]);

/**
 * Text as it compares: without white space and without the gateway's own marks around what the target has no form for
 * (docs/design/translation.md 4.4: documents, search results, files of results).
 */
export function comparableText(value: string): string {
  return value
    .replace(/<\/?(?:document|search_result)[^>]*>/g, "")
    .replace(/Tool result for [\w-]+:/g, "")
    .replace(/\s+/g, "");
}

/** A result is its JSON value: JSON text is parsed, one-key wrappers are opened, text parts join. */
export function resultValue(value: unknown): unknown {
  if (Array.isArray(value)) {
    const texts = value.map((part) => at(part, "text")).filter((part) => typeof part === "string");
    return texts.length === value.length && texts.length > 0 ? resultValue(texts.join("\n")) : value;
  }
  if (typeof value === "string") {
    const bare = value.replace(/^Error: /, "");
    try {
      const parsed: unknown = JSON.parse(bare);
      return typeof parsed === "object" && parsed !== null ? resultValue(parsed) : parsed;
    } catch {
      return comparableText(bare);
    }
  }
  if (typeof value !== "object" || value === null) return value;
  const [name, ...more] = Object.keys(value);
  return name !== undefined && more.length === 0 && wrappers.has(name) ? resultValue(at(value, name)) : value;
}

/** Arguments as a value; empty is `{}`. */
export function argumentsValue(value: unknown): unknown {
  if (typeof value !== "string") return value ?? {};
  if (value.trim() === "") return {};
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

export function numberOrNull(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

export function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function texts(value: unknown): string[] {
  return typeof value === "string" ? [value] : list(value).map(text);
}

/** Names of parameters at the top level of a schema, sorted. */
export function parameterNames(schema: unknown): string[] {
  return Object.keys(Object(at(schema, "properties"))).sort();
}

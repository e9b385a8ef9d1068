/** The facts of a reply, whatever its protocol: what two replies must share to say the same. */

export type DigestProtocol = "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini";

export interface ToolFact {
  readonly id: string | null;
  readonly name: string;
  readonly args: unknown;
}

export interface UsageFact {
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly reasoning: number | null;
}

export interface ErrorFact {
  readonly cls: string;
  readonly message: string;
}

export interface Digest {
  status: "ok" | "error";
  text: string;
  refusal: string;
  reasoning: string;
  tools: ToolFact[];
  server_tools: string[];
  finish: string | null;
  usage: UsageFact | null;
  media: { mime: string; sha256?: string; url?: string }[];
  citations: { url: string; title: string | null }[];
  signatures: string[];
  choices: number;
  error: ErrorFact | null;
  warnings: string[];
  /** Order of visible text and tool calls; neighbouring texts count once. */
  order: ("text" | "tool")[];
}

export function emptyDigest(): Digest {
  return {
    status: "ok",
    text: "",
    refusal: "",
    reasoning: "",
    tools: [],
    server_tools: [],
    finish: null,
    usage: null,
    media: [],
    citations: [],
    signatures: [],
    choices: 0,
    error: null,
    warnings: [],
    order: [],
  };
}

/** Loose JSON access for tests: every step of the path may be missing. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null) return undefined;
    current = Reflect.get(current, step);
  }
  return current;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function number(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** Tool arguments: absent is `{}`, text is parsed, text that was cut off is kept raw. */
export function parseArguments(value: unknown): unknown {
  if (value === null || value === undefined || value === "") return {};
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return { $raw: value };
  }
}

/** Notes that visible text or a tool call comes next. */
export function noteOrder(digest: Digest, kind: "text" | "tool"): void {
  if (kind === "tool" || digest.order.at(-1) !== "text") digest.order.push(kind);
}

export function addCitation(digest: Digest, url: unknown, title: unknown): void {
  if (typeof url !== "string" || url === "" || digest.citations.some((known) => known.url === url)) return;
  digest.citations.push({ url, title: typeof title === "string" ? title : null });
}

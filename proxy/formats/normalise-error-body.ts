/**
 * Normalises the error bodies of providers to one set of facts (docs/design/errors.md 1): OpenAI, Anthropic and Google
 * objects, Google's array, FastAPI's `detail`, bare strings, HTML, nothing.
 */
import { asList, asText, isObject, type JsonObject, member, memberAt, parseJson } from "#proxy/json/json-value";

export interface ErrorFacts {
  /** First text found, no HTML; empty when there is none. Whole: what a client may not see is found in whole text. */
  readonly message: string;
  /** Words by which the provider names the condition: type, code, status, reason; lower case, joined with spaces. */
  readonly words: string;
  readonly param: string | undefined;
  /** A status that the body itself states. */
  readonly statedStatus: number | undefined;
  /** Google's RetryInfo. */
  readonly retryAfterMs: number | undefined;
  readonly isHtml: boolean;
}

/** Nobody says more than this; an event may hold megabytes. */
const textLengthMax = 256 * 1024;
const retryDelay = /^(\d{1,9}(?:\.\d{1,9})?)s$/;

/** Reads the body of a reply whose status is an error. */
export function readErrorBody(body: Buffer): ErrorFacts {
  const text = body.toString("utf8", 0, textLengthMax).trim();
  const json = parseJson(text);
  return json === undefined ? readErrorText(text) : readErrorJson(json);
}

function readErrorText(text: string): ErrorFacts {
  const isHtml = text.startsWith("<");
  return facts({ message: isHtml ? "" : text, isHtml });
}

/** Reads parsed JSON: a body, or the data of an error event, which may be plain text. */
export function readErrorJson(json: unknown): ErrorFacts {
  const outer = Array.isArray(json) ? json[0] : json;
  if (typeof outer === "string") return readErrorText(outer.trim());
  if (!isObject(outer)) return facts({});
  const inner = innerError(outer);
  const message = firstText(inner, outer);
  return facts({
    message,
    words: wordsOf(inner, outer),
    param: text(member(inner, "param")),
    statedStatus: statedStatus(inner, outer),
    retryAfterMs: retryAfterOf(inner),
  });
}

function facts(known: Partial<ErrorFacts>): ErrorFacts {
  return {
    words: "",
    param: undefined,
    statedStatus: undefined,
    retryAfterMs: undefined,
    isHtml: false,
    ...known,
    message: (known.message ?? "").slice(0, textLengthMax),
  };
}

function innerError(outer: JsonObject): unknown {
  const error = outer["error"];
  if (isObject(error) || typeof error === "string") return error;
  if (Array.isArray(error)) return error[0];
  const nested = memberAt(outer, "response", "error");
  if (isObject(nested)) return nested;
  const listed = asList(outer["errors"])[0];
  return listed ?? outer;
}

function firstText(inner: unknown, outer: JsonObject): string {
  if (typeof inner === "string") return inner;
  const candidates = [
    member(inner, "message"),
    outer["detail"],
    member(asList(outer["detail"])[0], "msg"),
    outer["message"],
    member(inner, "msg"),
    outer["msg"],
    outer["error_description"],
  ];
  for (const candidate of candidates) if (typeof candidate === "string" && candidate !== "") return candidate;
  return "";
}

function wordsOf(inner: unknown, outer: JsonObject): string {
  const named = [
    member(inner, "type"),
    member(inner, "code"),
    member(inner, "status"),
    memberAt(inner, "details", "error_code"),
    memberAt(inner, "innererror", "code"),
    outer["code"],
    outer["__type"],
  ];
  for (const detail of asList(member(inner, "details"))) named.push(member(detail, "reason"));
  return named
    .map((value) => asText(value))
    .filter((word) => word !== "")
    .join(" ")
    .toLowerCase();
}

function statedStatus(inner: unknown, outer: JsonObject): number | undefined {
  for (const value of [member(inner, "code"), member(inner, "status_code"), member(inner, "status"), outer["status"]]) {
    const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
    if (typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 599) return status;
  }
  return undefined;
}

function retryAfterOf(inner: unknown): number | undefined {
  for (const detail of asList(member(inner, "details"))) {
    const delay = retryDelay.exec(asText(member(detail, "retryDelay")));
    if (delay !== null) return Math.ceil(Number(delay[1]) * 1_000);
  }
  return undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

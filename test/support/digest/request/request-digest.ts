/**
 * The semantic digest of requests: folds a request of any chat format to the facts it states, and compares two of them.
 * docs/design/recorded-traffic.md 2 defines it. Shares no code with the proxy.
 */
import { isDeepStrictEqual } from "node:util";
import type { Difference } from "#test/support/digest/compare";
import type { DigestProtocol } from "#test/support/digest/facts";
import { digestChatRequest } from "./request-chat.ts";
import { comparableText, emptyRequest, parameterNames, type RequestDigest, type RequestItem } from "./request-facts.ts";
import { digestGeminiRequest } from "./request-gemini.ts";
import { digestMessagesRequest } from "./request-messages.ts";
import { digestResponsesRequest } from "./request-responses.ts";

const readers = {
  "openai-chat": digestChatRequest,
  "openai-responses": digestResponsesRequest,
  "anthropic-messages": digestMessagesRequest,
  gemini: digestGeminiRequest,
} as const;

export function digestRequest(protocol: DigestProtocol, body: unknown): RequestDigest {
  const facts = emptyRequest();
  readers[protocol](body, facts);
  facts.stream = protocol !== "gemini" && Reflect.get(Object(body), "stream") === true;
  return facts;
}

/** What a translated request lost or changed. @param to protocol of the upstream */
export function compareRequests(asked: RequestDigest, sent: RequestDigest, to: DigestProtocol): Difference[] {
  const differences: Difference[] = [];
  const check = (level: Difference["level"], fact: string, upstream: unknown, client: unknown): void => {
    if (!isDeepStrictEqual(upstream, client)) differences.push({ level, fact, upstream, client });
  };
  const squeeze = (value: string): string => value.replace(/\s+/g, "");
  check("must", "system", squeeze(asked.system), squeeze(sent.system));
  check("must", "turns", comparableTurns(asked), comparableTurns(sent));
  const outline = ({ tools }: RequestDigest): unknown =>
    tools.map(({ name, description, parameters }) => ({ name, description, parameters: parameterNames(parameters) }));
  check("must", "tools", outline(asked), outline(sent));
  check("must", "tool choice", choiceOf(asked), choiceOf(sent));
  if (asked.max_tokens !== null) check("must", "max tokens", asked.max_tokens, sent.max_tokens);
  const isAboveOne = to === "anthropic-messages" && (asked.temperature ?? 0) > 1;
  if (!isAboveOne) check("must", "temperature", asked.temperature, sent.temperature);
  check("must", "top_p", asked.top_p, sent.top_p);
  if (to !== "openai-responses") check("must", "stop", asked.stop, sent.stop);
  check("must", "structured", asked.structured, sent.structured);
  check("should", "schemas", asked.tools.map(schemaOf), sent.tools.map(schemaOf));
  check("should", "top_k", asked.top_k, sent.top_k);
  check("should", "seed", asked.seed, sent.seed);
  check("should", "n", asked.n, sent.n);
  check("should", "parallel", asked.parallel !== false, sent.parallel !== false);
  check("should", "user", asked.user, sent.user);
  check("should", "thinking", asked.thinking, sent.thinking);
  return differences;
}

function choiceOf({ tool_choice, tools }: RequestDigest): string {
  return tools.length === 0 ? "auto" : (tool_choice ?? "auto");
}

/** Texts of a turn join: where one ends and the next begins is no fact. Calls and results keep their order. */
function comparableTurns({ turns }: RequestDigest): unknown {
  return turns.map(({ role, items }) => ({
    role,
    text: comparableText(items.map((item) => ("text" in item ? item.text : "")).join("")),
    files: items.flatMap((item) => ("file" in item ? [`${item.kind} ${item.file}`] : [])),
    calls: items.filter((item): item is Extract<RequestItem, { call: string }> => "call" in item),
    results: items.flatMap((item) => ("result" in item ? [item.result] : [])),
  }));
}

function schemaOf({ parameters }: { readonly parameters: unknown }): unknown {
  return normalised(parameters);
}

/** One form of a schema for all protocols: type names in lower case, empty and provider's own keywords left out. */
function normalised(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalised);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([name]) => !["additionalProperties", "propertyOrdering", "$schema", "strict"].includes(name))
    .map(
      ([name, member]) =>
        [name, name === "type" && typeof member === "string" ? member.toLowerCase() : normalised(member)] as const,
    )
    .filter(([name, member]) => !(name === "properties" && Object.keys(Object(member)).length === 0))
    .filter(([name, member]) => !(name === "required" && Array.isArray(member) && member.length === 0));
  const schema = Object.fromEntries(entries);
  return Object.keys(schema).length === 1 && Reflect.get(schema, "type") === "object" ? null : schema;
}

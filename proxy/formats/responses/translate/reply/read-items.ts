/** Reads output items as blocks (docs/design/responses.md 4). */
import { asList, asText, isObject, type JsonObject, member, parseJson } from "#proxy/json/json-value";
import type { ProviderState } from "#proxy/neutral/conversation";
import type {
  CallBlock,
  Citation,
  HostedBlock,
  MediaBlock,
  ReplyBlock,
  TextBlock,
  TokenLogprob,
} from "#proxy/neutral/reply";

/**
 * Blocks of one item; none for one that says nothing.
 * @param declared names of the client's tools
 */
export function readItem(item: JsonObject, declared: ReadonlySet<string>): readonly ReplyBlock[] {
  switch (item["type"]) {
    case "message":
      return asList(item["content"]).flatMap(readMessagePart);
    case "reasoning":
      return readReasoning(item);
    case "function_call":
      return expandParallel(readCall(item), declared);
    case "custom_tool_call":
      return [readCall(item)];
    default:
      return [readHosted(item)];
  }
}

function readMessagePart(part: unknown): readonly ReplyBlock[] {
  if (!isObject(part)) return [];
  if (part["type"] === "refusal") {
    const text = asText(part["refusal"]);
    return text === "" ? [] : [{ kind: "refusal", text, states: [] }];
  }
  const block: TextBlock = {
    kind: "text",
    text: asText(part["text"]),
    citations: readCitations(part["annotations"]),
    logprobs: readLogprobs(part["logprobs"]),
    states: [],
  };
  return block.text === "" ? [] : [block];
}

/** What an item thought: its own words, else their summaries. */
export function reasoningText(item: JsonObject): string {
  const content = textsOf(item["content"]);
  return content.length > 0 ? content.join("") : textsOf(item["summary"]).join("\n\n");
}

function textsOf(parts: unknown): readonly string[] {
  return asList(parts).map((part) => asText(member(part, "text")));
}

/** Undefined when the item carries none. */
export function reasoningState(item: JsonObject): ProviderState | undefined {
  const data = asText(item["encrypted_content"]);
  if (data === "") return undefined;
  return { kind: "encrypted-reasoning", id: asText(item["id"]), data, summary: textsOf(item["summary"]) };
}

function readReasoning(item: JsonObject): readonly ReplyBlock[] {
  const text = reasoningText(item);
  const state = reasoningState(item);
  if (text === "" && state === undefined) return [];
  return [{ kind: "reasoning", text, states: state === undefined ? [] : [state] }];
}

function readCall(item: JsonObject): CallBlock {
  const isCustom = item["type"] === "custom_tool_call";
  const given = isCustom ? item["input"] : item["arguments"];
  return {
    kind: "call",
    id: callId(item),
    name: asText(item["name"]),
    tool: isCustom ? "custom" : "function",
    arguments: isCustom ? asText(given) : argumentsText(given),
    states: [],
  };
}

/** Calls are paired by `call_id`; the item's own id is for events. */
export function callId(item: JsonObject): string | undefined {
  return asText(item["call_id"]) || asText(item["id"]) || undefined;
}

/** None at all are `{}`. */
function argumentsText(given: unknown): string {
  return givenArguments(given) ?? "{}";
}

/** Some servers send an object. */
export function givenArguments(given: unknown): string | undefined {
  if (typeof given === "string") return given.trim() === "" ? undefined : given;
  return given === undefined || given === null ? undefined : JSON.stringify(given);
}

/** Names under which a model wraps several calls into one. */
const parallelNames = new Set(["multi_tool_use.parallel", "parallel"]);

export function mayBeParallel(name: string, declared: ReadonlySet<string>): boolean {
  return parallelNames.has(name) && !declared.has(name);
}

/** Several calls wrapped into one that nobody declared, as single ones; every other call as it is. */
function expandParallel(call: CallBlock, declared: ReadonlySet<string>): readonly CallBlock[] {
  if (!mayBeParallel(call.name, declared)) return [call];
  const wrapped = member(parseJson(call.arguments), "tool_uses");
  const calls = asList(wrapped).flatMap((use, index) => {
    const name = asText(member(use, "recipient_name")).replace(/^functions\./, "");
    const id = call.id === undefined ? undefined : `${call.id}_${index}`;
    return name === "" ? [] : [{ ...call, id, name, arguments: argumentsText(member(use, "parameters")) }];
  });
  return calls.length > 0 ? calls : [call];
}

/** Sources with an address; files of the provider have none. */
export function readCitations(annotations: unknown): readonly Citation[] {
  return asList(annotations).flatMap((annotation) => readCitation(annotation) ?? []);
}

export function readCitation(annotation: unknown): Citation | undefined {
  const url = asText(member(annotation, "url"));
  if (url === "") return undefined;
  const title = member(annotation, "title");
  const start = member(annotation, "start_index");
  const end = member(annotation, "end_index");
  // A vendor that does not know where a source was used says from 0 to 0.
  const hasPlace = isOffset(start) && isOffset(end) && end > start;
  return { url, title: typeof title === "string" ? title : undefined, ...(hasPlace ? { start, end } : {}) };
}

function isOffset(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

export function readLogprobs(logprobs: unknown): readonly TokenLogprob[] {
  return asList(logprobs).flatMap((entry) => {
    const token = readToken(entry);
    if (token === undefined) return [];
    return [{ ...token, top: asList(member(entry, "top_logprobs")).flatMap((top) => readToken(top) ?? []) }];
  });
}

function readToken(entry: unknown): Omit<TokenLogprob, "top"> | undefined {
  const token = member(entry, "token");
  const logprob = member(entry, "logprob");
  if (typeof token !== "string" || typeof logprob !== "number") return undefined;
  const bytes = asList(member(entry, "bytes")).filter((byte) => typeof byte === "number");
  return bytes.length === 0 ? { token, logprob } : { token, logprob, bytes };
}

function readHosted(item: JsonObject): MediaBlock | HostedBlock {
  const type = asText(item["type"]);
  const result = item["result"];
  if (type === "image_generation_call" && typeof result === "string" && result !== "") {
    return { kind: "media", mime: `image/${asText(item["output_format"]) || "png"}`, base64: result };
  }
  if (type === "code_interpreter_call") {
    const logs = asList(item["outputs"]).map((output) => asText(member(output, "logs")));
    const output = logs.join("");
    return {
      kind: "hosted",
      tool: "code",
      type,
      code: asText(item["code"]),
      ...(output === "" ? {} : { output }),
    };
  }
  return type === "web_search_call" ? readSearch(item, type) : { kind: "hosted", tool: "other", type };
}

/** Opening a page and looking through it are searches without a query. */
function readSearch(item: JsonObject, type: string): HostedBlock {
  const action = item["action"];
  const listed = asList(member(action, "queries"));
  const queries = (listed.length > 0 ? listed : [member(action, "query")]).map(asText).filter((query) => query !== "");
  const sources = asList(member(action, "sources")).flatMap((source) => {
    const url = asText(member(source, "url"));
    return url === "" ? [] : [{ url }];
  });
  return {
    kind: "hosted",
    tool: "web-search",
    type,
    ...(queries.length === 0 ? {} : { queries }),
    ...(sources.length === 0 ? {} : { sources }),
    ...(item["status"] === "failed" ? { hasFailed: true } : {}),
  };
}

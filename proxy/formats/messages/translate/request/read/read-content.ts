/** Reads content blocks of a messages client as neutral parts (docs/design/messages.md 3.1). */
import { asText, type JsonObject, member } from "#proxy/json/json-value";
import type {
  CarriedState,
  HostedPart,
  MediaPart,
  Part,
  ProviderState,
  ReasoningPart,
  ResultPart,
  TextPart,
} from "#proxy/neutral/conversation";
import { isEnvelope } from "#proxy/neutral/state/envelope";
import { isShownSearch } from "#proxy/neutral/state/shown-search";
import { lastCache, markedResult } from "#proxy/neutral/turns/cache-marks";
import { readDocument, readImage } from "./read-media.ts";
import { readCache, readTextPart, readTexts, refuseBlock } from "./read-text.ts";
import { listAt, objectAt, optionalTextAt, refuseType, refuseUnsupported, refuseValue, textAt } from "./refusals.ts";

/** Blocks of tools that the provider ran, and what else it put into a reply for itself; an open set. */
const hostedTypes =
  /^(?:server_tool_use|mcp_tool_use|[a-z_]+_tool_result|mcp_tool_listing|tool_addition|tool_removal|fallback)$/;

/**
 * Content of a message.
 * @param path of the content in the client's body
 * @throws GatewayError for unknown blocks, and for blocks that only the vendor can read
 */
export function readContent(content: unknown, path: string): Part[] {
  if (typeof content === "string") return [{ kind: "text", text: content, where: path }];
  return listAt(content, path).flatMap((block, index) => readBlock(block, `${path}.${index}`));
}

function readBlock(value: unknown, where: string): Part[] {
  const block = objectAt(value, where);
  const type = textAt(block["type"], `${where}.type`);
  switch (type) {
    case "text":
      return [readTextPart(block, where)];
    case "image":
      return [readImage(block, where)];
    case "document":
      return readDocument(block, where);
    case "search_result":
      return [readSearchResult(block, where)];
    case "thinking":
      return [readThinking(block, where)];
    case "redacted_thinking":
      return [readRedacted(block, where)];
    case "tool_use":
      return [readCall(block, where)];
    case "tool_result":
      return [readResult(block, where)];
    case "compaction":
      if (typeof block["content"] !== "string") return [];
      return [{ kind: "text", text: block["content"], cache: readCache(block), where }];
    case "container_upload":
      return refuseUnsupported(where);
    default:
      return hostedTypes.test(type) ? [readHosted(block, type, where)] : refuseBlock(block, where);
  }
}

function readHosted(block: JsonObject, type: string, where: string): HostedPart {
  const isShown = isShownSearch("Messages", block["id"]) || isShownSearch("Messages", block["tool_use_id"]);
  return { kind: "hosted", type, where, ...(isShown ? { isShown } : {}) };
}

/** No other format has search results: they become marked text. */
function readSearchResult(block: JsonObject, where: string): TextPart {
  const source = asText(block["source"]);
  const title = asText(block["title"]);
  const texts = readTexts(block["content"] ?? [], `${where}.content`);
  const head = `<search_result source=${JSON.stringify(source)} title=${JSON.stringify(title)}>`;
  const lines = [head, ...texts.map(({ text }) => text), "</search_result>"];
  return { kind: "text", text: lines.join("\n"), cache: readCache(block) ?? lastCache(texts), where };
}

function readThinking(block: JsonObject, where: string): ReasoningPart {
  const text = optionalTextAt(block["thinking"], `${where}.thinking`) ?? "";
  const signature = asText(block["signature"]);
  if (signature === "") return { kind: "reasoning", text, where };
  return { kind: "reasoning", text, where, states: [carried(signature, { kind: "thinking", text, signature })] };
}

function readRedacted(block: JsonObject, where: string): ReasoningPart {
  const data = textAt(block["data"], `${where}.data`);
  return { kind: "reasoning", text: "", where, states: [carried(data, { kind: "redacted-thinking", data })] };
}

/** What this gateway sealed for another channel, or the vendor's own. */
function carried(opaque: string, state: ProviderState): CarriedState {
  return isEnvelope(opaque) ? { type: "sealed", envelope: opaque } : { type: "native", state };
}

function readCall(block: JsonObject, where: string): Part {
  const id = textAt(block["id"], `${where}.id`);
  const name = textAt(block["name"], `${where}.name`);
  if (id === "") return refuseValue(`${where}.id`, "must not be empty");
  const input = JSON.stringify(objectAt(block["input"] ?? {}, `${where}.input`));
  // A number of many digits is kept as its source, in an object.
  if (!input.startsWith("{")) return refuseType(`${where}.input`, "an object");
  return {
    kind: "call",
    id,
    name,
    tool: "function",
    arguments: input,
    cache: readCache(block),
    where,
  };
}

function readResult(block: JsonObject, where: string): ResultPart {
  const callId = textAt(block["tool_use_id"], `${where}.tool_use_id`);
  const content = readResultContent(block["content"], `${where}.content`);
  const isError = block["is_error"] === true ? true : undefined;
  return markedResult({ kind: "result", callId, content, isError, cache: readCache(block), where });
}

function readResultContent(content: unknown, path: string): (TextPart | MediaPart)[] {
  if (content === undefined || content === null) return [];
  if (typeof content === "string") return [{ kind: "text", text: content, where: path }];
  return listAt(content, path).flatMap((value, index) => {
    const where = `${path}.${index}`;
    const block = objectAt(value, where);
    switch (block["type"]) {
      case "text":
        return [readTextPart(block, where)];
      case "image":
        return [readImage(block, where)];
      case "document":
        return readDocument(block, where);
      case "search_result":
        return [readSearchResult(block, where)];
      case "tool_reference":
        return [{ kind: "text", text: `Tool: ${asText(member(block, "tool_name"))}`, cache: readCache(block), where }];
      default:
        return refuseBlock(block, where);
    }
  });
}

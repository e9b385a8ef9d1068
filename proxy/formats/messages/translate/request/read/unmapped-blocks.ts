/**
 * Lists the members of a messages client's messages, blocks and tools that are read (docs/design/messages.md 3 and 5),
 * or that a provider put on its own replies: their citations go back with every call. All others are declared as
 * losses.
 */
import type { JsonObject } from "#proxy/json/json-value";
import {
  always,
  collectUnmapped,
  dotted,
  type KnownObjects,
  knownObject,
} from "#proxy/neutral/losses/unmapped-members";
import { knownClientTool } from "./client-tools.ts";

const text = knownObject(["type", "text", "cache_control", "citations"]);
const image = knownObject(["type", "source", "cache_control"]);
const documentContent: KnownObjects = new Map([
  ["text", text],
  ["image", image],
]);
const file = knownObject(["type", "media_type", "data", "url", "file_id"]);
const blocksOfDocument = knownObject(["type", "content"], () => ({ content: documentContent }));
const sources: KnownObjects = { get: (type) => (type === "content" ? blocksOfDocument : file) };

/** Blocks of a provider's own tools are not here: they are declared whole. */
const blocks: KnownObjects = new Map([
  ["text", text],
  ["image", knownObject(["type", "source", "cache_control"], () => ({ source: sources }))],
  [
    "document",
    knownObject(["type", "source", "title", "context", "citations", "cache_control"], () => ({ source: sources })),
  ],
  [
    "search_result",
    knownObject(["type", "source", "title", "content", "cache_control"], () => ({ content: documentContent })),
  ],
  ["thinking", knownObject(["type", "thinking", "signature"])],
  ["redacted_thinking", knownObject(["type", "data"])],
  ["tool_use", knownObject(["type", "id", "name", "input", "cache_control"])],
  [
    "tool_result",
    knownObject(["type", "tool_use_id", "content", "is_error", "cache_control"], () => ({ content: blocks })),
  ],
  ["tool_reference", knownObject(["type", "tool_name", "cache_control"])],
  ["compaction", knownObject(["type", "content", "cache_control"])],
]);

/** Whole replies are sent back as messages. */
const replyMembers = ["id", "type", "model", "stop_reason", "stop_sequence", "stop_details", "usage", "container"];
const messages = always(knownObject(["role", "content", ...replyMembers], () => ({ content: blocks })));

const ownTool = knownObject(["type", "name", "description", "input_schema", "strict", "cache_control"]);
const clientTool = knownObject(["type", "name", "strict", "cache_control"]);
const hostedTool = knownObject(["type", "name"]);
const location = always(knownObject(["type", "city", "region", "country", "timezone"]));
const searchTool = knownObject(
  ["type", "name", "max_uses", "allowed_domains", "blocked_domains", "user_location"],
  () => ({ user_location: location }),
);
const thinking = always(knownObject(["type", "budget_tokens", "display"]));
const choice = always(knownObject(["type", "name", "disable_parallel_tool_use"]));

/** Types of the vendor's tools have a date in them. */
const tools: KnownObjects = {
  get: (type) => {
    if (type === "" || type === "custom") return ownTool;
    if (knownClientTool(type) !== undefined) return clientTool;
    return type.startsWith("web_search") ? searchTool : hostedTool;
  },
};

/** @returns paths of what a body says inside its text, messages and tools, and no neutral form has a place for */
export function unmappedInBody(body: JsonObject): string[] {
  const unmapped: string[] = [];
  collectUnmapped(body["system"], blocks, "system", dotted, unmapped);
  collectUnmapped(body["messages"], messages, "messages", dotted, unmapped);
  collectUnmapped(body["tools"], tools, "tools", dotted, unmapped);
  collectUnmapped(body["tool_choice"], choice, "tool_choice", dotted, unmapped);
  collectUnmapped(body["thinking"], thinking, "thinking", dotted, unmapped);
  return unmapped;
}

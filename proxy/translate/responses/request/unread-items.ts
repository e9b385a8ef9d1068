/**
 * What items, content parts and tools of a responses client may say that is read, or that its own provider alone put
 * there (`protocols/openai-responses.md` sections 3 and 5): ids, states and phases of items go back with every call.
 */
import type { JsonObject } from "../../../protocols/json-value.ts";
import { bracketed, collectUnread, type KnownObjects, knownObject } from "../../unread-members.ts";

const text = knownObject(["type", "text", "prompt_cache_breakpoint"]);
const parts: KnownObjects = new Map([
  ["input_text", text],
  ["output_text", text],
  ["text", text],
  ["refusal", knownObject(["type", "refusal", "prompt_cache_breakpoint"])],
  ["input_image", knownObject(["type", "image_url", "file_id", "detail", "prompt_cache_breakpoint"])],
  ["input_file", knownObject(["type", "file_data", "file_url", "file_id", "filename", "prompt_cache_breakpoint"])],
  ["input_audio", knownObject(["type", "input_audio", "prompt_cache_breakpoint"])],
]);

const message = knownObject(["type", "role", "content", "id", "status", "phase"], () => ({ content: parts }));
const result = knownObject(["type", "id", "call_id", "output", "status", "name"], () => ({ output: parts }));

/** Items of a provider's own tools are not here: they are declared whole. */
const items: KnownObjects = new Map([
  ["", message],
  ["message", message],
  ["reasoning", knownObject(["type", "id", "summary", "content", "encrypted_content", "status"])],
  ["function_call", knownObject(["type", "id", "call_id", "name", "namespace", "arguments", "status"])],
  ["custom_tool_call", knownObject(["type", "id", "call_id", "name", "namespace", "input", "status"])],
  ["function_call_output", result],
  ["custom_tool_call_output", result],
]);

const location: KnownObjects = { get: () => knownLocation };
const knownLocation = knownObject(["type", "city", "region", "country", "timezone"]);
const filters: KnownObjects = { get: () => knownFilters };
const knownFilters = knownObject(["allowed_domains"]);

const ownTool = knownObject(["type", "name", "description", "parameters", "strict", "format"]);
const namespace = knownObject(["type", "name", "description", "tools"], () => ({ tools }));
const search = knownObject(["type", "filters", "user_location", "search_context_size"], () => ({
  filters,
  user_location: location,
}));
const hostedTool = knownObject(["type"]);
const tools: KnownObjects = {
  get: (type) => {
    if (type === "" || type === "function" || type === "custom") return ownTool;
    if (type === "namespace") return namespace;
    return type.startsWith("web_search") ? search : hostedTool;
  },
};

/** @returns paths of what a body says inside its items and tools, and no neutral form has a place for */
export function unreadInBody(body: JsonObject): string[] {
  const unread: string[] = [];
  collectUnread(body["instructions"], items, "instructions", bracketed, unread);
  collectUnread(body["input"], items, "input", bracketed, unread);
  collectUnread(body["tools"], tools, "tools", bracketed, unread);
  return unread;
}

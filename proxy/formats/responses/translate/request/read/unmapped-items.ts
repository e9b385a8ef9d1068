/**
 * Lists the members of a responses client's items, content parts and tools that are read
 * (docs/design/responses.md 3 and 5), or that a provider or an agent put there: ids, states, citations and phases go
 * back with every call. All others are declared as losses.
 */

import { listsInItems } from "#proxy/formats/responses/translate/client-run/tool-lists";
import { asList, type JsonObject, member } from "#proxy/json/json-value";
import {
  always,
  bracketed,
  collectUnmapped,
  type InnerObjects,
  type KnownObject,
  type KnownObjects,
  knownObject,
} from "#proxy/neutral/losses/unmapped-members";

const text = knownObject(["type", "text", "prompt_cache_breakpoint"]);
const assistantText = knownObject(["type", "text", "annotations", "logprobs", "prompt_cache_breakpoint"]);
const parts: KnownObjects = new Map([
  ["input_text", text],
  ["output_text", assistantText],
  ["text", assistantText],
  ["refusal", knownObject(["type", "refusal", "prompt_cache_breakpoint"])],
  ["input_image", knownObject(["type", "image_url", "file_id", "detail", "prompt_cache_breakpoint"])],
  ["input_file", knownObject(["type", "file_data", "file_url", "file_id", "filename", "prompt_cache_breakpoint"])],
  ["input_audio", knownObject(["type", "input_audio", "prompt_cache_breakpoint"])],
]);

/** On items of every type. The long one is an agent's own book-keeping. */
const notes = ["type", "id", "status", "created_by", "end_turn", "internal_chat_message_metadata_passthrough"];
const item = (members: readonly string[], inner?: InnerObjects): KnownObject =>
  knownObject([...notes, ...members], inner);

const message = item(["role", "content", "phase"], () => ({ content: parts }));
const result = item(["call_id", "output", "name"], () => ({ output: parts }));

/** Items of a provider's own tools are not here: they are declared whole. */
const action = always(
  knownObject([
    ...["type", "command", "env", "timeout_ms", "user", "working_directory", "commands", "max_output_length"],
  ]),
);
/** The user's own machine is where such tools run. */
const environment = always(knownObject(["type"]));
const operation = always(knownObject(["type", "path", "diff"]));
const items: KnownObjects = new Map([
  ["", message],
  ["message", message],
  ["reasoning", item(["summary", "content", "encrypted_content"])],
  ["function_call", item(["call_id", "name", "namespace", "arguments"])],
  ["custom_tool_call", item(["call_id", "name", "namespace", "input"])],
  ["function_call_output", result],
  ["custom_tool_call_output", result],
  ["local_shell_call", item(["call_id", "action"], () => ({ action }))],
  ["shell_call", item(["call_id", "action", "environment"], () => ({ action, environment }))],
  ["apply_patch_call", item(["call_id", "operation"], () => ({ operation }))],
  ["tool_search_call", item(["call_id", "arguments", "execution"])],
  ["local_shell_call_output", item(["call_id", "output"])],
  ["shell_call_output", item(["call_id", "output", "max_output_length"])],
  ["apply_patch_call_output", item(["call_id", "output"])],
  ["tool_search_output", item(["call_id", "execution", "tools"])],
  ["additional_tools", item(["role", "tools"])],
]);

const location = always(knownObject(["type", "city", "region", "country", "timezone"]));
const filters = always(knownObject(["allowed_domains"]));

const ownToolMembers = ["type", "name", "description", "parameters", "strict", "format"];
const ownTool = knownObject(ownToolMembers);
const namespace = knownObject(["type", "name", "tools"], () => ({ tools }));
const inner = { filters, user_location: location };
/** Live pages are what a search reads anyway. */
const liveSearch = ["type", "filters", "user_location", "search_context_size", "external_web_access"];
const search = knownObject(liveSearch, () => inner);
const hostedTool = knownObject(["type"]);
const clientRunTypes = new Set(["local_shell", "shell", "apply_patch", "tool_search"]);
const clientRun = knownObject(["type", "description", "parameters", "execution", "environment"], () => ({
  environment,
}));
const tools: KnownObjects = {
  get: (type) => {
    if (type === "" || type === "function" || type === "custom") return ownTool;
    if (type === "namespace") return namespace;
    if (clientRunTypes.has(type)) return clientRun;
    return type.startsWith("web_search") ? search : hostedTool;
  },
};

/** What a search found is no longer deferred: from then on it is offered whole, here as there. */
const foundTool = knownObject([...ownToolMembers, "defer_loading"]);
const foundNamespace = knownObject(["type", "name", "tools"], () => ({ tools: foundTools }));
const foundTools: KnownObjects = {
  get: (type, value) => {
    const known = tools.get(type, value);
    if (known === ownTool) return foundTool;
    return known === namespace ? foundNamespace : known;
  },
};

/** @returns paths of what a body says inside its items and tools, and no neutral form has a place for */
export function unmappedInBody(body: JsonObject): string[] {
  const unmapped: string[] = [];
  collectUnmapped(body["instructions"], items, "instructions", bracketed, unmapped);
  collectUnmapped(body["input"], items, "input", bracketed, unmapped);
  collectUnmapped(body["tools"], tools, "tools", bracketed, unmapped);
  const lists = listsInItems(body);
  for (const { tools: listed, where, isFound } of lists) {
    collectUnmapped(listed, isFound ? foundTools : tools, where, bracketed, unmapped);
  }
  for (const { tools: listed, where } of [{ tools: asList(body["tools"]), where: "tools" }, ...lists]) {
    for (const [index, tool] of listed.entries()) {
      if (member(tool, "external_web_access") === false) unmapped.push(`${where}[${index}].external_web_access`);
    }
  }
  return unmapped;
}

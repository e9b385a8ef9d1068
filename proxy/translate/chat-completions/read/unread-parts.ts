/**
 * What content parts and tools of a chat client may say that is read (`protocols/openai-chat.md` sections 2 to 4).
 * Members of the messages themselves are not judged: other gateways leave keys of their own on them.
 */
import type { JsonObject } from "../../../protocols/json-value.ts";
import { bracketed, collectUnread, type KnownObjects, knownObject } from "../../unread-members.ts";

const marks = ["cache_control", "prompt_cache_breakpoint"];
const text = knownObject(["type", "text", ...marks]);
const address: KnownObjects = new Map([["", knownObject(["url", "detail"])]]);
const image = knownObject(["type", "image_url", "detail", ...marks], () => ({ image_url: address }));
const file: KnownObjects = new Map([["", knownObject(["file_data", "file_url", "file_id", "filename"])]]);
const parts: KnownObjects = new Map([
  ["", text],
  ["text", text],
  ["input_text", text],
  ["output_text", text],
  ["refusal", knownObject(["type", "refusal", ...marks])],
  ["image_url", image],
  ["input_image", image],
  ["video_url", knownObject(["type", "video_url", ...marks])],
  ["input_audio", knownObject(["type", "input_audio", ...marks])],
  ["file", knownObject(["type", "file", ...marks], () => ({ file }))],
]);

const searchMembers = ["filters", "user_location", "search_context_size"];
const described: KnownObjects = {
  get: () => knownDescription,
};
const knownDescription = knownObject(["name", "description", "parameters", "strict", "format", "cache_control"]);
const ownTool = knownObject(
  ["type", "function", "custom", "name", "description", "parameters", "strict", "format", ...marks],
  () => ({ function: described, custom: described }),
);
const hostedTool = knownObject(["type"]);
const searchTool = knownObject(["type", ...searchMembers]);
const searchOptions: KnownObjects = { get: () => knownOptions };
const knownOptions = knownObject(searchMembers);
const tools: KnownObjects = {
  get: (type) => {
    if (type === "" || type === "function" || type === "custom") return ownTool;
    return type.includes("web_search") ? searchTool : hostedTool;
  },
};

/** @returns paths of what a body says inside its messages and tools, and no neutral form has a place for */
export function unreadInBody(body: JsonObject): string[] {
  const unread: string[] = [];
  const messages = body["messages"];
  if (Array.isArray(messages)) {
    for (const [index, message] of messages.entries()) {
      collectUnread(Object(message)["content"], parts, `messages[${index}].content`, bracketed, unread);
    }
  }
  collectUnread(body["tools"], tools, "tools", bracketed, unread);
  collectUnread(body["functions"], described, "functions", bracketed, unread);
  collectUnread(body["web_search_options"], searchOptions, "web_search_options", bracketed, unread);
  return unread;
}

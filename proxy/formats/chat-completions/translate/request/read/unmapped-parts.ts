/**
 * Lists the members of a chat client's content parts and tools that are read, so that all others are declared as losses
 * (docs/design/chat-completions.md 2 to 4). Members of the messages themselves are not judged: other gateways leave
 * keys of their own on them.
 */
import type { JsonObject } from "#proxy/json/json-value";
import {
  always,
  bracketed,
  collectUnmapped,
  type KnownObjects,
  knownObject,
} from "#proxy/neutral/losses/unmapped-members";

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
const places = ["city", "region", "country", "timezone"];
const location = always(knownObject(["type", "approximate", ...places], () => ({ approximate })));
const approximate = always(knownObject(places));
const filters = always(knownObject(["allowed_domains"]));
const insideSearch = (): Readonly<Record<string, KnownObjects>> => ({ filters, user_location: location });
const searchOptions = always(knownObject(searchMembers, insideSearch));

const description = ["name", "description", "parameters", "strict", "format"];
const described = always(knownObject([...description, "cache_control"]));
/** Described in a member of their own, or flat as in the responses format. */
const nested = knownObject(["type", "function", ...marks], () => ({ function: described }));
const nestedCustom = knownObject(["type", "custom"], () => ({ custom: always(knownObject(description)) }));
const flat = knownObject(["type", ...description, ...marks]);
const flatCustom = knownObject(["type", ...description]);
const hostedTool = knownObject(["type"]);
const searchTool = knownObject(["type", ...searchMembers], insideSearch);
const tools: KnownObjects = {
  get: (type, tool) => {
    if (type === "" || type === "function") return "function" in tool ? nested : flat;
    if (type === "custom") return "custom" in tool ? nestedCustom : flatCustom;
    return type.includes("web_search") ? searchTool : hostedTool;
  },
};

const outputSchema = always(knownObject(["name", "description", "schema", "strict"]));
const outputFormat = always(knownObject(["type", "json_schema"], () => ({ json_schema: outputSchema })));

const chosen = always(knownObject(["name"]));
const allowed = always(knownObject(["mode", "tools"]));
const chosenMembers = ["type", "function", "custom", "tool", "name", "allowed_tools", "mode", "tools"];
const choice = always(
  knownObject(chosenMembers, () => ({ function: chosen, custom: chosen, tool: chosen, allowed_tools: allowed })),
);

/** @returns paths of what a body says inside its messages, tools and wishes, and no neutral form has a place for */
export function unmappedInBody(body: JsonObject): string[] {
  const unmapped: string[] = [];
  const messages = body["messages"];
  if (Array.isArray(messages)) {
    for (const [index, message] of messages.entries()) {
      collectUnmapped(Object(message)["content"], parts, `messages[${index}].content`, bracketed, unmapped);
    }
  }
  collectUnmapped(body["tools"], tools, "tools", bracketed, unmapped);
  collectUnmapped(body["functions"], described, "functions", bracketed, unmapped);
  collectUnmapped(body["tool_choice"], choice, "tool_choice", bracketed, unmapped);
  collectUnmapped(body["response_format"], outputFormat, "response_format", bracketed, unmapped);
  collectUnmapped(body["web_search_options"], searchOptions, "web_search_options", bracketed, unmapped);
  return unmapped;
}

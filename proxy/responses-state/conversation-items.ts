/**
 * Converts items of a conversation between their stored form and a later call (docs/design/responses.md 3, 7).
 */
import { isObject, type JsonObject, member } from "#proxy/json/json-value";

/** Prefixes by which clients know the kinds of items. */
const prefixes: Readonly<Record<string, string>> = {
  message: "msg_",
  reasoning: "rs_",
  function_call: "fc_",
  function_call_output: "fco_",
  custom_tool_call: "ctc_",
  custom_tool_call_output: "ctco_",
};

/** The items that a client's body brings, each with a type, an id and its content as parts. */
export function inputItems(body: JsonObject, newId: (prefix: string) => string): readonly JsonObject[] {
  const input = member(body, "input");
  if (typeof input === "string") return [messageItem({ role: "user", content: input }, newId)];
  const list: readonly unknown[] = Array.isArray(input) ? input : [input];
  return list.filter(isObject).map((item) => {
    if (referenceOf(item) !== undefined) return { ...item, type: item["type"] ?? "item_reference" };
    const type = typeof item["type"] === "string" ? item["type"] : "message";
    if (type === "message") return messageItem(item, newId);
    const id = typeof item["id"] === "string" && item["id"] !== "" ? item["id"] : newId(prefixes[type] ?? "item_");
    return { ...item, type, id };
  });
}

function messageItem(item: JsonObject, newId: (prefix: string) => string): JsonObject {
  const { content } = item;
  const id = typeof item["id"] === "string" && item["id"] !== "" ? item["id"] : newId("msg_");
  const parts =
    typeof content !== "string"
      ? content
      : item["role"] === "assistant"
        ? [{ type: "output_text", text: content, annotations: [], logprobs: [] }]
        : [{ type: "input_text", text: content }];
  return { ...item, type: "message", id, status: item["status"] ?? "completed", content: parts };
}

/** Kinds whose ids providers check: an id that another one made is refused, none is taken. */
const withoutId: ReadonlySet<unknown> = new Set([
  "message",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
]);

/** A kept item for a call to any provider: without the id that the gateway gave it. */
export function replayed(item: JsonObject): JsonObject {
  if (!withoutId.has(item["type"])) return item;
  const { id: _id, status: _status, ...rest } = item;
  return rest;
}

/**
 * The id of an item that stands for another one: by its type, an id and nothing else that is an item's, or a picture
 * made earlier that comes without itself. A type or a role that is no text, null above all, is as good as absent to a
 * provider. As `formats/responses/native/read-call.ts` finds them in a scanned body.
 */
export function referenceOf(item: unknown): string | undefined {
  const id = member(item, "id");
  if (typeof id !== "string") return undefined;
  const type = member(item, "type");
  const result = member(item, "result");
  const isPicture = type === "image_generation_call" && (typeof result !== "string" || result === "");
  const isIdAlone = typeof type !== "string" && typeof member(item, "role") !== "string";
  return type === "item_reference" || isPicture || isIdAlone ? id : undefined;
}

/**
 * Aggregates one output item from its events (docs/design/responses.md 6.1): the finished item where it was done, else
 * the announced one with all its deltas added.
 */

import { append, isMembers, type MutableObject, setLater, setMembers } from "#proxy/formats/aggregate/members";
import { asText, isObject, type JsonObject } from "#proxy/json/json-value";

/** Which list of its item a piece of text belongs to, and what an entry of that list is when nobody announced it. */
interface Place {
  readonly list: "content" | "summary";
  readonly index: "content_index" | "summary_index";
  readonly text: "text" | "refusal";
  readonly type: string;
}

const outputText: Place = { list: "content", index: "content_index", text: "text", type: "output_text" };
const refusal: Place = { list: "content", index: "content_index", text: "refusal", type: "refusal" };
const reasoningText: Place = { list: "content", index: "content_index", text: "text", type: "reasoning_text" };
const summaryText: Place = { list: "summary", index: "summary_index", text: "text", type: "summary_text" };

const places: Readonly<Record<string, Place>> = {
  "response.output_text": outputText,
  "response.refusal": refusal,
  "response.reasoning_text": reasoningText,
  "response.reasoning_summary_text": summaryText,
};

/** Items that are one text: the kind of item, and the member that grows. */
const texts: Readonly<Record<string, { readonly type: string; readonly member: string }>> = {
  "response.function_call_arguments": { type: "function_call", member: "arguments" },
  "response.custom_tool_call_input": { type: "custom_tool_call", member: "input" },
  "response.mcp_call_arguments": { type: "mcp_call", member: "arguments" },
  "response.code_interpreter_call_code": { type: "code_interpreter_call", member: "code" },
};

export class ItemAggregator {
  readonly #item: MutableObject = {};
  #isDone = false;

  add(type: string, event: JsonObject): void {
    if (type === "response.output_item.done" && isObject(event["item"])) {
      this.#isDone = true;
      this.#show(event["item"]);
    } else if (this.#isDone) return;
    else if (type === "response.output_item.added" && isObject(event["item"])) this.#show(event["item"]);
    else if (isPart(type)) this.#setPart(event);
    else if (type === "response.output_text.annotation.added") this.#annotate(event);
    else this.#addEvent(type, event);
  }

  whole(): JsonObject {
    const { type } = this.#item;
    if (this.#isDone) return this.#item;
    const role = type === "message" ? { role: this.#item["role"] ?? "assistant" } : {};
    // What was said is whole, since the response is.
    return { ...this.#item, ...role, ...("status" in this.#item ? { status: "completed" } : {}) };
  }

  /**
   * Finished items are what clients of streams rely on (docs/design/responses.md 6.1); of others the end knows more.
   * @param shown the same item as the end of the stream shows it
   */
  wholeWith(shown: JsonObject | undefined): JsonObject {
    return this.#isDone ? { ...shown, ...this.#item } : { ...this.whole(), ...shown };
  }

  #show(item: JsonObject): void {
    setMembers(this.#item, item);
  }

  #addEvent(type: string, event: JsonObject): void {
    const isDelta = type.endsWith(".delta");
    if (!isDelta && !type.endsWith(".done")) return;
    const name = type.slice(0, type.lastIndexOf("."));
    const place = Object.hasOwn(places, name) ? places[name] : undefined;
    const text = Object.hasOwn(texts, name) ? texts[name] : undefined;
    if (place !== undefined) this.#addPart(place, event, isDelta);
    else if (text !== undefined) this.#addText(text, event, isDelta);
  }

  #addText({ type, member }: { readonly type: string; readonly member: string }, event: JsonObject, isDelta: boolean) {
    this.#begin(type, event);
    this.#item[member] = isDelta ? asText(this.#item[member]) + asText(event["delta"]) : asText(event[member]);
    if (type === "function_call") setLater(this.#item, "name", event["name"]);
  }

  #addPart(place: Place, event: JsonObject, isDelta: boolean): void {
    const part = this.#part(place, event);
    part[place.text] = isDelta ? asText(part[place.text]) + asText(event["delta"]) : asText(event[place.text]);
    const { logprobs } = event;
    if (!Array.isArray(logprobs) || (isDelta && logprobs.length === 0)) return;
    const known = part["logprobs"];
    if (isDelta && Array.isArray(known)) append(known, logprobs);
    else part["logprobs"] = logprobs;
  }

  #setPart(event: JsonObject): void {
    const place = typeof event["summary_index"] === "number" ? summaryText : outputText;
    if (isObject(event["part"])) setMembers(this.#part(place, event), event["part"]);
  }

  #annotate(event: JsonObject): void {
    const part = this.#part(outputText, event);
    if (Array.isArray(part["annotations"])) part["annotations"].push(event["annotation"]);
    else part["annotations"] = [event["annotation"]];
  }

  #part(place: Place, event: JsonObject): MutableObject {
    const isReasoning = place.list === "summary" || place.type === "reasoning_text";
    this.#begin(isReasoning ? "reasoning" : "message", event);
    const known = this.#item[place.list];
    const list: unknown[] = Array.isArray(known) ? known : [];
    this.#item[place.list] = list;
    const index = typeof event[place.index] === "number" ? Number(event[place.index]) : 0;
    const at = Math.min(Math.max(0, Math.trunc(index)), list.length);
    const before = list[at];
    if (isMembers(before)) return before;
    const empty = place === outputText ? { text: "", annotations: [], logprobs: [] } : { [place.text]: "" };
    const part: MutableObject = { type: place.type, ...empty };
    list[at] = part;
    return part;
  }

  /** Some relays say text without having announced a message. */
  #begin(type: string, event: JsonObject): void {
    this.#item["type"] ??= type;
    const id = event["item_id"];
    if (this.#item["id"] === undefined && typeof id === "string" && id !== "") this.#item["id"] = id;
  }
}

function isPart(type: string): boolean {
  return /^response\.(?:content_part|reasoning_summary_part)\.(?:added|done)$/.test(type);
}

/**
 * Reads input items as turns (docs/design/responses.md 3).
 *
 * Consecutive output of the model becomes one turn: reasoning, one message, its calls. A second message begins a new
 * turn, together with the reasoning right before it; results that follow each other are one turn.
 */

import {
  argumentsOfItem,
  type ClientRunTool,
  outputOfItem,
  toolOfCall,
} from "#proxy/formats/responses/translate/client-run/client-run-tools";
import {
  notCarried,
  optionalText,
  requiredText,
  wrongType,
  wrongValue,
} from "#proxy/formats/responses/translate/request/body-fields";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import type {
  CarriedState,
  MediaPart,
  Part,
  ReasoningPart,
  ResultPart,
  Role,
  TextPart,
  Turn,
} from "#proxy/neutral/conversation";
import { isEnvelope } from "#proxy/neutral/state/envelope";
import { isShownSearch } from "#proxy/neutral/state/shown-search";
import { markedResult } from "#proxy/neutral/turns/cache-marks";
import { type ContentPart, readContent, readReasoningText } from "./read-content.ts";
import { namespacedName } from "./read-tools.ts";

/**
 * @param where path of the list in the client's body
 * @throws GatewayError naming an item of unknown type or shape
 */
export function readItems(items: readonly unknown[], where: string): readonly Turn[] {
  const reader = new ItemReader();
  for (const [index, item] of items.entries()) reader.read(item, `${where}[${index}]`);
  return reader.turns();
}

/** Items of provider-run tools: their content is their own provider's. */
const hostedItems = new Set([
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "computer_call",
  "computer_call_output",
  "mcp_list_tools",
  "mcp_call",
  "mcp_approval_request",
  "mcp_approval_response",
]);

/** They stand for content that only their own provider can look up, or change the call itself. */
const notCarriedItems = new Set([
  "item_reference",
  "compaction",
  "compaction_trigger",
  "configuration_update",
  "program",
  "program_output",
]);

class ItemReader {
  readonly #turns: Turn[] = [];
  #open: { readonly role: Role; readonly parts: Part[] } | undefined;
  /** Reasoning belongs to what follows it. */
  #reasoning: ReasoningPart[] = [];
  /** Ids given to calls whose client gave an empty one, until their results come: in the order of the calls. */
  readonly #unnamed: string[] = [];
  #calls = 0;
  /** Ids of calls in the provider's container, and of its own searches. */
  readonly #ranByProvider = new Set<unknown>();
  /** Call ids by the ids of the items: some results name the item (`local_shell_call_output`). */
  readonly #callsOfItems = new Map<string, string>();

  turns(): readonly Turn[] {
    this.#closeTurn();
    return this.#turns;
  }

  read(item: unknown, where: string): void {
    if (!isObject(item)) wrongType(where, "an object");
    const type = optionalText(item, "type", `${where}.type`) ?? (Object.hasOwn(item, "role") ? "message" : "");
    if (type === "" && typeof item["id"] === "string") notCarried(`${where}.id`);
    if (notCarriedItems.has(type)) notCarried(type === "item_reference" ? `${where}.id` : `${where}.type`);
    if (hostedItems.has(type)) {
      const isShown = isShownSearch("Responses", item["id"]);
      this.#assistant({ kind: "hosted", type, where, ...(isShown ? { isShown } : {}) });
      return;
    }
    const run = toolOfCall(item);
    if (run !== undefined) {
      this.#clientRunCall(run, item, where);
      return;
    }
    switch (type) {
      // Its tools are read with all others.
      case "additional_tools":
        return;
      case "tool_search_call":
      case "shell_call":
        this.#ranByProvider.add(item["call_id"] ?? item["id"]);
        this.#assistant({ kind: "hosted", type, where });
        return;
      case "local_shell_call_output":
      case "shell_call_output":
      case "apply_patch_call_output":
      case "tool_search_output":
        this.#clientRunResult(item, type, where);
        return;
      case "message":
        this.#message(item, where);
        return;
      case "reasoning":
        this.#reasoning.push(readReasoning(item, where));
        return;
      case "function_call":
        this.#call(item, "function", requiredText(item, "arguments", `${where}.arguments`), where);
        return;
      case "custom_tool_call":
        this.#call(item, "custom", requiredText(item, "input", `${where}.input`), where);
        return;
      case "function_call_output":
      case "custom_tool_call_output":
        this.#result(item, where);
        return;
      default:
        wrongValue(`${where}.type`, "the gateway does not know this type of item.");
    }
  }

  #message(item: JsonObject, where: string): void {
    const content = readContent(item, "content", where);
    const role = item["role"];
    switch (role) {
      case "user":
        this.#closeTurn();
        this.#turns.push({ role, parts: content });
        return;
      case "system":
      case "developer":
        this.#closeTurn();
        this.#turns.push({
          role: "system",
          ...(role === "developer" ? { isDeveloper: true } : {}),
          parts: content.map((part) => onlyText(part, where)),
        });
        return;
      case "assistant":
        this.#assistantMessage(content);
        return;
      default:
        wrongValue(`${where}.role`, "expected user, assistant, system or developer.");
    }
  }

  /** Text of two messages is not one text. */
  #assistantMessage(content: readonly ContentPart[]): void {
    const parts = content.filter((part) => part.kind === "media" || part.text !== "" || part.cache !== undefined);
    if (parts.length === 0) return;
    const isVisible = ({ kind }: Part): boolean => kind === "text" || kind === "refusal" || kind === "media";
    if (this.#open?.role === "assistant" && this.#open.parts.some(isVisible)) this.#closeOpen();
    for (const part of parts) this.#assistant(part);
  }

  #call(item: JsonObject, tool: "function" | "custom", given: string, where: string): void {
    const id = optionalText(item, "call_id", `${where}.call_id`) ?? requiredText(item, "id", `${where}.call_id`);
    const name = namespacedName(
      optionalText(item, "namespace", `${where}.namespace`),
      requiredText(item, "name", `${where}.name`),
    );
    this.#assistant({ kind: "call", id: id === "" ? this.#nameCall() : id, name, tool, arguments: given, where });
  }

  #clientRunCall(run: ClientRunTool, item: JsonObject, where: string): void {
    const itemId = optionalText(item, "id", `${where}.id`) ?? "";
    const id = (optionalText(item, "call_id", `${where}.call_id`) ?? itemId) || this.#nameCall();
    if (itemId !== "") this.#callsOfItems.set(itemId, id);
    this.#assistant({
      kind: "call",
      id,
      name: run.type,
      tool: "function",
      arguments: argumentsOfItem(run, item),
      where,
    });
  }

  /** What a provider's own search found is not the client's to tell; its tools are read with all others. */
  #clientRunResult(item: JsonObject, type: string, where: string): void {
    const isProviders = this.#ranByProvider.has(item["call_id"] ?? item["id"]);
    if (isProviders || (type === "tool_search_output" && item["execution"] === "server")) {
      this.#assistant({ kind: "hosted", type, where });
      return;
    }
    const given = optionalText(item, "call_id", `${where}.call_id`) ?? optionalText(item, "id", `${where}.id`) ?? "";
    const callId = this.#callsOfItems.get(given) ?? (given === "" ? (this.#unnamed.shift() ?? "") : given);
    const isError = item["status"] === "failed";
    this.#pushResult({
      kind: "result",
      callId,
      content: [{ kind: "text", text: outputOfItem(item), where }],
      isError,
      where,
    });
  }

  #nameCall(): string {
    this.#calls += 1;
    const id = `call_unnamed_${this.#calls}`;
    this.#unnamed.push(id);
    return id;
  }

  #result(item: JsonObject, where: string): void {
    const given = optionalText(item, "call_id", `${where}.call_id`) ?? requiredText(item, "id", `${where}.call_id`);
    const callId = given === "" ? (this.#unnamed.shift() ?? "") : given;
    const content = readContent(item, "output", where).flatMap(resultPart);
    this.#pushResult(markedResult({ kind: "result", callId, content, where }));
  }

  #pushResult(result: ResultPart): void {
    if (this.#open?.role !== "tool") {
      this.#closeTurn();
      this.#open = { role: "tool", parts: [] };
    }
    this.#open.parts.push(result);
  }

  #assistant(part: Part): void {
    this.#assistantParts().push(part);
  }

  /** Of the assistant's turn, which begins here if none is open, with the reasoning that waited for it. */
  #assistantParts(): Part[] {
    if (this.#open?.role !== "assistant") {
      this.#closeOpen();
      this.#open = { role: "assistant", parts: [] };
    }
    const { parts } = this.#open;
    for (const part of this.#reasoning) parts.push(part);
    this.#reasoning = [];
    return parts;
  }

  #closeOpen(): void {
    if (this.#open !== undefined) this.#turns.push(this.#open);
    this.#open = undefined;
  }

  #closeTurn(): void {
    if (this.#reasoning.length > 0) this.#assistantParts();
    this.#closeOpen();
  }
}

function readReasoning(item: JsonObject, where: string): ReasoningPart {
  const { text, summary } = readReasoningText(item, where);
  const data = optionalText(item, "encrypted_content", `${where}.encrypted_content`) ?? "";
  const id = optionalText(item, "id", `${where}.id`) ?? "";
  return { kind: "reasoning", text, states: statesOf(data, id, summary), where };
}

function statesOf(data: string, id: string, summary: readonly string[]): readonly CarriedState[] {
  if (data === "") return [];
  if (isEnvelope(data)) return [{ type: "sealed", envelope: data }];
  return [{ type: "native", state: { kind: "encrypted-reasoning", id, data, summary } }];
}

function onlyText(part: ContentPart, where: string): TextPart {
  return part.kind === "text" ? part : notCarried(part.where ?? where);
}

function resultPart(part: ContentPart): (TextPart | MediaPart)[] {
  return part.kind === "refusal" ? [{ kind: "text", text: part.text, where: part.where }] : [part];
}

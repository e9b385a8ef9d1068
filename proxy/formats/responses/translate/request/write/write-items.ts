/**
 * Writes turns as input items (docs/design/translation.md 4; docs/design/responses.md 3).
 *
 * Each part is one item: reasoning right before the item it belongs to, and never without its encrypted content, which
 * the provider would refuse with 400. Items have no ids: the provider refuses invented ones.
 */
import type { JsonObject } from "#proxy/json/json-value";
import type { CallPart, MediaPart, Part, ProviderState, ResultPart, TextPart, Turn } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import type { StateKeeper } from "#proxy/neutral/state/keeper";
import { customArguments } from "#proxy/neutral/tools/custom-tools";
import type { FittedNames } from "#proxy/neutral/tools/fitted-names";
import type { ToolNames } from "#proxy/neutral/tools/tool-names";
import { markOf, writeInputPart } from "./write-content.ts";

export interface ItemWriting {
  readonly states: StateKeeper;
  readonly losses: Losses;
  readonly names: ToolNames;
  /** Ids of calls as the target takes them; none where it takes any. */
  readonly ids: FittedNames | undefined;
  /** Whether the target knows tools that take free text. */
  readonly hasCustomTools: boolean;
  /** Role of system text that is no `developer` message. */
  readonly systemRole: "developer" | "system";
}

/** @param turns with results right behind their calls (`pairResults`) */
export function writeItems(turns: readonly Turn[], writing: ItemWriting): readonly JsonObject[] {
  const writer = new ItemWriter(writing);
  for (const turn of turns) writer.write(turn);
  return writer.items;
}

/** Calls of one id, which clients use again. */
interface SameId {
  /** Of each in its order, whether it is a custom tool call for the target: its result is of that kind too. */
  readonly isCustom: boolean[];
  /** How many of them have their result. */
  resultCount: number;
}

class ItemWriter {
  readonly items: JsonObject[] = [];
  readonly #writing: ItemWriting;
  readonly #callsById = new Map<string, SameId>();
  /** Encrypted content that was written: a state may hang on several parts, and must not come twice. */
  readonly #written = new Set<string>();
  /** States of this turn whose item has not come yet. */
  #held: ProviderState[] = [];

  constructor(writing: ItemWriting) {
    this.#writing = writing;
  }

  write(turn: Turn): void {
    switch (turn.role) {
      case "system":
        this.#writeSystem(turn);
        return;
      case "assistant":
        this.#writeAssistant(turn.parts);
        return;
      default:
        this.#writeUser(turn.parts);
        return;
    }
  }

  #writeSystem({ parts, isDeveloper }: Turn): void {
    const role = isDeveloper === true ? "developer" : this.#writing.systemRole;
    const texts = parts.filter((part) => part.kind === "text" && part.text !== "");
    this.#message(role, texts);
  }

  #writeUser(parts: readonly Part[]): void {
    const content: Part[] = [];
    for (const part of parts) {
      if (part.kind === "result") this.#writeResult(part);
      else content.push(part);
    }
    if (content.length === 0) return;
    const filled = content.filter((part) => part.kind !== "text" || part.text !== "");
    this.#message("user", filled.length > 0 ? filled : content.slice(0, 1));
  }

  #message(role: string, parts: readonly Part[]): void {
    const [only] = parts;
    if (only === undefined) return;
    if (parts.length === 1 && only.kind === "text" && only.cache === undefined) {
      this.items.push({ type: "message", role, content: only.text });
      return;
    }
    const content = parts.flatMap((part) =>
      part.kind === "text" || part.kind === "refusal" || part.kind === "media"
        ? [writeInputPart(part, this.#writing.losses)]
        : [],
    );
    this.items.push({ type: "message", role, content });
  }

  /**
   * Neighbouring texts were pieces of one message.
   *
   * A reasoning item is refused without the item it was followed by, so states wait for theirs; those of a turn that
   * was cut before one came are left out (docs/design/translation.md 4.2).
   */
  #writeAssistant(parts: readonly Part[]): void {
    let text = "";
    const media: MediaPart[] = [];
    const flush = (): void => {
      if (text !== "") {
        this.#writeHeld();
        this.items.push({ type: "message", role: "assistant", content: text });
      }
      text = "";
      if (media.length > 0) this.#message("user", [{ kind: "text", text: "[media of the assistant]" }, ...media]);
      media.length = 0;
    };
    for (const part of parts) {
      if (part.kind !== "text" && part.kind !== "refusal") flush();
      if (part.kind === "text" && (part.states?.length ?? 0) > 0) flush();
      if (part.kind === "reasoning" || part.kind === "call" || part.kind === "text") {
        this.#held.push(...this.#writing.states.recover(part));
      }
      if (part.kind === "text" || part.kind === "refusal") text += part.text;
      else if (part.kind === "call") this.#writeCall(part);
      else if (part.kind === "media") media.push(part);
    }
    flush();
    this.#held = [];
  }

  #writeHeld(): void {
    const held = this.#held;
    this.#held = [];
    for (const state of held) {
      if (state.kind !== "encrypted-reasoning" || this.#written.has(state.data)) continue;
      this.#written.add(state.data);
      this.items.push({
        type: "reasoning",
        ...(state.id === "" ? {} : { id: state.id }),
        summary: state.summary.map((text) => ({ type: "summary_text", text })),
        encrypted_content: state.data,
      });
    }
  }

  #writeCall(call: CallPart): void {
    this.#writeHeld();
    const name = this.#writing.names.toUpstream(call.name);
    const isCustom = call.tool === "custom" && this.#writing.hasCustomTools;
    const sameId = this.#callsById.get(call.id);
    if (sameId === undefined) this.#callsById.set(call.id, { isCustom: [isCustom], resultCount: 0 });
    else sameId.isCustom.push(isCustom);
    if (isCustom) {
      this.items.push({ type: "custom_tool_call", call_id: this.#id(call.id), name, input: call.arguments });
      return;
    }
    const given = call.tool === "custom" ? customArguments(call.arguments) : call.arguments;
    this.items.push({
      type: "function_call",
      call_id: this.#id(call.id),
      name,
      arguments: given.trim() === "" ? "{}" : given,
    });
  }

  /** Results stand in the order of their calls, and are of their kind. */
  #writeResult(result: ResultPart): void {
    const sameId = this.#callsById.get(result.callId);
    const isCustom = sameId?.isCustom[sameId.resultCount] ?? false;
    if (sameId !== undefined) sameId.resultCount += 1;
    this.items.push({
      type: isCustom ? "custom_tool_call_output" : "function_call_output",
      call_id: this.#id(result.callId),
      output: this.#output(result),
    });
  }

  #id(id: string): string {
    return this.#writing.ids?.toUpstream(id) ?? id;
  }

  #output({ content, isError, cache }: ResultPart): unknown {
    const said = isError === true ? markError(content) : content;
    if (said.every((part) => part.kind === "text")) {
      const text = said.map((part) => part.text).join("\n");
      return cache === undefined ? text : [{ type: "input_text", text, ...markOf(cache) }];
    }
    return said.map((part, index) => {
      const isEnd = cache !== undefined && index === said.length - 1;
      return writeInputPart(isEnd ? { ...part, cache } : part, this.#writing.losses);
    });
  }
}

/** The format has no flag for a tool that failed (docs/design/translation.md 5.5). */
function markError(content: ResultPart["content"]): ResultPart["content"] {
  const index = content.findIndex(({ kind }) => kind === "text");
  const first = content[index];
  if (first?.kind !== "text") return [{ kind: "text", text: "Error" } satisfies TextPart, ...content];
  if (first.text.startsWith("Error")) return content;
  return content.with(index, { ...first, text: `Error: ${first.text}` });
}

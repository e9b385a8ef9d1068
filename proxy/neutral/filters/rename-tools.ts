/** Restores the tool names and forms that the client declared (docs/design/translation.md 5.1 and 5.4). */

import { argumentsObject } from "#proxy/json/json-text";
import { asText } from "#proxy/json/json-value";
import type { ReplyEvent } from "#proxy/neutral/reply";
import { partKey, type ReplyFilter } from "./filter.ts";

/** Upstream's names back to the client's. */
export class RenameTools implements ReplyFilter {
  readonly #names: ReadonlyMap<string, string>;

  constructor(names: ReadonlyMap<string, string>) {
    this.#names = names;
  }

  apply(event: ReplyEvent): readonly ReplyEvent[] {
    if (event.type !== "open" || event.block.kind !== "call") return [event];
    const name = this.#names.get(event.block.name);
    return name === undefined ? [event] : [{ ...event, block: { ...event.block, name } }];
  }
}

/** Calls of a function that stands for a custom tool: its one member `input` is the free text. */
export class UnwrapCustomTools implements ReplyFilter {
  readonly gathers = true;
  readonly #customTools: ReadonlySet<string>;
  readonly #arguments = new Map<string, string[]>();

  constructor(customTools: ReadonlySet<string>) {
    this.#customTools = customTools;
  }

  apply(event: ReplyEvent): readonly ReplyEvent[] {
    if (event.type === "open" && event.block.kind === "call" && this.#customTools.has(event.block.name)) {
      this.#arguments.set(partKey(event), []);
      return [{ ...event, block: { ...event.block, tool: "custom" } }];
    }
    if (event.type === "delta") {
      const pieces = this.#arguments.get(partKey(event));
      if (pieces === undefined) return [event];
      pieces.push(event.text);
      return [];
    }
    if (event.type !== "close") return [event];
    const pieces = this.#arguments.get(partKey(event));
    if (pieces === undefined) return [event];
    this.#arguments.delete(partKey(event));
    const text = inputOf(pieces.join(""));
    return text === "" ? [event] : [{ type: "delta", candidate: event.candidate, part: event.part, text }, event];
  }
}

/** A model that wrote something else than asked still said something: its text as it is. */
function inputOf(text: string): string {
  const input = argumentsObject(text);
  return input !== undefined && typeof input["input"] === "string" ? asText(input["input"]) : text;
}

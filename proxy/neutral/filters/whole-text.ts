/**
 * Changes texts that must be whole for it: extracts the value from a wrapping object, or the JSON from a Markdown fence
 * (docs/design/translation.md 7.1). Texts that are neither pass piece by piece.
 */

import { parseJsonText } from "#proxy/json/json-text";
import { member } from "#proxy/json/json-value";
import type { ReplyEvent } from "#proxy/neutral/reply";
import { partKey, type ReplyFilter } from "./filter.ts";

/** A text that is held back, in pieces: joining them at each one would copy the whole again and again. */
interface Held {
  readonly pieces: string[];
  /** Its first characters after white space, as far as they decide anything. */
  head: string;
}

const headCharacters = 3;

/** Holds each text back until it is complete, as long as `mayNeed` cannot rule out that it must change. */
abstract class WholeText implements ReplyFilter {
  readonly gathers = true;
  readonly #held = new Map<string, Held>();

  /** Whether a text that begins so may have to change. */
  protected abstract mayNeed(head: string): boolean;
  protected abstract change(text: string): string;

  apply(event: ReplyEvent): readonly ReplyEvent[] {
    if (event.type === "open" && event.block.kind === "text") {
      this.#held.set(partKey(event), { pieces: [], head: "" });
      return [event];
    }
    if (event.type !== "delta" && event.type !== "close") return [event];
    const key = partKey(event);
    const held = this.#held.get(key);
    if (held === undefined) return [event];
    const at = { candidate: event.candidate, part: event.part };
    if (event.type === "close") {
      this.#held.delete(key);
      const text = held.pieces.length === 0 ? "" : this.change(held.pieces.join(""));
      return text === "" ? [event] : [{ type: "delta", ...at, text }, event];
    }
    held.pieces.push(event.text);
    if (held.head.length < headCharacters) {
      held.head = (held.head + event.text).trimStart().slice(0, headCharacters);
    }
    if (this.mayNeed(held.head)) return [];
    this.#held.delete(key);
    return [{ type: "delta", ...at, text: held.pieces.join("") }];
  }
}

/** `{"value": X}` becomes X: a string bare, everything else as JSON. */
export class UnwrapMember extends WholeText {
  readonly #name: string;

  constructor(name: string) {
    super();
    this.#name = name;
  }

  protected mayNeed(): boolean {
    return true;
  }

  protected change(text: string): string {
    try {
      const value = member(parseJsonText(text), this.#name);
      if (value === undefined) return text;
      return typeof value === "string" ? value : JSON.stringify(value);
    } catch {
      return text;
    }
  }
}

/** Takes the fence off a reply that was asked for as bare JSON. */
export class StripFence extends WholeText {
  protected mayNeed(head: string): boolean {
    return "```".startsWith(head);
  }

  protected change(text: string): string {
    return /^\s*```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n?```\s*$/i.exec(text)?.[1] ?? text;
  }
}

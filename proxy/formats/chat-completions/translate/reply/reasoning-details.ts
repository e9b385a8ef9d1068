/**
 * Reads thinking in the typed lists that some servers send beside its text: OpenRouter's `reasoning_details`, and
 * Anthropic's blocks as `thinking_blocks` (docs/design/chat-completions.md 8, docs/design/translation.md 9.1).
 *
 * Signatures and encrypted data in them are state that the server wants back as it was: the lists are kept whole and
 * only ever go to the channel that sent them.
 */

import type { MutableObject } from "#proxy/formats/aggregate/members";
import { mergeObject } from "#proxy/formats/chat-completions/translate/aggregate/aggregate-member";
import { asList, asText, isObject, type JsonObject } from "#proxy/json/json-value";
import type { ProviderState } from "#proxy/neutral/conversation";

const detailLists = ["reasoning_details", "thinking_blocks"] as const;

export type DetailList = (typeof detailLists)[number];

/** Beyond what any server sends; what is dropped costs quality, never correctness. */
const entriesMax = 1_000;
const charactersMax = 2 * 1024 * 1024;

export class ReasoningDetails {
  #member: DetailList = "reasoning_details";
  #entries: MutableObject[] = [];
  #characters = 0;
  #hasState = false;

  /** @param isBody each entry is whole; those of a stream grow */
  read(delta: JsonObject, member: DetailList, isBody: boolean): void {
    this.#member = member;
    for (const entry of asList(delta[member])) if (isObject(entry)) this.#add(entry, isBody);
  }

  #add(entry: JsonObject, isBody: boolean): void {
    const state = asText(entry["signature"]) || asText(entry["data"]);
    this.#characters += textOf(entry).length + state.length;
    if (this.#entries.length >= entriesMax) this.#characters = Number.POSITIVE_INFINITY;
    if (this.#characters > charactersMax) return;
    if (state !== "") this.#hasState = true;
    const last = this.#entries.at(-1);
    if (!isBody && last !== undefined && goesOn(last, entry)) mergeObject(last, entry);
    else this.#entries.push({ ...entry });
  }

  /** What came since it was asked last, as far as it holds state and not only text. */
  consume(): ProviderState | undefined {
    const isKept = this.#hasState && this.#characters <= charactersMax;
    const state = isKept
      ? ({ kind: "reasoning-details", member: this.#member, entries: this.#entries } as const)
      : undefined;
    this.#entries = [];
    this.#characters = 0;
    this.#hasState = false;
    return state;
  }
}

/** The text of what came, for servers that say it nowhere else. */
export function detailedText(delta: JsonObject, member: DetailList): string {
  return asList(delta[member])
    .map((entry) => (isObject(entry) ? textOf(entry) : ""))
    .join("");
}

/** Which of the lists came; undefined for none. */
export function detailsIn(delta: JsonObject): DetailList | undefined {
  return detailLists.find((name) => Array.isArray(delta[name]));
}

function textOf(entry: JsonObject): string {
  return asText(entry["text"]) || asText(entry["summary"]) || asText(entry["thinking"]);
}

/** By the index where there is one; without, a signature ends a text. */
function goesOn(last: JsonObject, entry: JsonObject): boolean {
  if (last["type"] !== entry["type"] || last["index"] !== entry["index"]) return false;
  return typeof entry["index"] === "number" || (asText(last["signature"]) === "" && asText(last["data"]) === "");
}

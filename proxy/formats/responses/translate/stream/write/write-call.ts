/**
 * Writes one call of a stream. It announces the call at its first arguments or its end: a provider's state for the call
 * travels in a reasoning item right before it, and may come a moment later (docs/design/translation.md 9.2).
 */

import { type CallIdentity, callItem, type ItemStatus } from "#proxy/formats/responses/translate/reply/output-items";
import { parseJson } from "#proxy/json/json-value";
import type { ProviderState } from "#proxy/neutral/conversation";
import type { StateKeeper } from "#proxy/neutral/state/keeper";
import { type Frames, itemMembers } from "./frames.ts";
import { ReasoningWriter } from "./write-reasoning.ts";

export class CallWriter {
  readonly #frames: Frames;
  readonly #call: CallIdentity;
  readonly #states: StateKeeper;
  readonly #newId: (prefix: string) => string;
  readonly #carried: ProviderState[] = [];
  #text = "";
  #begun: { readonly index: number; readonly members: string } | undefined;

  constructor(frames: Frames, call: CallIdentity, states: StateKeeper, newId: (prefix: string) => string) {
    this.#frames = frames;
    this.#call = call;
    this.#states = states;
    this.#newId = newId;
  }

  carry(state: ProviderState): void {
    this.#carried.push(state);
    // Too late for an item in front: kept here until the client sends the call's result.
    if (this.#begun !== undefined) this.#states.remember(this.#call.callId, this.#carried);
  }

  append(text: string): void {
    const { members } = this.begin();
    this.#text += text;
    // Items of these tools have no events of their own for what they ask: all of it is in their end.
    if (this.#call.run !== undefined) return;
    this.#frames.emit(`${this.#event}.delta`, `${members},"delta":${JSON.stringify(text)}`);
  }

  /** State of thinking before the call that has gone out, which the client may leave out of what it sends back. */
  keep(states: readonly ProviderState[]): void {
    this.#states.remember(this.#call.callId, states);
  }

  begin() {
    if (this.#begun !== undefined) return this.#begun;
    if (this.#carried.length > 0) {
      const reasoning = new ReasoningWriter(this.#frames, this.#newId);
      for (const state of this.#carried) reasoning.carry(state);
      reasoning.done((states) => this.#states.seal(states));
    }
    const index = this.#frames.added(callItem(this.#call, "", "in_progress"));
    this.#begun = { index, members: itemMembers(this.#call.id, index) };
    return this.#begun;
  }

  /** @param isCut the reply ended before it was complete: arguments that are no JSON are half ones */
  done(isCut: boolean): void {
    const { index, members } = this.begin();
    const isFunction = this.#call.tool === "function";
    if (isFunction && this.#text === "" && !isCut) this.#text = "{}";
    const isHalf = isCut && (isFunction ? parseJson(this.#text) === undefined : true);
    const status: ItemStatus = isHalf ? "incomplete" : "completed";
    const text = JSON.stringify(this.#text);
    const end = isFunction ? `"name":${JSON.stringify(this.#call.name)},"arguments":${text}` : `"input":${text}`;
    if (this.#call.run === undefined) this.#frames.emit(`${this.#event}.done`, `${members},${end}`);
    this.#frames.done(index, callItem(this.#call, this.#text, status));
  }

  get #event(): string {
    return this.#call.tool === "custom" ? "response.custom_tool_call_input" : "response.function_call_arguments";
  }
}

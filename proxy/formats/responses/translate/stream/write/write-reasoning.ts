/**
 * Writes one reasoning item of a stream: its text as a summary, the provider's state in the envelope
 * (docs/design/translation.md 6.2).
 */

import { reasoningItem } from "#proxy/formats/responses/translate/reply/output-items";
import type { ProviderState } from "#proxy/neutral/conversation";
import { type Frames, itemMembers } from "./frames.ts";

export class ReasoningWriter {
  readonly #frames: Frames;
  readonly #newId: (prefix: string) => string;
  readonly #states: ProviderState[] = [];
  #text = "";
  /** Set once the item was announced. */
  #begun: { readonly id: string; readonly index: number; readonly members: string } | undefined;

  constructor(frames: Frames, newId: (prefix: string) => string) {
    this.#frames = frames;
    this.#newId = newId;
  }

  append(text: string): void {
    const { members } = this.#begin();
    const part = `${members},"summary_index":0`;
    if (this.#text === "") {
      this.#frames.emit("response.reasoning_summary_part.added", `${part},"part":{"type":"summary_text","text":""}`);
    }
    this.#text += text;
    this.#frames.emit("response.reasoning_summary_text.delta", `${part},"delta":${JSON.stringify(text)}`);
  }

  carry(state: ProviderState): void {
    this.#states.push(state);
  }

  /**
   * Ends the item. One with neither text nor state never was. The envelope is there in any case: an empty one keeps the
   * item from being taken for a provider's own later.
   * @param isCut the stream failed: state that may be partial is not given away
   */
  done(seal: (states: readonly ProviderState[]) => string, isCut = false): void {
    if (this.#begun === undefined && (this.#states.length === 0 || isCut)) return;
    const { id, index, members } = this.#begin();
    if (this.#text !== "") {
      const part = `${members},"summary_index":0`;
      const text = JSON.stringify(this.#text);
      this.#frames.emit("response.reasoning_summary_text.done", `${part},"text":${text}`);
      this.#frames.emit(
        "response.reasoning_summary_part.done",
        `${part},"part":{"type":"summary_text","text":${text}}${isCut ? ',"status":"incomplete"' : ""}`,
      );
    }
    this.#frames.done(index, reasoningItem(id, this.#text, seal(isCut ? [] : this.#states)));
  }

  #begin() {
    if (this.#begun !== undefined) return this.#begun;
    const id = this.#newId("rs_");
    const index = this.#frames.added(reasoningItem(id, ""));
    this.#begun = { id, index, members: itemMembers(id, index) };
    return this.#begun;
  }
}

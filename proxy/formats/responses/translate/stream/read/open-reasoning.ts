/** Reads reasoning of a stream while it is open. */

import { reasoningState } from "#proxy/formats/responses/translate/reply/read-items";
import { asList, asText, type JsonObject, member } from "#proxy/json/json-value";
import type { EventSink } from "./event-sink.ts";
import { indexOf, type OpenItem } from "./open-item.ts";
import { StreamedText } from "./streamed-text.ts";

export class OpenReasoning implements OpenItem {
  readonly type = "reasoning";
  readonly #said = new StreamedText();
  #part: number | undefined;
  /** Servers send the thoughts themselves or summaries; of both the first one counts. */
  #source: "content" | "summary" | undefined;
  #index = 0;

  read(type: string, event: JsonObject, sink: EventSink): void {
    if (type === "response.reasoning_text.delta") this.#emitText("content", 0, asText(event["delta"]), sink);
    if (type === "response.reasoning_summary_text.delta") {
      this.#emitText("summary", indexOf(event["summary_index"]), asText(event["delta"]), sink);
    }
  }

  #emitText(source: "content" | "summary", index: number, text: string, sink: EventSink): void {
    this.#source ??= source;
    if (text === "" || this.#source !== source) return;
    this.#part ??= sink.open({ kind: "reasoning" });
    const separated = index > this.#index && this.#said.text !== "" ? `\n\n${text}` : text;
    this.#index = Math.max(this.#index, index);
    this.#said.add(separated);
    sink.delta(this.#part, separated);
  }

  pause(sink: EventSink): void {
    if (this.#part !== undefined) sink.close(this.#part);
    this.#part = undefined;
  }

  finish(item: JsonObject | undefined, sink: EventSink): void {
    const rest = item === undefined ? "" : (this.#said.restOf(this.#fullText(item)) ?? "");
    const state = item === undefined ? undefined : reasoningState(item);
    if (rest !== "" || state !== undefined) this.#part ??= sink.open({ kind: "reasoning" });
    if (this.#part === undefined) return;
    sink.delta(this.#part, rest);
    if (state !== undefined) sink.events.push({ type: "state", candidate: 0, part: this.#part, state });
    sink.close(this.#part);
  }

  #fullText(item: JsonObject): string {
    const texts = (name: string): string[] => asList(item[name]).map((part) => asText(member(part, "text")));
    const content = this.#source === "summary" ? [] : texts("content");
    return content.length > 0 ? content.join("") : texts("summary").join("\n\n");
  }
}

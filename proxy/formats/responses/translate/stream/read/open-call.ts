/** Reads a call of a stream while it is open. */
import { isDeepStrictEqual } from "node:util";
import { callId, givenArguments, mayBeParallel } from "#proxy/formats/responses/translate/reply/read-items";
import { asText, type JsonObject, parseJson } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import type { EventSink } from "./event-sink.ts";
import type { OpenItem } from "./open-item.ts";
import { StreamedText } from "./streamed-text.ts";

export class OpenCall implements OpenItem {
  readonly type: string;
  readonly #added: JsonObject;
  /** A call that may have to be said otherwise waits for its end. */
  readonly #isHeld: boolean;
  readonly #said = new StreamedText();
  #part: number | undefined;

  constructor(item: JsonObject, declared: ReadonlySet<string>) {
    this.type = asText(item["type"]);
    this.#added = item;
    const name = asText(item["name"]);
    this.#isHeld = name === "" || mayBeParallel(name, declared);
  }

  read(type: string, event: JsonObject, sink: EventSink): void {
    if (this.#isHeld) return;
    if (type === "response.function_call_arguments.delta" || type === "response.custom_tool_call_input.delta") {
      this.#emitText(asText(event["delta"]), sink);
    }
  }

  /** Says that the call has begun. */
  begin(sink: EventSink): void {
    if (!this.#isHeld) this.#opened(sink);
  }

  #opened(sink: EventSink): number {
    this.#part ??= sink.open({
      kind: "call",
      id: callId(this.#added),
      name: asText(this.#added["name"]),
      tool: this.type === "custom_tool_call" ? "custom" : "function",
    });
    return this.#part;
  }

  #emitText(text: string, sink: EventSink): void {
    this.#said.add(text);
    sink.delta(this.#opened(sink), text);
  }

  pause(): void {
    // Several calls may go on together.
  }

  finish(item: JsonObject | undefined, sink: EventSink): void {
    if (this.#isHeld) {
      if (item === undefined) throw new InvalidReply("a call came without its name or its end");
      sink.whole(item);
      return;
    }
    if (this.type === "custom_tool_call") this.#finishInput(asText(item?.["input"]), sink);
    else this.#finishArguments(givenArguments(item?.["arguments"]), sink);
    sink.close(this.#opened(sink));
  }

  #finishInput(given: string, sink: EventSink): void {
    const rest = given === "" ? "" : this.#said.restOf(given);
    // A command with a hole in it is another command.
    if (rest === undefined) sink.hasBrokenCall = true;
    else this.#emitText(rest, sink);
  }

  /** @param given of the finished item; the reader checks whether they are JSON themselves */
  #finishArguments(given: string | undefined, sink: EventSink): void {
    const said = this.#said.text;
    if (said.trim() === "") {
      this.#emitText(given ?? "{}", sink);
      return;
    }
    const rest = given === undefined ? undefined : this.#said.restOf(given);
    if (rest !== undefined) this.#emitText(rest, sink);
    // Some servers stream an object's spelling and finish with another one, or with none; what was said stays.
    else if (!isMeant(said, given)) sink.hasBrokenCall = true;
  }
}

/** Whether what was said is JSON, and the same as the finished item's: some relays finish with the `{}` of the beginning. */
function isMeant(said: string, given: string | undefined): boolean {
  const value = parseJson(said);
  if (value === undefined) return false;
  return given === undefined || given === "{}" || isDeepStrictEqual(value, parseJson(given));
}

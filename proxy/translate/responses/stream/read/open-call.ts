/** A call of a stream while it is open. */
import { asText, type JsonObject } from "../../../../protocols/json-value.ts";
import { InvalidReply } from "../../../reply.ts";
import { argumentsText, callId, mayBeParallel } from "../../reply/read-items.ts";
import type { EventSink } from "./event-sink.ts";
import type { OpenItem } from "./open-item.ts";

export class OpenCall implements OpenItem {
  readonly type: string;
  readonly #added: JsonObject;
  /** A call that may have to be said otherwise waits for its end. */
  readonly #isHeld: boolean;
  #part: number | undefined;
  #sent = 0;

  constructor(item: JsonObject, declared: ReadonlySet<string>) {
    this.type = asText(item["type"]);
    this.#added = item;
    const name = asText(item["name"]);
    this.#isHeld = name === "" || mayBeParallel(name, declared);
  }

  read(type: string, event: JsonObject, sink: EventSink): void {
    if (this.#isHeld) return;
    if (type === "response.function_call_arguments.delta" || type === "response.custom_tool_call_input.delta") {
      this.#say(asText(event["delta"]), sink);
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

  #say(text: string, sink: EventSink): void {
    this.#sent += text.length;
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
    const isCustom = this.type === "custom_tool_call";
    const given = isCustom ? asText(item?.["input"]) : argumentsText(item?.["arguments"]);
    // Some servers stream an object's spelling and finish with another one; what was said stays.
    if (this.#sent === 0 || isCustom || given.length > this.#sent) this.#say(given.slice(this.#sent), sink);
    sink.close(this.#opened(sink));
  }
}

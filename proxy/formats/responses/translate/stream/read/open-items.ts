/**
 * Tracks output items of a stream while they are open: the text of each that was passed on, so that the full value at
 * its end adds only what the deltas left out (docs/design/translation.md 9.1).
 *
 * The text is kept until the item ends: where the finished item differs, nothing can be taken back, and a rest cut from
 * it would fit nowhere.
 */
import { asText, type JsonObject } from "#proxy/json/json-value";
import type { EventSink } from "./event-sink.ts";
import { OpenCall } from "./open-call.ts";
import type { OpenItem } from "./open-item.ts";
import { OpenMessage } from "./open-message.ts";
import { OpenReasoning } from "./open-reasoning.ts";

/** @param declared names of the client's tools */
export function openItem(item: JsonObject, declared: ReadonlySet<string>): OpenItem {
  switch (item["type"]) {
    case "message":
      return new OpenMessage();
    case "reasoning":
      return new OpenReasoning();
    case "function_call":
    case "custom_tool_call":
      return new OpenCall(item, declared);
    default:
      return new OpenHosted(asText(item["type"]));
  }
}

class OpenHosted implements OpenItem {
  readonly type: string;

  constructor(type: string) {
    this.type = type;
  }

  pause(): void {
    // Nothing of it is said before its end.
  }

  read(): void {
    // Its code and queries come again with the finished item.
  }

  finish(item: JsonObject | undefined, sink: EventSink): void {
    if (item !== undefined) sink.whole(item);
  }
}

export function beginItem(item: OpenItem, sink: EventSink): void {
  if (item instanceof OpenCall) item.begin(sink);
}

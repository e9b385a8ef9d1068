/** Chunks of chat completions for tests, and the events that are read from them in short words. */
import type { ReplyEvent } from "#proxy/neutral/reply";
import { readChunks } from "./chat-exchange.ts";

/** One chunk of one choice. */
export function chunk(delta: unknown, finish: string | null = null, more: object = {}): object {
  return { id: "c1", model: "m", choices: [{ index: 0, delta, finish_reason: finish }], ...more };
}

export function piece(index: number | undefined, more: object): object {
  return { tool_calls: [{ ...(index === undefined ? {} : { index }), ...more }] };
}

export function opening(index: number | undefined, id: string | undefined, name: string, args = ""): object {
  return piece(index, { ...(id === undefined ? {} : { id }), type: "function", function: { name, arguments: args } });
}

export function growing(index: number | undefined, args: string): object {
  return piece(index, { function: { arguments: args } });
}

/** Short words for events, so that a whole stream is one line of a table. */
export function words(events: readonly ReplyEvent[]): string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case "open":
        return [
          `open ${event.part} ${event.block.kind}${event.block.kind === "call" ? ` ${event.block.id} ${event.block.name}` : ""}`,
        ];
      case "delta":
        return [`${event.part}: ${event.text}`];
      case "close":
        return [`close ${event.part}`];
      case "finish":
        return [`finish ${event.finish.reason}`];
      case "citation":
        return [`cite ${event.part} ${event.citation.url}`];
      case "state":
        return [`state ${event.part} ${event.state.kind}`];
      case "logprobs":
        return [`logprobs ${event.part} ${event.tokens.length}`];
      case "usage":
        return [`usage ${event.usage.input}/${event.usage.output}`];
      default:
        return [event.type];
    }
  });
}

export function read(...chunks: unknown[]): string[] {
  return words(readChunks(chunks));
}

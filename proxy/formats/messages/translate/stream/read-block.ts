/**
 * Reads content blocks of a reply as neutral events, one object for each block while it is open
 * (docs/design/messages.md 7; docs/design/translation.md 9.1).
 *
 * It serves streams and whole replies alike: a whole block is one that has all its content when it starts. A block of
 * unknown type is something that the provider did for itself; deltas that do not fit their block are ignored.
 */
import { asList, asText, isObject, type JsonObject, member, parseJson } from "#proxy/json/json-value";
import { type Citation, InvalidReply, type ReplyEvent } from "#proxy/neutral/reply";
import { close, delta, open, type StartedBlock } from "./block-events.ts";

/** What the calls of a reply turned out to be. */
export interface CallOutcome {
  hasCalls: boolean;
  /** Arguments of a call are no JSON: cut off, or wrong. */
  hasInvalidCall: boolean;
}

/**
 * Starts a block that becomes a part of its own.
 * @returns undefined for a block of another type
 * @throws InvalidReply for a call without a name
 */
export function startBlock(block: JsonObject, part: number, outcome: CallOutcome): StartedBlock | undefined {
  switch (block["type"]) {
    case "text":
      return startText(block, part);
    case "thinking":
      return startThinking(block, part);
    case "redacted_thinking":
      return startRedacted(block, part);
    case "tool_use":
      return startCall(block, part, outcome);
    default:
      return undefined;
  }
}

function startText(block: JsonObject, part: number): StartedBlock {
  const citations = asList(block["citations"]).flatMap((citation) => cite(part, citation));
  return {
    events: [open(part, { kind: "text" }), ...delta(part, asText(block["text"])), ...citations],
    reader: {
      read(piece) {
        if (piece["type"] === "citations_delta") return cite(part, piece["citation"]);
        return delta(part, asText(piece["text"]));
      },
      stop: () => [close(part)],
    },
  };
}

/** Only sources with an address: documents of the request itself have no name that another format knows. */
function cite(part: number, value: unknown): readonly ReplyEvent[] {
  const url = asText(member(value, "url")) || asText(member(value, "source"));
  if (url === "") return [];
  const citation: Citation = {
    url,
    title: asText(member(value, "title")) || undefined,
    citedText: asText(member(value, "cited_text")) || undefined,
  };
  return [{ type: "citation", candidate: 0, part, citation }];
}

/** The text is part of what is signed, so the state can be told only at the end. */
function startThinking(block: JsonObject, part: number): StartedBlock {
  let text = asText(block["thinking"]);
  let signature = asText(block["signature"]);
  return {
    events: [open(part, { kind: "reasoning" }), ...delta(part, text)],
    reader: {
      read(piece) {
        if (piece["type"] === "signature_delta") {
          signature += asText(piece["signature"]);
          return [];
        }
        const thought = asText(piece["thinking"]);
        text += thought;
        return delta(part, thought);
      },
      stop() {
        if (signature === "") return [close(part)];
        return [{ type: "state", candidate: 0, part, state: { kind: "thinking", text, signature } }, close(part)];
      },
    },
  };
}

function startRedacted(block: JsonObject, part: number): StartedBlock {
  const data = asText(block["data"]);
  const state: ReplyEvent = { type: "state", candidate: 0, part, state: { kind: "redacted-thinking", data } };
  return {
    events: [open(part, { kind: "reasoning" }), ...(data === "" ? [] : [state])],
    reader: { read: () => [], stop: () => [close(part)] },
  };
}

/** The `input` of the start counts only when no pieces follow (pitfalls 27 and 28). */
function startCall(block: JsonObject, part: number, outcome: CallOutcome): StartedBlock {
  const name = asText(block["name"]);
  if (name === "") throw new InvalidReply("a tool call has no name");
  outcome.hasCalls = true;
  let joined = "";
  return {
    events: [open(part, { kind: "call", id: asText(block["id"]) || undefined, name, tool: "function" })],
    reader: {
      read(piece) {
        const text = asText(piece["partial_json"]);
        joined += text;
        return delta(part, text);
      },
      stop() {
        const given = joined.trim() === "" ? inputText(block["input"]) : "";
        if (parseJson(joined + given) === undefined) outcome.hasInvalidCall = true;
        return [...delta(part, given), close(part)];
      },
    },
  };
}

/** An object; some resellers give its text. */
function inputText(input: unknown): string {
  if (typeof input === "string" && input.trim() !== "") return input;
  return JSON.stringify(isObject(input) ? input : {});
}

/**
 * Aggregates one message of a completion from its deltas (docs/design/chat-completions.md 6; pitfalls 23 to 32).
 */

import { isMembers, type MutableObject, without } from "#proxy/formats/aggregate/members";
import { joinedBase64 } from "#proxy/formats/chat-completions/translate/reply/media";
import { asList, asText, type JsonObject } from "#proxy/json/json-value";
import { CallsAggregator } from "./aggregate-calls.ts";
import { mergeMember, mergeObject } from "./aggregate-member.ts";

export class ChoiceMessageAggregator {
  readonly #message: MutableObject = {};
  readonly #calls = new CallsAggregator();
  readonly #audio: string[] = [];

  add(delta: JsonObject): void {
    for (const [name, value] of Object.entries(delta)) {
      if (name === "content") this.#message["content"] = mergedContent(this.#message["content"], value);
      else if (name === "tool_calls" && asList(value).length > 0) this.#calls.add(asList(value));
      else if (name === "audio" && isMembers(value)) this.#addAudio(value);
      else mergeMember(this.#message, name, value);
    }
  }

  whole(): JsonObject {
    const { role, content, ...members } = this.#message;
    const audio = this.#message["audio"];
    return {
      role: role ?? "assistant",
      // The member must exist (docs/design/chat-completions.md 5).
      content: content ?? null,
      ...members,
      ...(isMembers(audio) && this.#audio.length > 0 ? { audio: { ...audio, data: joinedBase64(this.#audio) } } : {}),
      ...(this.#calls.isEmpty ? {} : { tool_calls: this.#calls.whole() }),
    };
  }

  /** Sound comes in pieces that decode on their own. */
  #addAudio(audio: JsonObject): void {
    const data = asText(audio["data"]);
    if (data !== "") this.#audio.push(data);
    mergeMember(this.#message, "audio", without(audio, "data"));
  }
}

/** A text; or Mistral's parts, thinking among them, in their order. */
function mergedContent(known: unknown, later: unknown): unknown {
  if (later === null || later === undefined) return known ?? null;
  if (known === null || known === undefined || known === "") return later;
  if (typeof known === "string" && typeof later === "string") return known + later;
  const parts: unknown[] = Array.isArray(known) ? known : partsOf(known);
  for (const part of partsOf(later)) {
    const last = parts.at(-1);
    const goesOn = isMembers(last) && isMembers(part) && last["type"] === part["type"] && isText(part);
    if (goesOn) mergePart(last, part);
    else parts.push(part);
  }
  return parts;
}

function partsOf(content: unknown): unknown[] {
  if (typeof content !== "string") return [...asList(content)];
  return content === "" ? [] : [{ type: "text", text: content }];
}

function isText(part: JsonObject): boolean {
  return part["type"] === "text" || part["type"] === "thinking";
}

function mergePart(last: MutableObject, part: JsonObject): void {
  const { thinking, ...members } = part;
  mergeObject(last, members);
  const isList = Array.isArray(thinking) && Array.isArray(last["thinking"]);
  if (isList) last["thinking"] = mergedContent(last["thinking"], thinking);
  else if (thinking !== undefined) mergeObject(last, { thinking });
}

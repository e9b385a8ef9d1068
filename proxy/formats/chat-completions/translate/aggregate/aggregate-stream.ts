/**
 * Aggregates a stream of chunks into a completion (docs/design/chat-completions.md 5 and 6).
 *
 * Members beside the choices of a chunk belong to the completion, and the last value counts; a delta is added to the
 * message. Unknown members are merged as the format's known ones are: text to text, lists to lists.
 */

import type { AggregatedReply, JsonEvent } from "#proxy/formats/aggregate/aggregation";
import { append, isMembers, type MutableObject, setLater, without } from "#proxy/formats/aggregate/members";
import { hasProduced } from "#proxy/formats/chat-completions/native/produced-text";
import { heldReason } from "#proxy/formats/chat-completions/translate/reply/finish-reason";
import { asList, asText, type JsonObject, member } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import { ChoiceMessageAggregator } from "./aggregate-message.ts";

/** No client may ask for more candidates (docs/design/chat-completions.md 2.1). */
const choicesMax = 128;
/** Of the stream itself and not of what it tells. */
const ownToChunks = ["choices", "object", "obfuscation"];

/** @throws InvalidReply when the events are no completion */
export function aggregateStream(events: Iterable<JsonEvent>): AggregatedReply {
  const completion = new CompletionAggregator();
  for (const { json } of events) completion.add(json);
  return { reply: completion.whole(), lost: [] };
}

class CompletionAggregator {
  readonly #completion: MutableObject = {};
  readonly #choices = new Map<number, ChoiceAggregator>();

  add(chunk: JsonObject): void {
    for (const [name, value] of Object.entries(without(chunk, ...ownToChunks))) this.#set(name, value);
    for (const [place, choice] of asList(chunk["choices"]).entries()) {
      if (isMembers(choice)) this.#choice(choice["index"] ?? place).add(choice, asText(chunk["id"]));
    }
  }

  whole(): JsonObject {
    if (this.#choices.size === 0) throw new InvalidReply("the reply has no choice");
    const { id, ...members } = this.#completion;
    const choices = [...this.#choices.values()].sort((one, other) => one.index - other.index);
    return { id, object: "chat.completion", ...members, choices: choices.map((choice) => choice.whole()) };
  }

  /** Azure's first chunk has an empty id and model; Groq tells usage in an object whose id came before. */
  #set(name: string, value: unknown): void {
    const known = member(this.#completion, name);
    if (value === "" && known !== undefined) return;
    if (name === "usage" && value === null) return;
    if (name !== "usage" && isMembers(known) && isMembers(value)) {
      for (const [inner, later] of Object.entries(value)) setLater(known, inner, later);
    } else {
      setLater(this.#completion, name, value);
    }
  }

  #choice(index: unknown): ChoiceAggregator {
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= choicesMax) {
      throw new InvalidReply("a choice has an invalid index");
    }
    let choice = this.#choices.get(index);
    if (choice === undefined) {
      choice = new ChoiceAggregator(index);
      this.#choices.set(index, choice);
    }
    return choice;
  }
}

class ChoiceAggregator {
  readonly index: number;
  readonly #message = new ChoiceMessageAggregator();
  /** What stands beside the delta. */
  readonly #members: MutableObject = {};
  #finish: string | undefined;
  #finishedId: string | undefined;

  constructor(index: number) {
    this.index = index;
  }

  /** @param id of the chunk: once finished, a reply of another id is another reply */
  add(choice: JsonObject, id: string): void {
    if (this.#finishedId !== undefined && id !== this.#finishedId && hasProduced({ choices: [choice] })) {
      throw new InvalidReply("a second reply follows the first one");
    }
    const delta = choice["delta"] ?? choice["message"];
    if (isMembers(delta)) this.#message.add(delta);
    const others = without(choice, "index", "delta", "message", "finish_reason");
    for (const [name, value] of Object.entries(others)) this.#set(name, value);
    const finish = choice["finish_reason"];
    if (typeof finish !== "string" || finish === "") return;
    this.#finish = heldReason(this.#finish, finish);
    this.#finishedId = id;
  }

  whole(): JsonObject {
    if (this.#finish === undefined) throw new InvalidReply("a choice never finished");
    return { index: this.index, message: this.#message.whole(), ...this.#members, finish_reason: this.#finish };
  }

  /** Probabilities come with the text they speak of; of anything else the last word counts. */
  #set(name: string, value: unknown): void {
    const known = member(this.#members, name);
    if (!isMembers(known) || !isMembers(value)) {
      setLater(this.#members, name, value);
      return;
    }
    for (const [inner, later] of Object.entries(value)) {
      const before = member(known, inner);
      if (name === "logprobs" && Array.isArray(before) && Array.isArray(later)) append(before, later);
      else setLater(known, inner, later);
    }
  }
}

/**
 * Reads chat completion chunks as neutral events (docs/design/chat-completions.md 6, docs/design/translation.md 9.1).
 *
 * Finish reasons wait for the terminator: vendors repeat them, and usage or a last piece may follow them. The format's
 * filter sees every event first and handles errors, the cap on an event and cut streams.
 */

import { laterUsage, usageOf } from "#proxy/formats/chat-completions/native/read-usage";
import { readSources } from "#proxy/formats/chat-completions/translate/reply/citations";
import type { StreamReader, WireEvent } from "#proxy/formats/translator";
import { parseJsonText } from "#proxy/json/json-text";
import { asList, asText, isObject, type JsonObject, parseJson } from "#proxy/json/json-value";
import { InvalidReply, type ReplyEvent } from "#proxy/neutral/reply";
import type { TokenUsage } from "#proxy/settle/usage";
import { ChoiceReader } from "./read-choice.ts";

const done = "[DONE]";
const nothing: readonly ReplyEvent[] = [];

/** No client may ask for more candidates (docs/design/chat-completions.md 2.1). */
const choicesMax = 128;

export class ChunkReader implements StreamReader {
  readonly #choices: ChoiceReader[] = [];
  #events: ReplyEvent[] = [];
  #usage: TokenUsage | undefined;
  #hasStarted = false;
  #isEnded = false;

  /** @throws InvalidReply for what is no chunk, and for a second reply spliced behind the first */
  read({ data, json }: WireEvent): readonly ReplyEvent[] {
    if (data === done) return this.end();
    // What follows the terminator belongs to nobody; an event without data only says that the upstream lives.
    if (this.#isEnded || data.trim() === "") return nothing;
    this.#readChunk(parseChunk(data, json), false);
    return this.#consumeEvents();
  }

  /** A whole body, which says everything in one chunk. @throws InvalidReply */
  readBody(body: JsonObject): readonly ReplyEvent[] {
    this.#readChunk(body, true);
    return this.end();
  }

  #readChunk(chunk: JsonObject, isBody: boolean): void {
    const choices = asList(chunk["choices"]);
    const usage = usageOf(chunk);
    this.#usage = laterUsage(this.#usage, usage);
    // Azure's first chunk has no choices, and neither id nor model.
    if (choices.length === 0 && usage === undefined) return;
    const id = asText(chunk["id"]);
    if (!this.#hasStarted) this.#start(id, chunk);
    if (usage !== undefined && this.#usage === usage) this.#events.push({ type: "usage", usage });
    for (const [position, choice] of choices.entries()) {
      if (isObject(choice)) this.#choice(choice["index"] ?? position).read(choice, id, isBody);
    }
    if (chunk["citations"] !== undefined) this.#choices[0]?.addSources(readSources(chunk));
  }

  end(): readonly ReplyEvent[] {
    if (this.#isEnded) return nothing;
    this.#isEnded = true;
    if (this.#choices.length === 0) throw new InvalidReply("the reply has no choice");
    for (const choice of this.#choices) choice.finish();
    this.#events.push({ type: "end" });
    return this.#consumeEvents();
  }

  #start(id: string, chunk: JsonObject): void {
    this.#hasStarted = true;
    const model = asText(chunk["model"]) || undefined;
    const serviceTier = asText(chunk["service_tier"]) || undefined;
    this.#events.push({ type: "start", id: id || undefined, model, serviceTier });
  }

  #choice(index: unknown): ChoiceReader {
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= choicesMax) {
      throw new InvalidReply("a choice has an invalid index");
    }
    for (let next = this.#choices.length; next <= index; next += 1) {
      this.#choices.push(new ChoiceReader(next, (event) => this.#events.push(event)));
    }
    const choice = this.#choices[index];
    if (choice === undefined) throw new InvalidReply("a choice has an invalid index");
    return choice;
  }

  #consumeEvents(): readonly ReplyEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

function parseChunk(data: string, json: unknown): JsonObject {
  // Arguments as an object would lose digits.
  const chunk = data.includes('"arguments":{') ? keepingDigits(data) : (json ?? parseJson(data));
  if (chunk === undefined) throw new InvalidReply("an event is not JSON");
  if (!isObject(chunk)) throw new InvalidReply("an event is not an object");
  return chunk;
}

function keepingDigits(data: string): unknown {
  try {
    return parseJsonText(data);
  } catch {
    return undefined;
  }
}

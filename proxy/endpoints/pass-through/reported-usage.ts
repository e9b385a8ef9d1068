/**
 * Finds the usage that a reply reports, whatever else it holds: the usage objects of the four chat formats, at the places
 * where providers put them, in JSON, in lists and lines of JSON, and in server-sent events.
 *
 * What is passed on has no format: a reply without such an object used no tokens that anybody could charge.
 */
import { laterUsage, readUsage as readChatUsage } from "#proxy/formats/chat-completions/native/read-usage";
import {
  mergeUsage as mergeGeminiUsage,
  readUsage as readGeminiUsage,
} from "#proxy/formats/generate-content/native/read-usage";
import {
  mergeUsage as mergeMessagesUsage,
  readUsage as readMessagesUsage,
} from "#proxy/formats/messages/native/read-usage";
import { readUsage as readResponseUsage } from "#proxy/formats/responses/native/read-usage";
import { isObject, type JsonObject, member, parseJson } from "#proxy/json/json-value";
import type { TokenUsage } from "#proxy/settle/usage";
import { readEventFields } from "#proxy/sse/event-fields";
import { EventSplitter } from "#proxy/sse/event-splitter";

/** So much of a JSON reply is kept; of a longer one its end, where usage stands. */
const keptBytesMax = 64 * 1024;
/** The same of an event: a response that is complete repeats all that it said, with its usage at the end. */
const eventBytesMax = 128 * 1024;
/** Begins every name that is looked for: `usage`, `usageMetadata`. */
const mark = Buffer.from('"usage');

/** Watches one reply as it passes. */
export class UsageWatch {
  readonly #splitter: EventSplitter | undefined;
  /** The end so far of an event that is longer than is kept. */
  #endOfEvent: Buffer | undefined;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #isWhole = true;
  #usage: TokenUsage | undefined;
  #merged: JsonObject | undefined;

  /** @param contentType of the reply */
  constructor(contentType: string) {
    if (/^text\/event-stream\b/i.test(contentType)) this.#splitter = new EventSplitter(eventBytesMax);
  }

  /** What has been reported so far; a JSON reply reports at its end. */
  get usage(): TokenUsage | undefined {
    return this.#usage;
  }

  /** @param chunk kept until the end: the caller does not write into it any more */
  push(chunk: Buffer): void {
    if (this.#splitter === undefined) this.#keep(chunk);
    else this.#split(this.#splitter, chunk);
  }

  #split(splitter: EventSplitter, chunk: Buffer): void {
    this.#readEvents(splitter.push(chunk));
    if (!splitter.isOverflowing) return;
    this.#endOfEvent = this.#withEnd(splitter.takeRest()).subarray(-keptBytesMax);
  }

  #withEnd(bytes: Buffer | undefined): Buffer {
    const parts = [this.#endOfEvent, bytes].filter((part) => part !== undefined);
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }

  end(): void {
    if (this.#splitter !== undefined) {
      const rest = this.#splitter.takeRest();
      if (rest !== undefined || this.#endOfEvent !== undefined) this.#readEvents(rest ?? Buffer.alloc(0));
      return;
    }
    const bytes = this.#kept.length === 1 ? this.#kept[0] : Buffer.concat(this.#kept);
    this.#kept = [];
    if (bytes === undefined || !bytes.includes(mark)) return;
    if (this.#isWhole) this.#readWhole(bytes.toString("utf8"));
    else this.#read(lastUsageIn(bytes.toString("utf8")));
  }

  /** One value, a list of parts as Gemini streams them unless asked for events, or one value a line. */
  #readWhole(text: string): void {
    const json = parseJson(text);
    const parts = json === undefined ? text.split(/[\r\n]+/).map(parseJson) : Array.isArray(json) ? json : [json];
    for (const part of parts) this.#read(part);
  }

  #keep(chunk: Buffer): void {
    this.#kept.push(chunk);
    this.#keptBytes += chunk.length;
    if (this.#keptBytes <= keptBytesMax) return;
    this.#isWhole = false;
    while (this.#keptBytes - (this.#kept[0]?.length ?? 0) >= keptBytesMax) {
      this.#keptBytes -= this.#kept.shift()?.length ?? 0;
    }
  }

  #readEvents(block: Buffer | undefined): void {
    if (block === undefined) return;
    const isBegun = this.#endOfEvent !== undefined;
    const bytes = this.#withEnd(block);
    this.#endOfEvent = undefined;
    if (!bytes.includes(mark)) return;
    const [first = "", ...others] = bytes.toString("utf8").split(/(?:\r\n|\r|\n){2,}/);
    if (isBegun) this.#read(lastUsageIn(first));
    for (const event of isBegun ? others : [first, ...others]) {
      const { data } = readEventFields(Buffer.from(event));
      if (data?.includes('"usage') === true) this.#read(parseJson(data));
    }
  }

  #read(json: unknown): void {
    if (!isObject(json)) return;
    const { message, response, usageMetadata } = json;
    if (isObject(usageMetadata)) {
      this.#merged = mergeGeminiUsage(this.#merged, usageMetadata);
      this.#usage = readGeminiUsage(this.#merged) ?? this.#usage;
    } else if (isObject(member(response, "usage"))) this.#usage = readResponseUsage(response) ?? this.#usage;
    else if (json["object"] === "response") this.#usage = readResponseUsage(json) ?? this.#usage;
    else this.#readPlain(member(message, "usage") ?? json["usage"], json["type"]);
  }

  #readPlain(usage: unknown, type: unknown): void {
    if (!isObject(usage)) return;
    const isMessages = typeof type === "string" && type.startsWith("message");
    if (isMessages || "cache_read_input_tokens" in usage || "cache_creation_input_tokens" in usage) {
      this.#merged = mergeMessagesUsage(this.#merged, usage);
      this.#usage = readMessagesUsage(this.#merged) ?? this.#usage;
    } else this.#usage = laterUsage(this.#usage, readChatUsage(usage));
  }
}

/** The last usage object in the end of a JSON text. Inside a string its quotation marks would be escaped. */
function lastUsageIn(text: string): unknown {
  const found = [...text.matchAll(/"(usage(?:Metadata)?)"\s*:\s*(?=\{)/g)].at(-1);
  if (found === undefined) return undefined;
  const from = found.index + found[0].length;
  const value = parseJson(text.slice(from, endOfObject(text, from)));
  return isObject(value) ? { [found[1] ?? ""]: value } : undefined;
}

/** @returns the place behind the brace that closes the one at `from`, or the end of the text */
function endOfObject(text: string, from: number): number {
  let depth = 0;
  // Strings as wholes: a brace in one closes nothing.
  for (const { 0: token, index } of text.slice(from).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === "{") depth += 1;
    else if (token === "}") depth -= 1;
    if (depth === 0) return from + index + 1;
  }
  return text.length;
}

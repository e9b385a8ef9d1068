/**
 * Keeps the blocks of a stream for the rare case that they must be read later: usage never came, or an error needs the
 * last sequence number. Until then a block costs one reference.
 *
 * Beyond `bytesMax` the blocks are read and released, so that of a long stream the text is kept and not its framing.
 */

import { isObject, parseJson } from "#proxy/json/json-value";
import { readEventFields, splitEvents } from "#proxy/sse/event-fields";

/** About 3,500 events of one token; below the 2 MB a stream may cost. */
const retainedBytesMax = 1024 * 1024;

/** V8 takes microseconds to say that a text is no JSON: an upstream that sends a megabyte of rubbish would hold everybody. */
const brokenMax = 100;

/** All that is ever looked for; `[DONE]` is none. */
const objectStart = /^\s*\{/;

export class RetainedEvents {
  readonly #visit: ((event: unknown) => void) | undefined;
  /** Events that began as an object and were none. */
  #broken = 0;
  #events = 0;
  #blocks: Buffer[] = [];
  #bytes = 0;

  /** @param visit reads the JSON of one event; called in order, once for each. Undefined: events are only counted */
  constructor(visit: ((event: unknown) => void) | undefined) {
    this.#visit = visit;
  }

  /** Events added so far; those that were kept are read for it. */
  get events(): number {
    this.read();
    return this.#events;
  }

  add(block: Buffer): void {
    this.#blocks.push(block);
    this.#bytes += block.length;
    if (this.#bytes > retainedBytesMax) this.read();
  }

  /** An event that was parsed already: it is looked into at once, and nothing is kept. */
  addParsed(json: unknown): void {
    this.#events += 1;
    if (isObject(json)) this.#visit?.(json);
  }

  /** Reads all blocks kept and lets them go. */
  read(): void {
    const blocks = this.#blocks;
    this.#blocks = [];
    this.#bytes = 0;
    for (const block of blocks) {
      for (const event of splitEvents(block)) {
        this.#events += 1;
        if (this.#visit === undefined || this.#broken >= brokenMax) continue;
        const { data } = readEventFields(event);
        if (data === undefined || !objectStart.test(data)) continue;
        const value = parseJson(data);
        if (value === undefined) this.#broken += 1;
        else this.#visit(value);
      }
    }
  }
}

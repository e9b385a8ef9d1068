/**
 * Aggregates a stream of frames into a reply (docs/design/generate-content.md 4 and 5.1).
 *
 * A frame is a whole reply that holds what is new: its parts follow those before, every other member replaces the
 * earlier one, and counts are cumulative. Texts are joined across frames and nowhere else, and never where a signature
 * is: signed parts must go back as they came (docs/design/generate-content.md 3.3).
 */

import type { AggregatedReply, JsonEvent } from "#proxy/formats/aggregate/aggregation";
import { append, isMembers, type MutableObject, setLater, without } from "#proxy/formats/aggregate/members";
import { mergeUsage } from "#proxy/formats/generate-content/native/read-usage";
import { replaces } from "#proxy/formats/generate-content/translate/reply/finish-reasons";
import { asList, type JsonObject, member } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import { PartsAggregator } from "./aggregate-parts.ts";

/** No client may ask for more (docs/design/generate-content.md 3.1). */
const candidatesMax = 128;

/** @throws InvalidReply when the events are no reply */
export function aggregateStream(events: Iterable<JsonEvent>): AggregatedReply {
  const reply = new GenerateContentAggregator();
  for (const { json } of events) reply.add(json);
  return { reply: reply.whole(), lost: [] };
}

class GenerateContentAggregator {
  readonly #reply: MutableObject = {};
  readonly #candidates = new Map<number, FrameCandidateAggregator>();
  #usage: JsonObject | undefined;
  /** Some frame had a list of candidates, be it empty. */
  #hasCandidates = false;

  add(frame: JsonObject): void {
    for (const [name, value] of Object.entries(without(frame, "candidates", "usageMetadata"))) {
      setLater(this.#reply, name, value);
    }
    this.#usage = mergeUsage(this.#usage, frame["usageMetadata"]);
    if (!Array.isArray(frame["candidates"])) return;
    this.#hasCandidates = true;
    for (const [place, candidate] of frame["candidates"].entries()) {
      if (isMembers(candidate)) this.#candidate(candidate["index"] ?? place).add(candidate);
    }
  }

  whole(): JsonObject {
    const candidates = [...this.#candidates].sort(([one], [other]) => one - other);
    return {
      ...(this.#hasCandidates ? { candidates: candidates.map(([, candidate]) => candidate.whole()) } : {}),
      ...this.#reply,
      ...(this.#usage === undefined ? {} : { usageMetadata: { ...this.#usage } }),
    };
  }

  #candidate(index: unknown): FrameCandidateAggregator {
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= candidatesMax) {
      throw new InvalidReply("a candidate has an invalid index");
    }
    let candidate = this.#candidates.get(index);
    if (candidate === undefined) {
      candidate = new FrameCandidateAggregator();
      this.#candidates.set(index, candidate);
    }
    return candidate;
  }
}

class FrameCandidateAggregator {
  readonly #candidate: MutableObject = {};
  #content: MutableObject | undefined;
  readonly #parts = new PartsAggregator();

  add(candidate: JsonObject): void {
    const { content, finishReason, ...others } = candidate;
    if (isMembers(content)) {
      this.#content ??= {};
      for (const [name, value] of Object.entries(without(content, "parts"))) setLater(this.#content, name, value);
      if (Array.isArray(content["parts"])) this.#parts.add(content["parts"]);
    }
    this.#end(finishReason);
    for (const [name, value] of Object.entries(others)) this.#set(name, value);
  }

  /** @throws InvalidReply where it claims to be whole and its last call is not */
  whole(): JsonObject {
    if (this.#parts.hasHalfCall && this.#candidate["finishReason"] === "STOP") {
      throw new InvalidReply("a tool call was never completed");
    }
    const parts = this.#parts.whole();
    const content = { ...(parts === undefined ? {} : { parts }), ...this.#content };
    return { ...(this.#content === undefined ? {} : { content }), ...this.#candidate };
  }

  #end(reason: unknown): void {
    if (typeof reason !== "string" || reason === unspecified) return;
    const known = this.#candidate["finishReason"];
    if (replaces(typeof known === "string" ? known : undefined, reason)) this.#candidate["finishReason"] = reason;
  }

  /** Sources hold what is new, or say everything again; probabilities always hold what is new. */
  #set(name: string, value: unknown): void {
    const known = member(this.#candidate, name);
    if (!listHolders.has(name) || !isMembers(known) || !isMembers(value)) {
      setLater(this.#candidate, name, value);
      return;
    }
    for (const [inner, later] of Object.entries(value)) {
      const before = member(known, inner);
      const isList = Array.isArray(before) && Array.isArray(later);
      const isRepeated = isList && name !== "logprobsResult" && isStartOf(before, later);
      if (isList && !isRepeated) append(before, later);
      else setLater(known, inner, later);
    }
  }
}

/** What some servers put where there is no reason yet. */
const unspecified = "FINISH_REASON_UNSPECIFIED";

/** Members of a candidate whose lists grow over the frames. */
const listHolders: ReadonlySet<string> = new Set([
  "groundingMetadata",
  "citationMetadata",
  "urlContextMetadata",
  "logprobsResult",
]);

function isStartOf(known: readonly unknown[], later: readonly unknown[]): boolean {
  if (later.length < known.length) return false;
  return known.every((entry, index) => JSON.stringify(entry) === JSON.stringify(asList(later)[index]));
}

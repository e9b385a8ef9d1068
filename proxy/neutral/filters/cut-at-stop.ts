/**
 * Applies stop sequences for an upstream that does not support them: the visible text of a candidate ends before the
 * first one (docs/design/translation.md 12).
 *
 * Text that could be the beginning of a sequence waits. When a sequence is found, every open part of its candidate is
 * closed and the candidate finishes; what the upstream sends for it afterwards is dropped. When no other candidate is
 * to come the reply ends, although the upstream has not counted what it produced: the client gets an estimate of its
 * usage.
 */

import { argumentsObject } from "#proxy/json/json-text";
import type { Finish, ReplyEvent, TokenLogprob } from "#proxy/neutral/reply";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import { partKey, type ReplyFilter } from "./filter.ts";
import { type Place, SequenceFinder } from "./sequence-finder.ts";
import { charactersOf, WaitingTokens } from "./waiting-tokens.ts";

/** Rule of thumb for text of any kind. */
const charactersPerToken = 4;

/** No provider takes so many: a client that sends more only wants to cost time. */
export const stopLimits = { sequences: 256, charactersTogether: 16_384 } as const;

export function exceedsStopLimits(sequences: readonly string[]): boolean {
  if (sequences.length > stopLimits.sequences) return true;
  return sequences.reduce((sum, { length }) => sum + length, 0) > stopLimits.charactersTogether;
}

type PartEvent = Extract<ReplyEvent, { readonly part: number }>;

interface OpenPart {
  readonly candidate: number;
  readonly part: number;
  readonly isCall: boolean;
  /** Of a text, among the beginnings of the sequences. */
  place: Place | undefined;
  /** Characters of a text that went out. */
  released: number;
  /** Of a streamed text. */
  readonly tokens: WaitingTokens;
  /** Arguments of a call so far. */
  readonly arguments: string[];
  /** Of a whole reply's text that was cut: by which sequence, and how much of it the client has. */
  cut?: { readonly sequence: string; readonly characters: number };
}

export class CutAtStop implements ReplyFilter {
  readonly #finder: SequenceFinder;
  readonly #open = new Map<string, OpenPart>();
  readonly #candidates: number;
  /** Candidates that the client has to their end. */
  readonly #over = new Set<number>();
  /** Candidates whose text has ended, by which sequence: their calls under way are heard to their ends. */
  readonly #ending = new Map<number, string>();
  /** Those of which a call was half: why they end the upstream says. */
  readonly #isHalf = new Set<number>();
  #isCut = false;
  /** As the upstream said it last: the prompt often comes first. */
  #usage: TokenUsage | undefined;
  #producedCharacters = 0;
  readonly #promptTokens: number;
  readonly #isWhole: boolean;

  /**
   * @param sequences none of them empty
   * @param promptTokens as estimated before the call
   * @param candidates that the upstream was asked for
   * @param isWhole each text is one delta, and what is said of it stands behind: it is heard before the candidate ends
   */
  constructor(sequences: readonly string[], promptTokens: number, candidates: number, isWhole = false) {
    this.#finder = new SequenceFinder(sequences);
    this.#promptTokens = promptTokens;
    this.#candidates = candidates;
    this.#isWhole = isWhole;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  apply(event: ReplyEvent): readonly ReplyEvent[] {
    if (this.#isCut) return [];
    if (event.type === "usage") this.#usage = event.usage;
    if (!("candidate" in event)) return [event];
    if (event.type === "delta") this.#producedCharacters += event.text.length;
    if (this.#over.has(event.candidate)) return [];
    const ending = this.#ending.get(event.candidate);
    if (ending !== undefined) return this.#untilCallsEnd(event, ending);
    if (event.type === "finish") {
      this.#over.add(event.candidate);
      return [event];
    }
    const key = partKey(event);
    if (event.type === "open") {
      const place = event.block.kind === "text" ? this.#finder.start : undefined;
      const { candidate, part, block } = event;
      const isCall = block.kind === "call";
      const tokens = new WaitingTokens();
      this.#open.set(key, { candidate, part, isCall, place, released: 0, tokens, arguments: [] });
      return [event];
    }
    const open = this.#open.get(key);
    if (open?.cut !== undefined) return this.#afterCut(event, open.cut);
    if (event.type === "delta" && open?.place !== undefined) return this.#search(event, open, open.place);
    if (event.type === "logprobs" && open?.place !== undefined && !this.#isWhole) {
      open.tokens.add(event.tokens);
      return this.#releaseTokens(open);
    }
    if (event.type === "delta" && open?.isCall === true) open.arguments.push(event.text);
    if (event.type !== "close") return [event];
    this.#open.delete(key);
    return open === undefined ? [event] : this.#closed(open);
  }

  #search(event: Extract<ReplyEvent, { type: "delta" }>, open: OpenPart, from: Place): readonly ReplyEvent[] {
    open.tokens.addText(event.text);
    const { place, characters } = this.#finder.read(from, event.text);
    const sequence = place.found;
    if (sequence === undefined) {
      open.place = place;
      return this.#said(event, open, without(place.length, from, event.text));
    }
    const said = this.#said(event, open, without(sequence.length, from, event.text.slice(0, characters)));
    open.place = undefined;
    if (!this.#isWhole) return [...said, ...this.#cut(event.candidate, sequence)];
    open.cut = { sequence, characters: open.released };
    return said;
  }

  /** Text that goes out, with the tokens that spell it in front. */
  #said(event: Extract<ReplyEvent, { type: "delta" }>, open: OpenPart, text: string): readonly ReplyEvent[] {
    if (text === "") return [];
    open.released += text.length;
    return [...this.#releaseTokens(open), { ...event, text }];
  }

  /** What is said of text that may not go out must not either. */
  #releaseTokens({ candidate, part, tokens, released }: OpenPart): readonly ReplyEvent[] {
    const free = tokens.release(released);
    return free.length === 0 ? [] : [{ type: "logprobs", candidate, part, tokens: free }];
  }

  /** What is said of the text that was kept. */
  #afterCut(event: PartEvent, { sequence, characters }: NonNullable<OpenPart["cut"]>): readonly ReplyEvent[] {
    switch (event.type) {
      case "close":
        return this.#cut(event.candidate, sequence);
      case "citation":
        return (event.citation.end ?? 0) <= characters ? [event] : [];
      case "logprobs": {
        const tokens = tokensWithin(characters, event.tokens);
        return tokens.length === 0 ? [] : [{ ...event, tokens }];
      }
      case "state":
        return [event];
      default:
        return [];
    }
  }

  #cut(candidate: number, sequence: string): readonly ReplyEvent[] {
    const events: ReplyEvent[] = [];
    for (const [key, open] of this.#open) {
      if (open.candidate !== candidate || open.isCall) continue;
      this.#open.delete(key);
      events.push(...this.#closed(open));
    }
    this.#ending.set(candidate, sequence);
    if (!this.#hasOpen(candidate)) events.push(...this.#finish(candidate, sequence));
    return events;
  }

  /** Half a call says something else than the whole one. */
  #untilCallsEnd(event: Extract<ReplyEvent, { readonly candidate: number }>, sequence: string): readonly ReplyEvent[] {
    const { candidate } = event;
    if (event.type === "finish") return this.#finish(candidate, sequence, event.finish);
    const key = partKey(event);
    const open = this.#open.get(key);
    if (open === undefined) return [];
    if (event.type === "delta") open.arguments.push(event.text);
    if (event.type !== "close") return [event];
    this.#open.delete(key);
    if (argumentsObject(open.arguments.join("")) === undefined) this.#isHalf.add(candidate);
    const mustWait = this.#hasOpen(candidate) || this.#isHalf.has(candidate);
    return mustWait ? [event] : [event, ...this.#finish(candidate, sequence)];
  }

  #hasOpen(candidate: number): boolean {
    return [...this.#open.values()].some((open) => open.candidate === candidate);
  }

  /** @param upstreams its own end, which says why a call is half */
  #finish(candidate: number, sequence: string, upstreams?: Finish): readonly ReplyEvent[] {
    const isHalf = upstreams !== undefined && cutting.has(upstreams.reason);
    const finish: Finish = isHalf ? upstreams : { reason: "stop-sequence", stopSequence: sequence };
    const events: ReplyEvent[] = [{ type: "finish", candidate, finish }];
    this.#over.add(candidate);
    this.#isCut = this.#over.size >= this.#candidates && this.#open.size === 0;
    if (this.#isCut) events.push({ type: "usage", usage: this.#usageSoFar() }, { type: "end" });
    return events;
  }

  /** What waited was no sequence after all. */
  #closed(open: OpenPart): readonly ReplyEvent[] {
    const { candidate, part, place } = open;
    const close = { type: "close", candidate, part } as const;
    const text = place?.sequence.slice(0, place.length) ?? "";
    const said: ReplyEvent[] = text === "" ? [] : [{ type: "delta", candidate, part, text }];
    // Of a text that ends here by itself all may go out.
    const tokens = place === undefined ? [] : open.tokens.release(Number.POSITIVE_INFINITY);
    if (tokens.length > 0) said.unshift({ type: "logprobs", candidate, part, tokens });
    return [...said, close];
  }

  #usageSoFar(): TokenUsage {
    const said = this.#usage ?? { ...zeroUsage, input: this.#promptTokens };
    const produced = Math.ceil(this.#producedCharacters / charactersPerToken);
    return { ...said, output: Math.max(said.output, produced - said.reasoning) };
  }
}

/** Ends that may leave a call half. */
const cutting: ReadonlySet<Finish["reason"]> = new Set(["length", "context", "content-filter"]);

function tokensWithin(characters: number, tokens: readonly TokenLogprob[]): readonly TokenLogprob[] {
  let length = 0;
  const end = tokens.findIndex((token) => {
    length += charactersOf(token);
    return length > characters;
  });
  return end < 0 ? tokens : tokens.slice(0, end);
}

/** What waited and what came, less so many characters at the end. */
function without(characters: number, waited: Place, came: string): string {
  const free = waited.length + came.length - characters;
  if (free <= waited.length) return waited.sequence.slice(0, free);
  return waited.sequence.slice(0, waited.length) + came.slice(0, free - waited.length);
}

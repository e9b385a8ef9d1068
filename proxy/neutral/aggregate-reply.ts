/**
 * Aggregates a stream of neutral events into one whole reply: for a client that does not stream and an upstream that
 * did, and as the reference that every stream must agree with (docs/design/translation.md 9.3).
 */
import type { TokenUsage } from "#proxy/settle/usage";
import type { ProviderState } from "./conversation.ts";
import {
  type Candidate,
  type Citation,
  type Finish,
  InvalidReply,
  type OpenedBlock,
  type Reply,
  type ReplyBlock,
  type ReplyEvent,
  type TokenLogprob,
} from "./reply.ts";

export class ReplyAggregator {
  #start: Extract<ReplyEvent, { type: "start" }> | undefined;
  #usage: TokenUsage | undefined;
  readonly #candidates: CandidateAggregator[] = [];
  #isEnded = false;

  add(event: ReplyEvent): void {
    switch (event.type) {
      case "start":
        this.#start = event;
        return;
      case "usage":
        this.#usage = event.usage;
        return;
      case "end":
        this.#isEnded = true;
        return;
      default:
        this.#candidate(event.candidate).add(event);
    }
  }

  /** @throws InvalidReply when the stream did not come to its end */
  reply(): Reply {
    if (!this.#isEnded) throw new InvalidReply("the reply ended before it was complete");
    return {
      id: this.#start?.id,
      model: this.#start?.model,
      serviceTier: this.#start?.serviceTier,
      candidates: this.#candidates.map((candidate) => candidate.whole()),
      usage: this.#usage,
    };
  }

  #candidate(index: number): CandidateAggregator {
    while (this.#candidates.length <= index) this.#candidates.push(new CandidateAggregator());
    const candidate = this.#candidates[index];
    if (candidate === undefined) throw new InvalidReply("a candidate has an invalid index");
    return candidate;
  }
}

/** @throws InvalidReply when the events do not come to an end */
export function aggregateReply(events: Iterable<ReplyEvent>): Reply {
  const aggregator = new ReplyAggregator();
  for (const event of events) aggregator.add(event);
  return aggregator.reply();
}

class CandidateAggregator {
  readonly #parts: AggregatedPart[] = [];
  #finish: Finish = { reason: "other" };

  add(event: Exclude<ReplyEvent, { type: "start" | "usage" | "end" }>): void {
    if (event.type === "finish") {
      this.#finish = event.finish;
      return;
    }
    if (event.type === "open") {
      this.#parts[event.part] = { block: event.block, text: [], citations: [], logprobs: [], states: [] };
      return;
    }
    const part = this.#parts[event.part];
    if (part === undefined) throw new InvalidReply("a piece came for a part that was never opened");
    if (event.type === "delta") part.text.push(event.text);
    else if (event.type === "citation") part.citations.push(event.citation);
    else if (event.type === "logprobs") for (const token of event.tokens) part.logprobs.push(token);
    else if (event.type === "state") part.states.push(event.state);
  }

  whole(): Candidate {
    return { blocks: this.#parts.map(wholeBlock), finish: this.#finish };
  }
}

interface AggregatedPart {
  readonly block: OpenedBlock;
  readonly text: string[];
  readonly citations: Citation[];
  readonly logprobs: TokenLogprob[];
  readonly states: ProviderState[];
}

function wholeBlock({ block, text, citations, logprobs, states }: AggregatedPart): ReplyBlock {
  const joined = text.join("");
  switch (block.kind) {
    case "text":
      return { kind: "text", text: joined, citations, logprobs, states };
    case "refusal":
    case "reasoning":
      return { kind: block.kind, text: joined, states };
    case "call":
      return { kind: "call", id: block.id, name: block.name, tool: block.tool, arguments: joined, states };
    default:
      return block;
  }
}

/**
 * Defines the neutral form of a reply, twice: whole (`Reply`) and as it streams (`ReplyEvent`).
 *
 * Readers make it of what an upstream sent, writers make the client's form of it; `aggregate-reply.ts` and
 * `replay-reply.ts` turn one form into the other, so that either kind of upstream serves either kind of client.
 *
 * Every reader of streams keeps these promises, and every writer relies on them (docs/design/translation.md 9.1):
 * `start` comes first and once; each `open` gets one `close`; parts of a candidate count 0, 1, 2 … in the order of
 * their `open`; several parts may be open together; the deltas of a function call join to valid JSON text at its
 * `close` (`{}` when it had none), unless the candidate finishes with `length`; `finish` comes once for a candidate,
 * after all its closes; `usage` may come several times, each replaces the one before; `end` comes last, and only when
 * the upstream's own terminator was seen. Errors are not events: a reader throws `InvalidReply`, and the format's
 * filter finds an upstream's error event before the reader sees it.
 */
import type { TokenUsage } from "#proxy/settle/usage";
import type { ProviderState } from "./conversation.ts";

export interface Reply {
  readonly id: string | undefined;
  readonly model: string | undefined;
  /** By candidate index, dense. */
  readonly candidates: readonly Candidate[];
  readonly usage: TokenUsage | undefined;
  readonly serviceTier?: string | undefined;
}

export interface Candidate {
  readonly blocks: readonly ReplyBlock[];
  readonly finish: Finish;
}

export interface TextBlock {
  readonly kind: "text";
  readonly text: string;
  readonly citations: readonly Citation[];
  readonly logprobs: readonly TokenLogprob[];
  readonly states: readonly ProviderState[];
}
export interface RefusalBlock {
  readonly kind: "refusal";
  readonly text: string;
  readonly states: readonly ProviderState[];
}
/** May have no text at all: then it only carries state. */
export interface ReasoningBlock {
  readonly kind: "reasoning";
  readonly text: string;
  readonly states: readonly ProviderState[];
}
export interface CallBlock {
  readonly kind: "call";
  /** Undefined where the upstream has no ids: the writer mints one for its client. */
  readonly id: string | undefined;
  readonly name: string;
  readonly tool: "function" | "custom";
  readonly arguments: string;
  readonly states: readonly ProviderState[];
}
export interface MediaBlock {
  readonly kind: "media";
  readonly mime: string;
  /** Exactly one of both. */
  readonly base64?: string | undefined;
  readonly url?: string | undefined;
  /** Text spoken in an audio. */
  readonly transcript?: string | undefined;
}
/** What a provider-run tool did. Formats without a place for it drop it; it never becomes visible text. */
export interface HostedBlock {
  readonly kind: "hosted";
  readonly tool: "web-search" | "code" | "other";
  /** Type in the upstream's words. */
  readonly type: string;
  readonly code?: string | undefined;
  readonly output?: string | undefined;
  /** What was searched for. */
  readonly queries?: readonly string[] | undefined;
  /** What a search found, as far as the provider tells. */
  readonly sources?: readonly FoundSource[] | undefined;
  readonly hasFailed?: boolean | undefined;
  /** What the provider wants back of it. Here and not in events of their own, since such a part is told whole. */
  readonly states?: readonly ProviderState[] | undefined;
}

export interface FoundSource {
  readonly url: string;
  readonly title?: string | undefined;
}

export type ReplyBlock = TextBlock | RefusalBlock | ReasoningBlock | CallBlock | MediaBlock | HostedBlock;

/** A source of a text. Offsets count UTF-16 units in the text of its block; undefined: it holds for the whole block. */
export interface Citation {
  readonly url: string;
  readonly title?: string | undefined;
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  readonly citedText?: string | undefined;
}

export interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
  /** UTF-8 of the token. */
  readonly bytes?: readonly number[] | undefined;
  readonly top: readonly {
    readonly token: string;
    readonly logprob: number;
    readonly bytes?: readonly number[] | undefined;
  }[];
}

/** Why a candidate ended (docs/design/translation.md 8.1). */
export interface Finish {
  readonly reason:
    | "stop"
    | "stop-sequence"
    | "length"
    | "context"
    | "tool-calls"
    | "content-filter"
    | "refusal"
    | "pause"
    /** The provider has more to say and wants to be asked for it: what came is not the whole reply. */
    | "continuation"
    | "malformed-call"
    | "other";
  readonly stopSequence?: string | undefined;
  /** What the provider said about a refusal or filter, for people. */
  readonly explanation?: string | undefined;
  /** The prompt itself was refused: there is no output. */
  readonly isPromptBlocked?: boolean | undefined;
}

/** What an `open` announces; the text of text, refusal and reasoning and the arguments of calls come as deltas. */
export type OpenedBlock =
  | { readonly kind: "text" | "refusal" | "reasoning" }
  | {
      readonly kind: "call";
      readonly id: string | undefined;
      readonly name: string;
      readonly tool: "function" | "custom";
    }
  | MediaBlock
  | HostedBlock;

export type ReplyEvent =
  | {
      readonly type: "start";
      readonly id: string | undefined;
      readonly model: string | undefined;
      readonly serviceTier?: string | undefined;
    }
  | { readonly type: "open"; readonly candidate: number; readonly part: number; readonly block: OpenedBlock }
  /** Text of a text, refusal or reasoning part, arguments of a call; never empty. */
  | { readonly type: "delta"; readonly candidate: number; readonly part: number; readonly text: string }
  /** This and the next also behind the `close` of their text: some upstreams tell them at the end of the reply. */
  | { readonly type: "citation"; readonly candidate: number; readonly part: number; readonly citation: Citation }
  | {
      readonly type: "logprobs";
      readonly candidate: number;
      readonly part: number;
      readonly tokens: readonly TokenLogprob[];
    }
  /** Before the `close` of the part it belongs to; of a call also before its first delta where the upstream allows. */
  | { readonly type: "state"; readonly candidate: number; readonly part: number; readonly state: ProviderState }
  | { readonly type: "close"; readonly candidate: number; readonly part: number }
  | { readonly type: "usage"; readonly usage: TokenUsage }
  | { readonly type: "finish"; readonly candidate: number; readonly finish: Finish }
  | { readonly type: "end" };

/** What an upstream sent is not a reply of its format. The message is for the log, in our own words, without its content. */
export class InvalidReply extends Error {}

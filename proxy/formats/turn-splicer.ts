/**
 * Splices the replies of a turn that its provider paused and the gateway continues into one reply
 * (docs/design/translation.md 8.1).
 *
 * A provider whose own tools run for long may end a reply before the turn is over and wants it sent back to continue.
 * Clients of other formats have no word for that: they see one response, whose usage is the sum of all. Bodies go in as
 * they come, and one body of the same format comes out, so that filter and reader behind it know nothing of pauses.
 * Pure; `upstream/continuing-upstream.ts` sends the requests.
 */
import type { TokenUsage } from "#proxy/settle/usage";

export interface SpliceLimits {
  readonly eventBytesMax: number;
  /** Of one body that comes as one object. */
  readonly responseBytesMax: number;
}

export interface TurnSplicer {
  /** What is kept: of the turn to be sent back, and of bodies that must be whole before anything of them may pass. */
  readonly heldBytes: number;
  /** The body under way must be whole before anything of it may pass. */
  readonly isCollecting: boolean;
  /** The body under way has said that it pauses, and its end: what comes behind means nothing. */
  readonly isPaused: boolean;
  /** @returns what may go on of a body */
  push(chunk: Buffer): Buffer;
  /** The body is over. */
  endBody(): EndedBody;
  /** Another body follows. */
  resume(): void;
  /** The turn ends with its pause. @returns the end that was held back */
  stop(): Buffer;
  /** The provider refused to go on. @returns what ends the response visibly */
  fail(status: number, body: Buffer): Buffer;
  /** Keeps nothing from now on: the next pause is the end. @returns what was held back */
  forget(): Buffer;
}

export interface EndedBody {
  readonly passed: Buffer;
  /** Undefined when the turn is over, or cannot go on. */
  readonly pause: PausedTurn | undefined;
}

/** What a turn took so far. */
export interface TurnSoFar {
  /** Of all its bodies. */
  readonly used: TokenUsage;
  /** Of the last one: the next request reads what that read and said. */
  readonly last: TokenUsage;
  /** That it produced, as the format's filter gathers it. */
  readonly text: string;
}

/** A turn that may go on. */
export interface PausedTurn extends TurnSoFar {
  /** Body of the request that goes on. */
  readonly request: Buffer;
  /** Tokens that it may produce: what is left of the first request's cap. */
  readonly outputCap: number;
}

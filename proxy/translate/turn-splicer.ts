/**
 * Makes one answer of the answers of a turn that its provider paused and that the gateway continues
 * (`protocols/translation.md` section 8.1).
 *
 * A provider whose own tools run for long may end an answer before the turn is over and wants it sent back to go on
 * from. Clients of other formats have no word for that: they see one answer, whose usage is the sum of all. Bodies go in
 * as they come, and what comes out is one body of the same format, so that meter and reader behind it know nothing of
 * pauses. Pure; `forward/continuing-upstream.ts` sends the requests.
 */
import type { TokenUsage } from "../settle/usage.ts";

export interface TurnSplicer {
  /** Bytes of the turn so far: about what is kept of it to be sent back. */
  readonly heldBytes: number;
  /** @returns what may go on of a body. @throws InvalidReply for an event beyond the cap */
  push(chunk: Buffer): Buffer;
  /** The body is over. @throws InvalidReply when it is none */
  endBody(): EndedBody;
  /** Another body follows. @returns what is told of the pause */
  goOn(): Buffer;
  /** The turn ends with its pause. @returns the end that was held back */
  stop(): Buffer;
  /** The provider refused to go on. @returns what ends the answer visibly */
  fail(status: number, body: Buffer): Buffer;
  /** Keeps nothing more to be sent back: the next pause is the end. */
  forget(): void;
}

export interface EndedBody {
  readonly passed: Buffer;
  /** Undefined when the turn is over, or cannot go on. */
  readonly pause: PausedTurn | undefined;
}

/** A turn that may go on. */
export interface PausedTurn {
  /** Of all bodies so far. */
  readonly used: TokenUsage;
  /** Of the last one. */
  readonly last: TokenUsage;
  /** Body of the request that goes on. */
  readonly request: Buffer;
  /** Tokens that it may produce: what is left of the first request's cap. */
  readonly outputCap: number;
}

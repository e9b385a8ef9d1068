/**
 * Defines how an upstream frames the events of a stream: an `EventFraming` reads the upstream's bytes and returns
 * blocks of whole server-sent events. `event-splitter.ts` is the framing of nearly all; a provider with another one
 * brings its own.
 */
export interface EventFraming {
  readonly eventBytesMax: number;
  /** Bytes of the incomplete event that waits. */
  readonly heldBytes: number;
  /** The incomplete event is over the cap; what was pushed last is not held completely. */
  readonly isOverflowing: boolean;
  /** The framing's own end is missing: what came is not whole, however its events look. */
  readonly isCut: boolean;
  /** Adds bytes; returns the whole events that are complete now as one block, or undefined. */
  push(chunk: Buffer): Buffer | undefined;
  /** Takes what waits at the end of the body: an event whose end never came. */
  takeRest(): Buffer | undefined;
}

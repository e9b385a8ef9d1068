/** Defines what the client's side of a call needs of the attempt that serves it now. */
import type { StreamFilter } from "#proxy/formats/format";
import type { AttemptOutcome, StopReason } from "./attempt-outcome.ts";

export interface RunningAttempt {
  /** Resolves once, however the attempt ends; rejects only for an error in our own code. */
  run(): Promise<AttemptOutcome>;
  /** Ends the attempt from outside: the upstream is closed at once. */
  stop(reason: StopReason): void;
  /** Releases what it held of the reply: that has gone out, or never will. */
  release(): void;
  /** The client reads again. */
  resume(): void;
  /** Of a stream that goes to the client. */
  readonly openFilter: StreamFilter | undefined;
  /** Nothing more comes: the attempt has ended, or its stream said its last. */
  readonly isOver: boolean;
}

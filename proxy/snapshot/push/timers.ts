/** Defines the timers that both ends of the push protocol use; tests pass a clock that they move by hand. */
export interface Timers {
  /** Milliseconds on a clock that never jumps. */
  now(): number;
  /** Wall clock, milliseconds since the epoch; for people and skew only. */
  wallClock(): number;
  /** Runs `action` after `delayMs`; the function returned cancels it. */
  after(delayMs: number, action: () => void): () => void;
}

export const systemTimers: Timers = {
  now: () => performance.now(),
  wallClock: () => Date.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs);
    // A beat or a retry alone must not keep a process alive.
    timer.unref();
    return () => clearTimeout(timer);
  },
};

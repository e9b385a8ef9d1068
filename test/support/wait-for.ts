/** Waiting for a state: polls until it holds or a deadline passes, so that no test sleeps a guessed time. */
import { setTimeout as sleep } from "node:timers/promises";

export interface WaitOptions {
  readonly deadlineMs?: number;
  readonly everyMs?: number;
}

/**
 * @param what names the state in the failure: "the upstream saw the close"
 * @param probe anything but `undefined` and `false` ends the wait and is returned; a throw counts as not yet
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  options: WaitOptions = {},
): Promise<T> {
  const { deadlineMs = 5_000, everyMs = 5 } = options;
  const until = performance.now() + deadlineMs;
  let lastError: unknown;
  do {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    await sleep(everyMs);
  } while (performance.now() < until);
  throw new Error(`after ${deadlineMs} ms still waiting: ${what}`, { cause: lastError });
}

/** The promise's value, or a failure that says what was waited for. */
export async function within<T>(deadlineMs: number, what: string, promise: Promise<T>): Promise<T> {
  const stop = new AbortController();
  const timeout = sleep(deadlineMs, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`after ${deadlineMs} ms still waiting: ${what}`);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    stop.abort();
    timeout.catch(() => undefined);
  }
}

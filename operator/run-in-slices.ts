/** Drives a long computation so that it never holds the event loop: at most `sliceMs` at a time. */
import { setImmediate as nextTurn } from "node:timers/promises";

export async function runInSlices<Result>(steps: Generator<void, Result>, sliceMs: number): Promise<Result> {
  let startMs = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - startMs < sliceMs) continue;
    await nextTurn();
    startMs = performance.now();
  }
}

/**
 * Starts a thread of the proxy, for work that would hold up the calls (files, databases, counting tokens).
 *
 * A proxy's flags give its young objects 64 MB (`cli/proxy-node-flags.ts`), which is right for the calls, but each
 * thread would grow as large over some hours. V8 reads the flag when an isolate begins, and the main one has begun
 * already.
 */
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";

/** For objects that live no longer than one message. */
const youngMegabytes = 2;

/**
 * @param name of the thread's file without its ending, relative to the caller's
 * @param caller its `import.meta.url`
 * @returns a thread that keeps no process alive
 */
export function startThread(name: string, caller: string, workerData?: unknown): Worker {
  setFlagsFromString(`--max-semi-space-size=${youngMegabytes}`);
  // The file has the ending that the caller has: .ts as written, .js in the image.
  const ending = caller.endsWith(".ts") ? "ts" : "js";
  const worker = new Worker(new URL(`${name}.${ending}`, caller), { workerData });
  worker.unref();
  return worker;
}

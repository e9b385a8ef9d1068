/** The store's thread: takes batches from the ledger one after the other and writes them. */
import { parentPort, workerData } from "node:worker_threads";
import { AmnesiaError, EmbeddedStore } from "./embedded-store.ts";
import type { StoreReply, StoreRequest, StoreStart } from "./store-messages.ts";

const start: StoreStart = workerData;
const progress = new Int32Array(start.progress);
let store: EmbeddedStore | undefined;
/** A batch failed: what follows builds on it, so only a whole one will do. */
let needsWhole = false;
let isFolding = false;

function reply(message: StoreReply): void {
  parentPort?.postMessage(message);
}

function open(acceptEmpty: boolean): void {
  try {
    store = new EmbeddedStore(start.folder, acceptEmpty);
    reply({ type: "opened", ...store.load() });
  } catch (error) {
    const message = messageOf(error);
    reply(error instanceof AmnesiaError ? { type: "amnesia", message } : { type: "refused", message });
  }
}

function handle(request: StoreRequest): void {
  switch (request.type) {
    case "accept-empty":
      if (store === undefined) open(true);
      return;
    case "close":
      store?.close();
      store = undefined;
      reply({ type: "closed" });
      parentPort?.close();
      return;
    case "batch":
      if (store === undefined || (needsWhole && !request.isWhole)) return;
      try {
        store.write(request);
        Atomics.store(progress, 0, request.sequence);
        if (request.isWhole) {
          needsWhole = false;
          reply({ type: "recovered" });
        }
        if (!isFolding) fold();
      } catch (error) {
        needsWhole = true;
        reply({ type: "failed", message: messageOf(error) });
      }
      return;
  }
}

function fold(): void {
  try {
    isFolding = store?.fold() ?? false;
  } catch (error) {
    isFolding = false;
    needsWhole = true;
    reply({ type: "failed", message: messageOf(error) });
  }
  // Batches that arrived meanwhile go first.
  if (isFolding) setImmediate(fold);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

open(start.acceptEmpty);
parentPort?.on("message", handle);

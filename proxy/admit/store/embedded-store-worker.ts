/**
 * Runs the store's thread: receives what the ledger sends, one after the other, and writes it. It sleeps on the lane's
 * bell and never returns to the event loop before it is closed, so it polls for the ledger's messages.
 */
import { existsSync } from "node:fs";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { BatchLane } from "./batch-lane.ts";
import { AmnesiaError, databasePath, EmbeddedStore } from "./embedded-store.ts";
import type { LedgerStoreStart, StoreBatch, StoreReply, StoreRequest } from "./store-messages.ts";

/** Looks for work at least so often; the bell is what wakes it. */
const waitMs = 1_000;
/** Between two looks at the file's place: two microseconds each. */
const checkEveryMs = 1_000;

const start: LedgerStoreStart = workerData;
const path = databasePath(start.folder);
const replaced = `${path} was replaced by another file while in use; restart the proxy to use that file, or remove it to keep the current counts`;
const remade =
  "the proxy creates it again with the current counts; delete a data folder only while its proxy is stopped";
const lane = new BatchLane(start.lane);
let store: EmbeddedStore | undefined;
/** A batch failed: what follows builds on it, so only a whole one will do. */
let needsWhole = false;
let isCompacting = false;
let isClosed = false;
/** The file was deleted or replaced, and none has been made in its place yet. */
let isDisplaced = false;
let checkedAtMs = performance.now();

function reply(message: StoreReply): void {
  parentPort?.postMessage(message);
}

function open(acceptEmpty: boolean): void {
  try {
    store = EmbeddedStore.open(start.folder, acceptEmpty);
    reply({ type: "opened", ...store.load() });
  } catch (error) {
    const message = messageOf(error);
    reply(error instanceof AmnesiaError ? { type: "amnesia", message } : { type: "refused", message });
  }
}

/** Does one piece of work, the oldest first. @returns whether there was any */
function work(): boolean {
  const batch = lane.receiveBatch();
  if (batch !== undefined) write(batch);
  else if (lane.receiveMessage()) receive();
  // Batches that arrived meanwhile went first.
  else if (isCompacting) compact();
  else return false;
  return true;
}

function receive(): void {
  const received: { message: StoreRequest } | undefined = parentPort ? receiveMessageOnPort(parentPort) : undefined;
  if (received !== undefined) handle(received.message);
}

function handle(request: StoreRequest): void {
  switch (request.type) {
    case "accept-empty":
      isDisplaced = false;
      if (store === undefined) open(true);
      return;
    case "close":
      store?.close();
      store = undefined;
      isClosed = true;
      reply({ type: "closed" });
      return;
    case "batch":
      write(request);
      return;
  }
}

function write(batch: StoreBatch): void {
  if (store === undefined || (needsWhole && !batch.isWhole)) return;
  try {
    store.write(batch);
    lane.setWritten(batch.sequence);
    if (batch.isWhole) {
      needsWhole = false;
      reply({ type: "recovered" });
    }
    if (!isCompacting) compact();
  } catch (error) {
    needsWhole = true;
    reply({ type: "failed", message: messageOf(error) });
  }
}

function compact(): void {
  try {
    isCompacting = store?.compact() ?? false;
  } catch (error) {
    isCompacting = false;
    needsWhole = true;
    reply({ type: "failed", message: messageOf(error) });
  }
}

/** Notices a file that is no longer in its place, and creates it again where nothing else is there. */
function checkFile(): void {
  const nowMs = performance.now();
  if (nowMs - checkedAtMs < checkEveryMs || (store === undefined && !isDisplaced)) return;
  checkedAtMs = nowMs;
  try {
    if (store?.place() === "Same") return;
    if (store?.place() === "Other") reply({ type: "amnesia", message: replaced });
    // What it holds is nowhere: the next file gets all of it from the ledger's memory.
    store?.close();
    store = undefined;
    isDisplaced = true;
    if (existsSync(path)) return;
    reply({ type: "failed", message: `${path} was deleted while in use; ${remade}` });
    store = EmbeddedStore.recreate(start.folder);
    isDisplaced = false;
    needsWhole = true;
    isCompacting = false;
    reply({ type: "opened", counters: [], openReservations: 0 });
  } catch (error) {
    reply({ type: "failed", message: messageOf(error) });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

open(start.acceptEmpty);
while (!isClosed) {
  checkFile();
  const { rings } = lane;
  if (!work()) lane.wait(rings, waitMs);
}

/**
 * Stores responses on disk (`response-database.ts`), in a thread of its own: neither writing nor reading a long
 * conversation holds up other requests.
 *
 * The thread handles requests in order, so that a response which was stored is found by the next call. The queue for
 * the disk is bounded: beyond it, and when a write fails, a response is not stored. Its client learns that on the call
 * that continues it; no call fails for it. A thread that ends is started again, and its waiting callers get an error.
 */
import { setImmediate } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { GatewayError } from "#proxy/errors";
import {
  defaultStoreLimits,
  type ReferenceKind,
  type ResponseStore,
  type StoreLimits,
} from "#proxy/responses-state/response-store";
import { itemIdsOf, type StoredResponse } from "#proxy/responses-state/stored-response";
import { startThread } from "#proxy/runtime/start-thread";
import type { NumberedQuestion, ResponseStoreReply, ResponseStoreStart, StoreQuestion } from "./store-messages.ts";

export interface EmbeddedResponsesOptions {
  readonly folder: string;
  /** Wall clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** A response could not be kept, or the thread ended: for the log. */
  readonly onProblem: (message: string) => void;
  readonly limits?: StoreLimits;
}

/** Bytes of responses on their way to the disk. */
const waitingBytesMax = 64 * 1024 * 1024;

/** A thread that ended is started again after so long. */
const retryMs = 1_000;

interface Waiting {
  readonly resolve: (reply: ResponseStoreReply) => void;
  readonly reject: (error: unknown) => void;
}

export class EmbeddedResponses implements ResponseStore {
  readonly #options: EmbeddedResponsesOptions;
  #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #number = 0;
  #waitingBytes = 0;
  #isLost = false;
  #isClosing = false;
  /** Said once, not with every try to start again. */
  #hasReplied = false;

  private constructor(options: EmbeddedResponsesOptions) {
    this.#options = options;
    this.#worker = this.#startWorker();
  }

  /** @throws Error when the folder cannot be used */
  static async open(options: EmbeddedResponsesOptions): Promise<EmbeddedResponses> {
    const store = new EmbeddedResponses(options);
    // Only a thread whose database is open replies.
    await store.#ask({ type: "get", owner: "", id: "" }).catch((error: unknown) => {
      store.#isClosing = true;
      throw error instanceof Error && error.cause !== undefined ? error.cause : error;
    });
    return store;
  }

  keep(owner: string, response: StoredResponse): void {
    const body = JSON.stringify(response);
    if (this.#waitingBytes + body.length > waitingBytesMax) {
      this.#options.onProblem("too many responses wait for the disk");
      return;
    }
    const { id, previousId, createdMs } = response;
    const row = { owner, id, previousId, createdMs, body, itemIds: itemIdsOf(response) };
    this.#waitingBytes += body.length;
    this.#ask({ type: "keep", row })
      .catch((error: unknown) => this.#options.onProblem(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        this.#waitingBytes -= body.length;
      });
  }

  async get(owner: string, id: string): Promise<StoredResponse | undefined> {
    return (await this.#read({ type: "get", owner, id }))?.[0];
  }

  chain(owner: string, id: string): Promise<readonly StoredResponse[] | undefined> {
    return this.#read({ type: "chain", owner, id });
  }

  async findItem(owner: string, itemId: string): Promise<StoredResponse | undefined> {
    return (await this.#read({ type: "find-item", owner, id: itemId }))?.[0];
  }

  async sizeOf(asked: ReferenceKind, owner: string, id: string): Promise<number> {
    return (await this.#ask({ type: "size", asked, owner, id })).bytes ?? 0;
  }

  async remove(owner: string, id: string): Promise<boolean> {
    return (await this.#ask({ type: "remove", owner, id })).isDone === true;
  }

  /** What was kept is on disk afterwards. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#ask({ type: "close" }).catch(() => undefined);
    await this.#worker.terminate();
  }

  #startWorker(): Worker {
    const { folder, limits = defaultStoreLimits } = this.#options;
    const workerData: ResponseStoreStart = { folder, limits };
    const worker = startThread("./response-store-worker", import.meta.url, workerData);
    worker.on("message", (reply: ResponseStoreReply) => this.#onReply(reply));
    worker.on("error", (error) => this.#lost(worker, error));
    worker.on("exit", () => this.#lost(worker, new Error("the thread of the store ended")));
    return worker;
  }

  async #read(question: StoreQuestion): Promise<readonly StoredResponse[] | undefined> {
    const { bodies } = await this.#ask(question);
    if (bodies === undefined) return undefined;
    const responses: StoredResponse[] = [];
    for (const body of bodies) {
      // Parsing megabytes at a stretch would hold up the other calls.
      if (responses.length > 0) await setImmediate();
      responses.push(parsedResponse(body));
    }
    return responses;
  }

  #ask(question: StoreQuestion): Promise<ResponseStoreReply> {
    if (this.#isLost) return Promise.reject(unreachable(new Error("the thread of the store ended")));
    this.#number += 1;
    const asked: NumberedQuestion = { number: this.#number, nowMs: this.#options.now(), question };
    return new Promise((resolve, reject) => {
      this.#waiting.set(asked.number, { resolve, reject });
      // While somebody waits the process must not end for want of work.
      this.#worker.ref();
      this.#worker.postMessage(asked);
    });
  }

  #onReply(reply: ResponseStoreReply): void {
    this.#hasReplied = true;
    if (reply.number === 0) this.#options.onProblem(reply.problem ?? "");
    const waiting = this.#waiting.get(reply.number);
    this.#waiting.delete(reply.number);
    if (this.#waiting.size === 0) this.#worker.unref();
    if (reply.problem === undefined) waiting?.resolve(reply);
    else waiting?.reject(unreachable(new Error(reply.problem)));
  }

  #lost(worker: Worker, cause: Error): void {
    if (this.#isLost || worker !== this.#worker) return;
    this.#isLost = true;
    if (!this.#isClosing) this.#startAgain(cause);
    for (const { reject } of this.#waiting.values()) reject(unreachable(cause));
    this.#waiting.clear();
  }

  #startAgain({ message }: Error): void {
    if (this.#hasReplied) this.#options.onProblem(message);
    this.#hasReplied = false;
    const timer = setTimeout(() => {
      if (this.#isClosing) return;
      this.#worker = this.#startWorker();
      this.#isLost = false;
    }, retryMs);
    timer.unref();
  }
}

function unreachable(cause: Error): GatewayError {
  return new GatewayError("overloaded", "The store of earlier responses cannot be read. Try again.", { cause });
}

/** Our own text, read back. */
function parsedResponse(body: string): StoredResponse {
  return JSON.parse(body);
}

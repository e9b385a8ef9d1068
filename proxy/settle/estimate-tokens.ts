/**
 * Counts tokens of text whose usage the upstream did not tell: cut and aborted replies, providers without usage
 * (docs/design/reliability.md H2: within 5 % for OpenAI text).
 *
 * The tokenizer runs in a thread of its own: tokenizing a long reply takes longer than the event loop may be held. Where the thread fails, is behind or takes too long, four bytes count as one token: a
 * settlement never waits for ever and never fails for an estimate.
 */
import type { Worker } from "node:worker_threads";
import { startThread } from "#proxy/runtime/start-thread";

export interface TokenEstimator {
  /**
   * Starts the thread, which takes a third of a second to read its tables: called with the first request, so that no
   * answer waits for it, and a proxy that nobody calls does without their 80 MB.
   */
  warm(): void;
  /** Tokens of `text`; 0 for the empty text. Never rejects. */
  estimate(text: string): Promise<number>;
  /** Ends the thread; what still waits gets the rough count. */
  close(): Promise<void>;
}

export interface TokenEstimatorOptions {
  /** Texts that wait, in characters of all together; more are counted roughly at once. */
  readonly queuedCharactersMax?: number;
  /** Longest wait for one count. A thread that takes longer is replaced. */
  readonly timeoutMs?: number;
}

export interface CountRequest {
  readonly id: number;
  readonly text: string;
}

export interface CountReply {
  readonly id: number;
  readonly tokens: number;
}

interface Waiting {
  readonly text: string;
  readonly resolve: (tokens: number) => void;
  readonly timer: NodeJS.Timeout;
}

/** Rule of thumb for text of any kind, by its length in UTF-8. */
export function roughTokensOf(bytes: number): number {
  return Math.ceil(bytes / 4);
}

export function roughTokens(text: string): number {
  return roughTokensOf(Buffer.byteLength(text));
}

export function createTokenEstimator(options: TokenEstimatorOptions = {}): TokenEstimator {
  return new WorkerTokenEstimator(options);
}

class WorkerTokenEstimator implements TokenEstimator {
  readonly #queuedCharactersMax: number;
  readonly #timeoutMs: number;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #nextId = 1;
  #queuedCharacters = 0;
  #isClosed = false;

  constructor(options: TokenEstimatorOptions) {
    this.#queuedCharactersMax = options.queuedCharactersMax ?? 16 * 1024 * 1024;
    this.#timeoutMs = options.timeoutMs ?? 5_000;
  }

  warm(): void {
    if (!this.#isClosed) this.#worker ??= this.#start();
  }

  estimate(text: string): Promise<number> {
    if (text === "") return Promise.resolve(0);
    if (this.#isClosed || this.#queuedCharacters + text.length > this.#queuedCharactersMax) {
      return Promise.resolve(roughTokens(text));
    }
    return new Promise((resolve) => {
      const id = this.#nextId++;
      const timer = setTimeout(() => this.#giveUp(), this.#timeoutMs);
      this.#waiting.set(id, { text, resolve, timer });
      this.#queuedCharacters += text.length;
      this.#worker ??= this.#start();
      this.#worker.postMessage({ id, text } satisfies CountRequest);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    this.#giveUp();
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = startThread("./estimate-tokens-worker", import.meta.url);
    worker.on("message", ({ id, tokens }: CountReply) => this.#answer(id, tokens));
    worker.on("error", () => this.#giveUp());
    worker.on("exit", () => {
      if (worker === this.#worker) this.#giveUp();
    });
    return worker;
  }

  #answer(id: number, tokens: number): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    this.#queuedCharacters -= waiting.text.length;
    clearTimeout(waiting.timer);
    waiting.resolve(tokens);
  }

  /** The thread failed or hangs: everybody gets the rough count, and the next text a new thread. */
  #giveUp(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    for (const [id, { text }] of this.#waiting) this.#answer(id, roughTokens(text));
    void worker?.terminate();
  }
}

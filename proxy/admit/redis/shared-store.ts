/**
 * Keeps track of whether the shared store can be counted in, and sends commands only while it can.
 *
 * It is a breaker: after a few batches without an answer, or without a connection, commands fail at once and the store
 * is asked a few times a second whether it takes writes again. Each run of the script carries the epoch, so that a
 * store that came back empty decides nothing.
 */
import { createHash } from "node:crypto";
import { checkStore, type KeptEpoch, type StoreCheck } from "./check-store.ts";
import { type BatchAnswer, type CommandAnswer, CommandBatch } from "./command-batch.ts";
import { ledgerScript } from "./ledger-script.ts";
import { StoreError } from "./script-answers.ts";
import { type Command, probeCommand } from "./script-arguments.ts";
import { type ConnectionEvents, problemOf, type StoreConnection, type StoreScript } from "./store-connection.ts";

export interface SharedStoreOptions {
  readonly connect: (events: ConnectionEvents) => StoreConnection;
  /** Of all keys; holds the hash tag: `{tollgate}`. */
  readonly prefix: string;
  readonly reservationTtlMs: number;
  /** An answer that takes longer is none. */
  readonly answerMs: number;
  readonly epoch: KeptEpoch;
  /** Begins to count from zero where the history is gone when the process starts, never later. */
  readonly acceptEmpty: boolean;
  /** The Lua text; the ledger's own unless given. */
  readonly script?: string;
  /** Reservations of anybody that a run of ours gave back. */
  readonly onExpired: (count: number) => void;
  /** Told each time the state changes. */
  readonly onState: (state: SharedStoreState) => void;
}

export interface SharedStoreState {
  readonly kind: "opening" | StoreCheck["kind"];
  /** What happened, for the log; empty when usable. */
  readonly message: string;
}

/** Batches in a row without an answer, after which the store counts as gone. */
const failuresMax = 3;
const checkEveryMs = 200;
/** A store that a person has to see to. */
const checkLostEveryMs = 1_000;
/** A check that takes longer ends the connection: what hangs is not piled up on. */
const checkMs = 1_000;

export class SharedStore {
  readonly #options: SharedStoreOptions;
  readonly #connection: StoreConnection;
  readonly #batch: CommandBatch;
  readonly #script: StoreScript;
  #state: SharedStoreState = { kind: "opening", message: "" };
  #epoch = "";
  #acceptsEmpty: boolean;
  #failures = 0;
  #isChecking = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  /** The store's clock less the monotonic one, when it last answered. */
  #aheadMs = Date.now() - performance.now();

  constructor(options: SharedStoreOptions) {
    this.#options = options;
    this.#acceptsEmpty = options.acceptEmpty;
    const text = options.script ?? ledgerScript;
    this.#script = { text, digest: createHash("sha1").update(text).digest("hex") };
    this.#batch = new CommandBatch({
      send: (commands) => this.#send(commands),
      answerMs: options.answerMs,
      onAnswered: (answer) => this.#hear(answer),
      onFailed: (error) => this.#countFailure(error),
    });
    this.#connection = options.connect({
      onReady: () => void this.#check(),
      onLost: (message) => this.#setState({ kind: "failing", message }),
    });
  }

  get state(): SharedStoreState {
    return this.#state;
  }

  get isUsable(): boolean {
    return this.#state.kind === "usable";
  }

  /** The store's clock as far as it is known, milliseconds since the epoch. */
  get nowMs(): number {
    return Math.floor(performance.now() + this.#aheadMs);
  }

  /** @returns the script's answer. Rejects with what failed; a command that was sent may have been run nevertheless */
  submit(command: Command): Promise<CommandAnswer> {
    return this.#batch.submit(command);
  }

  /** Waits for the answers that are under way, and ends the connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#batch.idle();
    this.#connection.close();
  }

  async #send(commands: readonly Command[]): Promise<BatchAnswer> {
    const { prefix, reservationTtlMs } = this.#options;
    const values = [this.#epoch, String(reservationTtlMs), ...commands.flat()];
    const answer = await this.#connection.runScript(this.#script, prefix, values);
    if (!Array.isArray(answer)) throw new StoreError("the store answered in a form that is not the ledger's");
    const [kind, nowText, expired, ...answers]: unknown[] = answer;
    if (kind === "epoch") throw this.#epochGone();
    const storeMs = Number(nowText);
    if (kind !== "done" || !Number.isSafeInteger(storeMs) || typeof expired !== "number")
      throw new StoreError("the store answered in a form that is not the ledger's");
    if (answers.length !== commands.length) throw new StoreError("the store answered a part of what it was asked");
    return { storeMs, expired, answers };
  }

  #hear({ storeMs, expired }: BatchAnswer): void {
    this.#failures = 0;
    this.#aheadMs = storeMs - performance.now();
    if (expired > 0) this.#options.onExpired(expired);
  }

  #epochGone(): StoreError {
    const message = "the store has lost its history";
    this.#setState({ kind: "lost", message });
    this.#checkIn(0);
    return new StoreError(message);
  }

  #countFailure(error: unknown): void {
    this.#failures += 1;
    if (this.#failures < failuresMax || !this.isUsable) return;
    this.#setState({ kind: "failing", message: problemOf(error) });
    // At once: a moment in which this process was busy is no outage.
    this.#checkIn(0);
  }

  /** Asks whether the store can be used, and again until it can. */
  async #check(): Promise<void> {
    if (this.#isChecking || this.#isClosed || this.isUsable) return;
    this.#isChecking = true;
    clearTimeout(this.#timer);
    const hung = setTimeout(() => this.#connection.reconnect(), checkMs);
    const check = await this.#askStore();
    clearTimeout(hung);
    this.#isChecking = false;
    if (this.#isClosed) return;
    if (check.kind === "usable") {
      this.#failures = 0;
      this.#acceptsEmpty = false;
      this.#setState({ kind: "usable", message: "" });
      return;
    }
    this.#setState(check);
    this.#checkIn(check.kind === "failing" ? checkEveryMs : checkLostEveryMs);
  }

  async #askStore(): Promise<StoreCheck> {
    const { answerMs, prefix, epoch } = this.#options;
    const check = await checkStore(this.#connection, prefix, epoch, this.#acceptsEmpty);
    if (check.kind !== "usable") return check;
    this.#epoch = check.epoch;
    try {
      const startedMs = performance.now();
      const answer = await this.#send([probeCommand]);
      this.#hear(answer);
      if (answer.answers[0] !== "writes") return { kind: "failing", message: describeProbe(answer.answers[0]) };
      const tookMs = performance.now() - startedMs;
      if (tookMs <= answerMs) return check;
      return { kind: "failing", message: `the store is slow: it took ${Math.round(tookMs)} ms for one question` };
    } catch (error) {
      return { kind: "failing", message: problemOf(error) };
    }
  }

  #checkIn(delayMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#check(), delayMs);
    this.#timer.unref();
  }

  #setState(state: SharedStoreState): void {
    if (this.#isClosed || (state.kind === this.#state.kind && state.message === this.#state.message)) return;
    this.#state = state;
    this.#options.onState(state);
  }
}

function describeProbe(answer: unknown): string {
  return Array.isArray(answer) && answer[0] === "error"
    ? `the store takes no writes: ${String(answer[1]).slice(0, 200)}`
    : "the store answered in a form that is not the ledger's";
}

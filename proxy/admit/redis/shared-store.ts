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
import { StoreError, saysReplica, storeWideError } from "./script-answers.ts";
import { type Command, probeCommand } from "./script-arguments.ts";
import { type ConnectionEvents, problemOf, type StoreConnection, type StoreScript } from "./store-connection.ts";
import { StoreWatch } from "./store-watch.ts";

export interface SharedStoreOptions {
  readonly connect: (events: ConnectionEvents) => StoreConnection;
  /** Of all keys; holds the hash tag: `{tollgate}`. */
  readonly prefix: string;
  readonly reservationTtlMs: number;
  /** An answer that takes longer is none. */
  readonly answerMs: number;
  readonly epoch: KeptEpoch;
  /** The Lua text; the ledger's own unless given. */
  readonly script?: string;
  /** What a run of ours did beside its commands. */
  readonly onSideEffects: (counts: Pick<BatchAnswer, "expired" | "resumed" | "broken">) => void;
  /** Told once what people should know of a store that is usable. */
  readonly onWarning: (message: string) => void;
  /** Told each time the state changes. */
  readonly onState: (state: SharedStoreState) => void;
  /** How often a store in use is looked at, in ms; 10,000 unless given. */
  readonly watchEveryMs?: number | undefined;
}

export interface SharedStoreState {
  readonly kind: "opening" | StoreCheck["kind"];
  /** What happened, for the log; empty when usable. */
  readonly message: string;
}

/** Keys looked at in one page: the store does nothing else meanwhile. */
const scanCount = 200;
/** Batches in a row without an answer, after which the store counts as gone. */
const failuresMax = 3;
const checkEveryMs = 200;
/** A store that a person has to see to. */
const checkLostEveryMs = 1_000;
/** A check that takes longer ends the connection: what hangs is not piled up on. */
const checkMs = 1_000;
/** Times of a store that windows can be made of: far from the end of `Date`, and no clock that was never set. */
const earliestMs = Date.UTC(2020);
const latestMs = Date.UTC(2200);

export class SharedStore {
  readonly #options: SharedStoreOptions;
  readonly #connection: StoreConnection;
  readonly #batch: CommandBatch;
  readonly #script: StoreScript;
  readonly #watch: StoreWatch;
  #state: SharedStoreState = { kind: "opening", message: "" };
  #epoch = "";
  #failures = 0;
  #isChecking = false;
  /** The address is resolved anew before the next check: behind a name or a Service is another store by now. */
  #isReplica = false;
  #isClosed = false;
  #isWarned = false;
  #timer: NodeJS.Timeout | undefined;
  /** The store's clock less the monotonic one, when it last answered. */
  #aheadMs = Date.now() - performance.now();

  constructor(options: SharedStoreOptions) {
    this.#options = options;
    const text = options.script ?? ledgerScript;
    this.#script = { text, digest: createHash("sha1").update(text).digest("hex") };
    this.#batch = new CommandBatch({
      send: (commands) => this.#send(commands),
      answerMs: options.answerMs,
      onAnswered: (answer) => this.#hear(answer),
      onFailed: (error) => this.#countFailure(error),
    });
    this.#watch = new StoreWatch(() => (this.isUsable ? this.#connection : undefined), {
      onUnfit: (check) => this.#leave(check),
      everyMs: options.watchEveryMs,
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

  /**
   * @param withinMs at most as long as any answer may take
   * @returns the script's answer. Rejects with what failed; a command that was sent may have been run nevertheless
   */
  submit(command: Command, withinMs?: number): Promise<CommandAnswer> {
    return this.#batch.submit(command, withinMs);
  }

  /** A page of the counters in the store. @param cursor `0` to begin with, and the answer's at the end */
  async scanCounters(cursor: string): Promise<{ readonly cursor: string; readonly counters: readonly string[] }> {
    const start = `${this.#options.prefix}:c:`;
    const [next, names] = await this.#connection.scan(cursor, `${start}*`, scanCount);
    return { cursor: next, counters: names.map((name) => name.slice(start.length)) };
  }

  /** Waits for the answers that are under way, and ends the connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#watch.close();
    await this.#batch.idle();
    this.#connection.close();
  }

  async #send(commands: readonly Command[]): Promise<BatchAnswer> {
    const { prefix, reservationTtlMs } = this.#options;
    const values = [this.#epoch, String(reservationTtlMs), ...commands.flat()];
    const answer = await this.#connection.runScript(this.#script, prefix, values);
    if (!Array.isArray(answer)) throw new StoreError("the store answered in a form that is not the ledger's");
    const [kind, nowText, expired, resumed, broken, ...answers]: unknown[] = answer;
    if (kind === "epoch") throw this.#epochGone();
    const storeMs = Number(nowText);
    const areCounts = typeof expired === "number" && typeof resumed === "number" && typeof broken === "number";
    if (kind !== "done" || !Number.isSafeInteger(storeMs) || !areCounts)
      throw new StoreError("the store answered in a form that is not the ledger's");
    if (storeMs < earliestMs || storeMs >= latestMs)
      throw new StoreError("the store's clock is wrong: it is outside the years 2020 to 2199");
    if (answers.length !== commands.length) throw new StoreError("the store answered a part of what it was asked");
    return { storeMs, expired, resumed, broken, answers };
  }

  #hear(answer: BatchAnswer): void {
    const { storeMs, expired, resumed, broken, answers } = answer;
    this.#failures = 0;
    for (const given of answers) {
      const error = storeWideError(given);
      // Not worth another try: what it refuses to one it refuses to all, until a check says otherwise.
      if (error !== undefined) this.#leave({ kind: "failing", message: error.message });
    }
    this.#aheadMs = storeMs - performance.now();
    if (expired + resumed + broken > 0) this.#options.onSideEffects(answer);
  }

  #epochGone(): StoreError {
    const message = "the store has lost its history";
    this.#setState({ kind: "lost", message });
    this.#checkIn(0);
    return new StoreError(message);
  }

  #countFailure(error: unknown): void {
    this.#failures += 1;
    if (this.#failures < failuresMax) return;
    this.#leave({ kind: "failing", message: problemOf(error) });
  }

  #leave(check: StoreCheck): void {
    if (!this.isUsable || check.kind === "usable") return;
    this.#setState(check);
    // At once: a moment in which this process was busy is no outage.
    this.#checkIn(0);
  }

  /** Asks whether the store can be used, and again until it can. */
  async #check(): Promise<void> {
    if (this.#isChecking || this.#isClosed || this.isUsable) return;
    this.#isChecking = true;
    clearTimeout(this.#timer);
    const hung = setTimeout(() => this.#connection.reconnect("the store does not answer"), checkMs);
    const check = await this.#askStore();
    clearTimeout(hung);
    this.#isChecking = false;
    if (this.#isClosed) return;
    if (check.kind === "usable") {
      this.#failures = 0;
      this.#setState({ kind: "usable", message: "" });
      return;
    }
    this.#setState(check);
    this.#isReplica = check.kind === "failing" && check.isReplica === true;
    this.#checkIn(check.kind === "failing" ? checkEveryMs : checkLostEveryMs);
  }

  async #askStore(): Promise<StoreCheck> {
    const { answerMs, prefix, epoch } = this.#options;
    const check = await checkStore(this.#connection, prefix, epoch);
    if (check.kind !== "usable") return check;
    this.#epoch = check.epoch;
    if (check.warning !== undefined) this.#warnOnce(check.warning);
    try {
      const problem = await this.#watch.problemOf(this.#connection);
      if (problem !== undefined) return problem;
      const startedMs = performance.now();
      const answer = await this.#send([probeCommand]);
      this.#hear(answer);
      if (answer.answers[0] !== "writes") return failing(describeProbe(answer.answers[0]));
      if (performance.now() - startedMs <= answerMs) return check;
      // No figure: each state that differs is a line of the log, and a slow store would write five a second.
      return failing(`the store is slow: it takes longer than ${answerMs} ms for one question`);
    } catch (error) {
      return failing(problemOf(error));
    }
  }

  #warnOnce(message: string): void {
    if (this.#isWarned) return;
    this.#isWarned = true;
    this.#options.onWarning(message);
  }

  #checkIn(delayMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      if (this.#isReplica) this.#connectAnew();
      else void this.#check();
    }, delayMs);
    this.#timer.unref();
  }

  /** A check follows when the connection is there. */
  #connectAnew(): void {
    this.#isReplica = false;
    this.#connection.reconnect(this.#state.message);
  }

  #setState(state: SharedStoreState): void {
    if (this.#isClosed || (state.kind === this.#state.kind && state.message === this.#state.message)) return;
    this.#state = state;
    this.#options.onState(state);
  }
}

function failing(message: string): StoreCheck {
  return { kind: "failing", message, isReplica: saysReplica(message) };
}

function describeProbe(answer: unknown): string {
  return Array.isArray(answer) && answer[0] === "error"
    ? `the store takes no writes: ${String(answer[1]).slice(0, 200)}`
    : "the store answered in a form that is not the ledger's";
}

/**
 * Sends commands that arrive together to the store in one round trip, and gives each its answer, or a failure in time.
 *
 * A batch is closed when the calls that were ready in this turn of the event loop have said what they want: a lone call
 * waits for nobody. Batches do not wait for each other either. No answer is waited for longer than `answerMs`.
 */
import { armDeadline } from "#proxy/runtime/deadlines";
import { StoreError } from "./script-answers.ts";
import type { Command } from "./script-arguments.ts";

export interface BatchAnswer {
  /** The store's clock, milliseconds since the epoch. */
  readonly storeMs: number;
  /** Reservations of anybody that expired before the first command. */
  readonly expired: number;
  /** Expired ones that are held again, since their calls go on. */
  readonly resumed: number;
  /** Counters that something else than the ledger has made unreadable, and that were passed over. */
  readonly broken: number;
  readonly answers: readonly unknown[];
}

export interface CommandBatchOptions {
  /** @throws StoreError or whatever the connection says */
  readonly send: (commands: readonly Command[]) => Promise<BatchAnswer>;
  readonly answerMs: number;
  /** A batch was answered in time. */
  readonly onAnswered: (answer: BatchAnswer) => void;
  /** A whole batch failed or was not answered in time. */
  readonly onFailed: (error: unknown) => void;
}

export interface CommandAnswer {
  readonly answer: unknown;
  /** The store's clock, milliseconds since the epoch. */
  readonly storeMs: number;
}

interface Waiting {
  readonly command: Command;
  readonly resolve: (answer: CommandAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** A script holds up all others while it runs: so many decisions take about a millisecond. */
const batchMax = 64;

export class CommandBatch {
  readonly #options: CommandBatchOptions;
  #gathering: Waiting[] = [];
  /** Batches that wait for their answer. */
  #underWay = 0;
  #onIdle: (() => void) | undefined;

  constructor(options: CommandBatchOptions) {
    this.#options = options;
  }

  /**
   * @param withinMs where this command can wait for less than `answerMs`
   * @returns the script's answer to this command. Rejects where the store gave none; it may have run it nevertheless
   */
  submit(command: Command, withinMs: number = this.#options.answerMs): Promise<CommandAnswer> {
    return new Promise((resolve, reject) => {
      const { answerMs } = this.#options;
      // Where the batch is answered before, it rejects what is resolved already, which does nothing.
      if (withinMs < answerMs) armDeadline(answerMs, () => setImmediate(() => reject(notInTime())), withinMs);
      // After all microtasks of this turn: the calls of a batch come here in one of them each.
      if (this.#gathering.length === 0) process.nextTick(() => this.#flush());
      this.#gathering.push({ command, resolve, reject });
      if (this.#gathering.length === batchMax) this.#flush();
    });
  }

  /** Resolves when nothing that was sent waits for its answer. */
  async idle(): Promise<void> {
    this.#flush();
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  #flush(): void {
    const waiting = this.#gathering;
    if (waiting.length === 0) return;
    this.#gathering = [];
    this.#underWay += 1;
    let isOver = false;
    const end = (error: unknown, answer?: BatchAnswer): void => {
      if (isOver) return;
      isOver = true;
      deadline.cancel();
      if (answer === undefined) {
        this.#options.onFailed(error);
        for (const { reject } of waiting) reject(error);
      } else {
        const { answers, storeMs } = answer;
        this.#options.onAnswered(answer);
        for (const [index, { resolve }] of waiting.entries()) resolve({ answer: answers[index], storeMs });
      }
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#onIdle?.();
    };
    // An answer may lie in the socket already where this process itself was late: it is read first.
    const deadline = armDeadline(this.#options.answerMs, () => setImmediate(() => end(notInTime())));
    this.#options.send(waiting.map(({ command }) => command)).then((answer) => end(undefined, answer), end);
  }
}

function notInTime(): StoreError {
  return new StoreError("the store did not answer in time");
}

/**
 * Runs deadlines that are nearly always met: one timer for all of one length, and a list entry for each.
 *
 * A request arms four or five waits and cancels all of them; a timer of Node's for each costs more than all the checks
 * of the request together. Here arming and cancelling are a few pointers. Deadlines of one length end in the order in
 * which they were armed, so a list with the next one in front needs no search; the timer runs for the front and checks
 * the list again when it fires. Never early, late by a millisecond or two.
 */

/** Node fires a timer beyond 2^31 - 1 ms (24.8 days) at once; so long is as good as never. */
const timerMsMax = 2 ** 31 - 1;
/** Lengths come from settings and channels; beyond so many, lists that are empty are forgotten. */
const listsMax = 1_000;

export class Deadline {
  readonly #list: DeadlineList;
  readonly atMs: number;
  readonly onExpired: () => void;
  previous: Deadline | undefined;
  next: Deadline | undefined;
  isArmed = true;

  constructor(list: DeadlineList, atMs: number, onExpired: () => void) {
    this.#list = list;
    this.atMs = atMs;
    this.onExpired = onExpired;
  }

  /** Any number of times, also after it expired. */
  cancel(): void {
    if (this.isArmed) this.#list.remove(this);
  }
}

class DeadlineList {
  #first: Deadline | undefined;
  #last: Deadline | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** What the timer runs for: after a cancelled deadline it may be later than the front. */
  #timerAtMs = Number.POSITIVE_INFINITY;

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  /** @param inMs from now, at most the length of this list's deadlines */
  arm(inMs: number, onExpired: () => void): Deadline {
    const deadline = new Deadline(this, performance.now() + inMs, onExpired);
    // Nearly always the end; a wait that continues for the rest of it is further ahead.
    let before = this.#last;
    while (before !== undefined && before.atMs > deadline.atMs) before = before.previous;
    const after = before === undefined ? this.#first : before.next;
    deadline.previous = before;
    deadline.next = after;
    if (before === undefined) this.#first = deadline;
    else before.next = deadline;
    if (after === undefined) this.#last = deadline;
    else after.previous = deadline;
    if (deadline.atMs < this.#timerAtMs) this.#start(deadline.atMs);
    return deadline;
  }

  remove(deadline: Deadline): void {
    const { previous, next } = deadline;
    deadline.isArmed = false;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    deadline.previous = deadline.next = undefined;
  }

  /** Ends the timer. That of a list that is empty and forgotten would hold it for as long as it has to run. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
  }

  /** @param atMs when the front is over */
  #start(atMs: number): void {
    this.stop();
    this.#timer = setTimeout(() => this.#expireDue(), Math.max(0, Math.ceil(atMs - performance.now())));
    this.#timerAtMs = atMs;
    // A waiting request holds a connection; a list whose deadlines were all met must not keep a process alive.
    this.#timer.unref();
  }

  #expireDue(): void {
    this.stop();
    const nowMs = performance.now();
    while (this.#first !== undefined && this.#first.atMs <= nowMs) {
      const due = this.#first;
      this.remove(due);
      due.onExpired();
    }
    if (this.#first !== undefined && this.#first.atMs < this.#timerAtMs) this.#start(this.#first.atMs);
  }
}

const lists = new Map<number, DeadlineList>();
/** Number of lists at which the empty ones are looked for. */
let forgetAt = listsMax;

/** An empty list keeps its timer: its length comes again, and arming a timer for each wait is what lists are there to save. */
function forgetEmpty(): void {
  for (const [length, list] of lists) {
    if (!list.isEmpty) continue;
    list.stop();
    lists.delete(length);
  }
  // Looked for again when there are twice as many as are in use, so that a new length costs no walk over all of them.
  forgetAt = Math.max(listsMax, 2 * lists.size);
}

/**
 * @param lengthMs above 0; waits of one kind must use one length, since each has a list of its own
 * @param inMs where only a part of the length is left
 */
export function armDeadline(lengthMs: number, onExpired: () => void, inMs: number = lengthMs): Deadline {
  const length = Math.min(lengthMs, timerMsMax);
  let list = lists.get(length);
  if (list === undefined) {
    if (lists.size >= forgetAt) forgetEmpty();
    list = new DeadlineList();
    lists.set(length, list);
  }
  return list.arm(Math.min(inMs, length), onExpired);
}

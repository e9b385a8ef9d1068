/**
 * Holds the sessions that are open now, so that draining, revocation and time can end them.
 *
 * A session is open for an hour and makes many calls: it is no attempt (`revocation/open-attempts.ts`) but lets the call
 * that runs finish, where the fleet lets calls finish, and then ends. One timer looks after all of them.
 */
import type { Snapshot } from "#proxy/snapshot/snapshot";

export interface OpenSession {
  /** Whether its key may go on with it. @param nowMs milliseconds since the epoch */
  isAllowed(snapshot: Snapshot, nowMs: number): boolean;
  /** Its key may not go on: it ends at once, or when what runs has ended. */
  revoke(isImmediate: boolean): void;
  /** The gateway shuts down: it takes nothing new, and ends when what runs has ended. */
  drain(): void;
  /** The time for that is over. */
  cut(): void;
  /** Looks after what takes too long. @param nowMs of `performance.now()` */
  check(nowMs: number): void;
}

const checkMs = 500;

export class OpenSessions {
  readonly #open = new Set<OpenSession>();
  #timer: NodeJS.Timeout | undefined;
  #isDraining = false;

  /** Nothing new is to be opened. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  get size(): number {
    return this.#open.size;
  }

  add(session: OpenSession): void {
    this.#open.add(session);
    this.#timer ??= setInterval(() => this.#check(), checkMs).unref();
    if (this.#isDraining) session.drain();
  }

  delete(session: OpenSession): void {
    this.#open.delete(session);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** After a change of the configuration, and now and then: keys run out by the clock. @param nowMs since the epoch */
  revoke(snapshot: Snapshot, nowMs: number): void {
    const isImmediate = snapshot.fleet.revocation === "Immediate";
    for (const session of [...this.#open]) if (!session.isAllowed(snapshot, nowMs)) session.revoke(isImmediate);
  }

  drain(): void {
    this.#isDraining = true;
    for (const session of [...this.#open]) session.drain();
  }

  cut(): void {
    for (const session of [...this.#open]) session.cut();
  }

  #check(): void {
    const nowMs = performance.now();
    for (const session of [...this.#open]) session.check(nowMs);
  }
}

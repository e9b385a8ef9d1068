/**
 * Updates of a session that the client has sent and the upstream has not taken yet (PURE). What an update says holds when
 * `session.updated` comes, and never where the upstream refuses it: else a client could name a cheap model in an update that
 * is refused, and be charged by it. Updates are taken in the order in which they were sent; a refusal names its own.
 */
import { GatewayError } from "#proxy/errors";
import type { Transcriber } from "./session-models.ts";

export interface SessionUpdate {
  /** Of the client's message. */
  readonly eventId: string;
  /** null: it ends the transcription; undefined: it says nothing of it. */
  readonly transcriber: Transcriber | null | undefined;
  /** "none": nothing caps a response any more; undefined: it says nothing of it. */
  readonly outputCap: number | "none" | undefined;
  /** What the model will read of it, by the members of the session. */
  readonly memberBytes: ReadonlyMap<string, number>;
}

/** An upstream takes each within a second. */
const waitingMax = 256;

export class SessionUpdates {
  #waiting: SessionUpdate[] = [];

  /** @throws GatewayError `overloaded` */
  sent(update: SessionUpdate): void {
    if (this.#waiting.length >= waitingMax) {
      throw new GatewayError("overloaded", "Too many updates of this session wait for the upstream.");
    }
    this.#waiting.push(update);
  }

  /** What transcribes when all that waits has been taken. @param now what does so now */
  upcomingTranscriber<Now>(now: Now): Now | Transcriber | undefined {
    const last = this.#waiting.findLast(({ transcriber }) => transcriber !== undefined);
    return last === undefined ? now : (last.transcriber ?? undefined);
  }

  /** @param eventId of the client's message that the upstream refuses */
  refused(eventId: string): void {
    this.#waiting = this.#waiting.filter((update) => update.eventId !== eventId);
  }

  /** The upstream has taken one. @returns undefined for one that nobody sent */
  taken(): SessionUpdate | undefined {
    return this.#waiting.shift();
  }
}

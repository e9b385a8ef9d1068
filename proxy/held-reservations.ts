/**
 * What one request holds in the ledger: for its caller until it is settled, and for the channel of the attempt that runs.
 * Each is settled once, whatever happens, and kept alive meanwhile.
 */
import { channelClaims } from "./admit/claims.ts";
import { type Amounts, oneRequestAmounts, type Refusal, type Reservation, zeroAmounts } from "./admit/ledger.ts";
import type { Services } from "./services.ts";
import type { Channel, Route } from "./snapshot/types.gen.ts";

/** A promise where the ledger answers late; undefined when it is done. */
export type Pending = Promise<void> | undefined;

export type ChannelSlot = "reserved" | "full";

export class HeldReservations {
  readonly #services: Pick<Services, "ledger" | "reservations" | "metrics">;
  readonly #id: string;
  #isSettled = false;
  #channelId: string | undefined;
  #channelAttempts = 0;

  /** @param id of the reservation held for key, account and route */
  constructor(id: string, services: Pick<Services, "ledger" | "reservations" | "metrics">) {
    this.#id = id;
    this.#services = services;
    services.reservations.add(id);
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Reserves what the channel itself limits. `full`: nothing may be sent to it. @param model public name */
  reserveChannel(channel: Channel, route: Route, model: string, amounts: Amounts): ChannelSlot | Promise<ChannelSlot> {
    const claims = channelClaims(channel, route, model);
    if (claims === undefined) return "reserved";
    this.#channelAttempts += 1;
    const id = `${this.#id}/${this.#channelAttempts}`;
    const result = this.#services.ledger.reserve({ id, amounts, ...claims });
    return result instanceof Promise
      ? result.then((late) => this.#holdChannel(id, late))
      : this.#holdChannel(id, result);
  }

  #holdChannel(id: string, result: Reservation | Refusal): ChannelSlot {
    if (result.kind === "refused") return "full";
    this.#channelId = id;
    this.#services.reservations.add(id);
    return "reserved";
  }

  /** The attempt is over. Does nothing where its channel holds nothing. */
  settleChannel(amounts: Amounts): Pending {
    const id = this.#channelId;
    if (id === undefined) return undefined;
    this.#channelId = undefined;
    this.#services.reservations.delete(id);
    const outcome = this.#services.ledger.settle(id, amounts);
    return outcome instanceof Promise ? outcome.then(() => undefined) : undefined;
  }

  /** Settles for the caller, if that was not done, and for the channel. */
  settle(amounts: Amounts): Pending {
    const posted = this.#isSettled ? undefined : this.#post(amounts);
    const settled = this.settleChannel(amounts);
    return posted === undefined ? settled : posted.then(() => settled);
  }

  /**
   * Gives back whatever is still held. Nothing was consumed: a request that was tried, or for which files were fetched,
   * counts as one; a refusal of the gateway's own costs nothing. Does nothing when all was settled before.
   */
  release(isTried: boolean): Pending {
    return this.settle(isTried ? oneRequestAmounts : zeroAmounts);
  }

  #post(amounts: Amounts): Pending {
    this.#isSettled = true;
    this.#services.reservations.delete(this.#id);
    const startedMs = performance.now();
    const outcome = this.#services.ledger.settle(this.#id, amounts);
    if (outcome instanceof Promise) return outcome.then(() => this.#posted(startedMs));
    this.#posted(startedMs);
    return undefined;
  }

  #posted(startedMs: number): void {
    this.#services.metrics.ledgerTook("settle", performance.now() - startedMs);
  }
}

/**
 * Holds the reservations of one request: the caller's until it is settled, and the channel's of the running attempt.
 * Each is settled once, whatever happens, and kept alive until then.
 */
import { type Claims, channelClaims } from "#proxy/admit/claims";
import { type Amounts, oneRequestAmounts, type Refusal, type Reservation, zeroAmounts } from "#proxy/admit/ledger";
import type { Services } from "#proxy/dispatch/services";
import type { Channel, Route } from "#proxy/snapshot/types.gen";

/** A promise where the ledger is not done at once; undefined when it is. */
export type Pending = Promise<void> | undefined;

export type ChannelSlot = "reserved" | "full";

export class HeldReservations {
  readonly #services: Pick<Services, "ledger" | "reservations" | "metrics">;
  readonly #id: string;
  #isSettled = false;
  #channelId: string | undefined;
  #channelAttempts = 0;
  /** Sent to the channel in this attempt, where it takes several. */
  #channelRequests = 0;
  /** Held beside them, for a call that needs more than was reserved at first. */
  #callersMore: readonly string[] = [];
  #channelsMore: readonly string[] = [];
  #extensions = 0;

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
    this.#channelRequests = 0;
    this.#services.reservations.add(id);
    return "reserved";
  }

  /** A request of an attempt that takes several was sent. */
  countRequest(): void {
    this.#channelRequests += 1;
  }

  /** Reserves more for the caller, who holds a place among those in flight already. @returns whether there is room */
  async extendCaller({ limits, balances }: Claims, amounts: Amounts): Promise<boolean> {
    if (isNothing(amounts)) return true;
    const id = await this.#extend({ limits, balances }, amounts);
    if (id === undefined) return false;
    this.#callersMore = [...this.#callersMore, id];
    // Settled meanwhile: nobody else would give it back.
    if (this.#isSettled) await this.#giveBackMore();
    return !this.#isSettled;
  }

  /** And on the channel of the attempt. */
  async extendChannel(channel: Channel, route: Route, model: string, amounts: Amounts): Promise<boolean> {
    const claims = channelClaims(channel, route, model);
    if (claims === undefined || claims.limits.length === 0) return true;
    const attempt = this.#channelId;
    const id = await this.#extend({ limits: claims.limits, balances: [] }, amounts);
    if (id === undefined) return false;
    this.#channelsMore = [...this.#channelsMore, id];
    if (attempt === this.#channelId && attempt !== undefined) return true;
    await this.#giveBackChannelsMore(zeroAmounts);
    return false;
  }

  async #extend(claims: Pick<Claims, "limits" | "balances">, amounts: Amounts): Promise<string | undefined> {
    this.#extensions += 1;
    const id = `${this.#id}+${this.#extensions}`;
    const result = await this.#services.ledger.reserve({ id, amounts, ...claims, concurrency: [] });
    if (result.kind === "refused") return undefined;
    this.#services.reservations.add(id);
    return id;
  }

  /** The attempt is over. Does nothing where its channel holds nothing. */
  settleChannel(amounts: Amounts): Pending {
    const id = this.#channelId;
    if (id === undefined) return undefined;
    this.#channelId = undefined;
    this.#services.reservations.delete(id);
    const requests = this.#channelRequests;
    const used = requests > amounts.requests ? { ...amounts, requests: BigInt(requests) } : amounts;
    const outcome = this.#services.ledger.settle(id, used);
    const settled = outcome instanceof Promise ? outcome.then(() => undefined) : undefined;
    if (this.#channelsMore.length === 0) return settled;
    return (settled ?? Promise.resolve()).then(() => this.#giveBackChannelsMore(oneRequestAmounts));
  }

  /** Their usage is in the first reservation's numbers; on the channel each was a request. */
  #giveBackChannelsMore(amounts: Amounts): Promise<void> {
    const ids = this.#channelsMore;
    this.#channelsMore = [];
    return this.#settleAll(ids, amounts);
  }

  #giveBackMore(): Promise<void> {
    const ids = this.#callersMore;
    this.#callersMore = [];
    return this.#settleAll(ids, zeroAmounts);
  }

  async #settleAll(ids: readonly string[], amounts: Amounts): Promise<void> {
    for (const id of ids) this.#services.reservations.delete(id);
    await Promise.all(ids.map((id) => this.#services.ledger.settle(id, amounts)));
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
    if (outcome instanceof Promise || this.#callersMore.length > 0) return this.#postLate(outcome, startedMs);
    this.#posted(startedMs);
    return undefined;
  }

  /** First what was used, then what was held beside it: no room opens between the two. */
  async #postLate(outcome: unknown, startedMs: number): Promise<void> {
    try {
      await outcome;
      this.#posted(startedMs);
    } finally {
      await this.#giveBackMore();
    }
  }

  #posted(startedMs: number): void {
    this.#services.metrics.ledgerTook("settle", performance.now() - startedMs);
  }
}

function isNothing({ requests, inputTokens, outputTokens, costNanos }: Amounts): boolean {
  return requests + inputTokens + outputTokens + costNanos === 0n;
}

/**
 * What a session holds for as long as it is open: a place among the calls in flight of its key and of its channel, and the
 * one request that opening it costs. Its responses are calls of their own (`usage/response-reservation.ts`).
 */
import { claimsOf } from "#proxy/admit/claims";
import { oneRequestAmounts, zeroAmounts } from "#proxy/admit/ledger";
import type { Caller } from "#proxy/dispatch/admitted-call";
import type { DispatchedCall } from "#proxy/dispatch/dispatch-call";
import { HeldReservations } from "#proxy/dispatch/reservations/held-reservations";
import { reserveOneRequest, reserveRequest } from "#proxy/dispatch/reservations/reserve-request";
import { ConversationSize } from "#proxy/endpoints/realtime/usage/conversation-size";
import type { RoutedModel } from "./session-models.ts";

export class SessionPlace {
  readonly #held: HeldReservations;
  readonly #routed: RoutedModel;

  private constructor(held: HeldReservations, routed: RoutedModel) {
    this.#held = held;
    this.#routed = routed;
  }

  /** @throws GatewayError 429, 503 */
  static async reserve(caller: Caller, routed: RoutedModel): Promise<SessionPlace> {
    await reserveOneRequest(caller, routed.route, routed.model);
    const place = new SessionPlace(new HeldReservations(caller.record.requestId, caller.services), routed);
    try {
      await refuseWithoutRoom(caller, routed);
      return place;
    } catch (error) {
      await place.release();
      throw error;
    }
  }

  /** For the attempts to open it: a place on the channel of each. */
  get settlement(): DispatchedCall["settlement"] {
    const { route, model } = this.#routed;
    return {
      reserveChannel: (channel, { amounts }) => this.#held.reserveChannel(channel, route, model, amounts),
      releaseChannel: () => this.#held.settleChannel(oneRequestAmounts),
    };
  }

  /** Once, when the session is over. */
  async release(): Promise<void> {
    await this.#held.settle(oneRequestAmounts);
  }
}

/** A key whose quota is used up is told so by an HTTP status, and not after its first words. @throws GatewayError 429, 503 */
async function refuseWithoutRoom(caller: Caller, { route, model }: RoutedModel): Promise<void> {
  const { found, services, snapshot, record } = caller;
  const { key } = found;
  const account = key.account === undefined ? undefined : snapshot.account(key.namespace, key.account);
  const { limits, balances } = claimsOf(key, account, route, model);
  const amounts = { ...new ConversationSize().estimate(undefined, route, snapshot.fleet), requests: 0n };
  const id = `${record.requestId}.0`;
  await reserveRequest({ id, amounts, limits, balances, concurrency: noClaims }, key, services);
  await services.ledger.settle(id, zeroAmounts);
}

const noClaims: readonly never[] = [];

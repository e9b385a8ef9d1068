/**
 * One response of a session, or one transcription: reserved before it begins, settled once, reported once.
 *
 * It is a call of its own for limits and balances. The place among the calls in flight is the session's
 * (`session/session-place.ts`), which holds it for as long as it is open.
 */
import { type Claims, channelClaims, claimsOf } from "#proxy/admit/claims";
import { type Amounts, oneRequestAmounts, zeroAmounts } from "#proxy/admit/ledger";
import type { Caller } from "#proxy/dispatch/admitted-call";
import { reserveRequest } from "#proxy/dispatch/reservations/reserve-request";
import { errorTable, GatewayError } from "#proxy/errors";
import type { EndCode } from "#proxy/observe/access-log";
import { endOf } from "#proxy/observe/end-of-error";
import type { AttemptOutcomeLabel } from "#proxy/observe/metrics";
import { RequestRecord } from "#proxy/observe/request-record";
import { boundUsage } from "#proxy/settle/plausible-usage";
import { computeCost } from "#proxy/settle/price";
import { inputTokens, outputTokens, type TokenUsage } from "#proxy/settle/usage";
import type { Channel, Route } from "#proxy/snapshot/types.gen";
import { noAvailableChannel } from "#proxy/upstream/describe-outcome";

/** What is charged, and where it is served. */
export interface ReservedFor {
  /** The configuration that holds now: a session outlives many. */
  readonly caller: Pick<Caller, "found" | "services" | "snapshot" | "record">;
  readonly route: Route;
  readonly channel: Channel;
  /** Public name. */
  readonly model: string;
  /** Of its session, for the log. */
  readonly channelName: string;
}

/** One list for all: the ledger knows again what it has seen. */
const noClaims: readonly never[] = [];

export class ResponseReservation {
  readonly record: RequestRecord;
  readonly #for: ReservedFor;
  readonly #ids: string[] = [];
  #isSettled = false;

  /** @param id unique; the session's and a number */
  constructor(reservedFor: ReservedFor, id: string) {
    const { caller, route, model, channelName } = reservedFor;
    const { services, found } = caller;
    this.#for = reservedFor;
    this.record = new RequestRecord(id, performance.now(), services.now());
    this.record.key = found.key;
    this.record.clientAddress = caller.record.clientAddress;
    this.record.traceparent = caller.record.traceparent;
    this.record.format = "Realtime";
    this.record.model = model;
    this.record.route = `${route.namespace}/${route.name}`;
    this.record.channel = channelName;
    this.record.isStream = true;
    this.record.status = 200;
    this.record.attempts = 1;
    this.record.upstreamStarted();
  }

  /**
   * Reserves for key, account and route, and for the channel. Where it is refused, the refusal is reported.
   * @returns why it must not begin
   */
  async reserve(amounts: Amounts): Promise<GatewayError | undefined> {
    const { caller, route, model, channel } = this.#for;
    const { found, services } = caller;
    const { requestId } = this.record;
    try {
      const { limits, balances } = this.#callerClaims();
      await reserveRequest({ id: requestId, amounts, limits, balances, concurrency: noClaims }, found.key, services);
      this.#hold(requestId);
      const claims = channelClaims(channel, route, model);
      if (claims === undefined || claims.limits.length === 0) return undefined;
      const id = `${requestId}/1`;
      const onChannel = await services.ledger.reserve({
        id,
        amounts,
        limits: claims.limits,
        balances: noClaims,
        concurrency: noClaims,
      });
      if (onChannel.kind === "refused") throw noAvailableChannel();
      this.#hold(id);
      return undefined;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      await this.#giveBack();
      return error;
    }
  }

  /** @throws GatewayError `account_required` */
  #callerClaims(): Claims {
    const { caller, route, model } = this.#for;
    const { key } = caller.found;
    const account = key.account === undefined ? undefined : caller.snapshot.account(key.namespace, key.account);
    return claimsOf(key, account, route, model);
  }

  async #giveBack(): Promise<void> {
    const ids = this.#ids.splice(0);
    const { services } = this.#for.caller;
    for (const id of ids) services.reservations.delete(id);
    await Promise.all(ids.map((id) => services.ledger.settle(id, zeroAmounts)));
  }

  #hold(id: string): void {
    this.#ids.push(id);
    this.#for.caller.services.reservations.add(id);
  }

  /** @param seconds of audio that are priced by time */
  async settle(usage: TokenUsage, isEstimated: boolean, seconds = 0): Promise<void> {
    const { route, caller } = this.#for;
    const { services } = caller;
    const bounded = boundUsage(usage, { contextWindow: route.info?.contextWindow, candidates: 1 });
    const heard = seconds === 0 ? {} : { audioMilliseconds: Math.ceil(seconds * 1_000) };
    const { costNanos, unpriced } = computeCost(bounded, route.price, { requests: 1, ...heard });
    if (route.price !== undefined) for (const name of unpriced) services.metrics.usedUnpriced(this.record.route, name);
    this.record.usage = bounded;
    this.record.costNanos = costNanos;
    this.record.isEstimated = isEstimated || bounded !== usage;
    const amounts = {
      requests: 1n,
      inputTokens: BigInt(inputTokens(bounded)),
      outputTokens: BigInt(outputTokens(bounded)),
      costNanos,
    };
    await this.#post(amounts);
  }

  /** Nothing was generated. @param wasSent it counts as one request */
  release(wasSent: boolean): Promise<void> {
    return this.#post(wasSent ? oneRequestAmounts : zeroAmounts);
  }

  async #post(amounts: Amounts): Promise<void> {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const { services } = this.#for.caller;
    if (this.#ids.length === 0) await this.#postUnreserved(amounts);
    for (const id of this.#ids) services.reservations.delete(id);
    await Promise.all(this.#ids.map((id) => services.ledger.settle(id, amounts)));
  }

  /** What was refused and ran all the same is charged at once: no limit can refuse what has been taken. */
  async #postUnreserved(amounts: Amounts): Promise<void> {
    const { caller, route, model, channel } = this.#for;
    const { ledger } = caller.services;
    const { limits, balances } = this.#callerClaims();
    const all = [...limits, ...(channelClaims(channel, route, model)?.limits ?? [])];
    const id = `${this.record.requestId}+`;
    await ledger.reserve({
      id,
      amounts: zeroAmounts,
      limits: all.map(({ counter, limit }) => ({ counter, limit: { ...limit, mode: "Shadow" } })),
      balances: balances.map(({ counter }) => ({ counter, grantedNanos: undefined })),
      concurrency: noClaims,
    });
    await ledger.settle(id, amounts);
  }

  /** It never began. */
  refused(error: GatewayError): void {
    const { services } = this.#for.caller;
    this.record.attempts = 0;
    this.record.refused(error.code, errorTable[error.code].status, endOf(error.code, false));
    this.record.report(services.metrics, services.accessLog);
  }

  /** The client left before it had ended; reported once, as below. */
  reportLeft(end: EndCode): void {
    this.record.clientLeft(end);
    this.#report("aborted");
  }

  /** Reports it to the access log and the metrics; once, when it has been settled. */
  report(error?: GatewayError, end: EndCode = "--"): void {
    if (error !== undefined) this.record.cut(error.code, end);
    this.#report(error === undefined ? "ok" : "cut");
  }

  #report(outcome: AttemptOutcomeLabel): void {
    const { services } = this.#for.caller;
    services.metrics.attempt(this.#for.channelName, outcome);
    this.record.upstreamEnded();
    this.record.report(services.metrics, services.accessLog);
  }
}

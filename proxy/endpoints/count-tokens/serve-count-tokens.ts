/**
 * Answers how many tokens a prompt has: `/v1/messages/count_tokens` and `:countTokens`.
 *
 * The route's own upstream counts where its channel has a counter (also of the other format); everywhere else, and when
 * the counter fails, a tokenizer estimates and the answer says so in `x-tollgate-token-count: estimate`. Costs one request
 * of the caller's limits, one of each channel's that is asked, and nothing else. A full channel is not asked; another is
 * asked after a failure as for a call (`failover`). Called by `handle-request.ts` with key and address already checked.
 */
import { oneRequestAmounts } from "#proxy/admit/ledger";
import { authorizeModel } from "#proxy/authorize/decide";
import type { AdmittedCall } from "#proxy/dispatch/admitted-call";
import { type Attempted, type AttemptHooks, dispatchCall, whileAllowed } from "#proxy/dispatch/dispatch-call";
import { failedAttempt, invalidReply } from "#proxy/dispatch/failed-attempt";
import { AttemptPreparation, type PreparedAttempt } from "#proxy/dispatch/prepare-attempt";
import { reserveOneRequest } from "#proxy/dispatch/reservations/reserve-request";
import { CallSettlement } from "#proxy/dispatch/reservations/settle-call";
import type { RunningCall } from "#proxy/dispatch/revocation/is-still-allowed";
import { refuseRevoked } from "#proxy/dispatch/revocation/revocation";
import type { Services } from "#proxy/dispatch/services";
import { GatewayError } from "#proxy/errors";
import { chatFormats } from "#proxy/formats/registry";
import { upstreamHeaders } from "#proxy/http/header-rules";
import type { CallBytes } from "#proxy/http/in-flight-bytes";
import { ClientGoneError } from "#proxy/http/read-body";
import type { Upstream } from "#proxy/http1/client/upstream";
import type { Exchange } from "#proxy/http1/server/exchange";
import type { RequestRecord } from "#proxy/observe/request-record";
import type { AttemptHistory } from "#proxy/route/attempt-history";
import type { FailedAttempt } from "#proxy/route/failover";
import { type SelectedTarget, selectTarget } from "#proxy/route/select-target";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import { Attempt } from "#proxy/upstream/attempt";
import type { AttemptOutcome, StopReason } from "#proxy/upstream/attempt-outcome";
import { endResponse } from "#proxy/upstream/client/end-response";
import { errorOfStop, noAvailableChannel } from "#proxy/upstream/describe-outcome";
import { upstreamModelOf } from "#proxy/upstream/request/build-upstream-request";
import { upstreamPath } from "#proxy/upstream/request/upstream-path";
import type { UpstreamRequest } from "#proxy/upstream/upstream-exchange";
import { type CountingFormat, canCount, countBody, countingFormat, readCount, renderCount } from "./count-format.ts";
import { countedText, estimatePrompt } from "./estimate-prompt.ts";
import { type CountEndpoint, readCountCall } from "./read-count-call.ts";

export interface Counter extends Pick<RunningCall, "found" | "clientAddress"> {
  readonly exchange: Exchange;
  readonly services: Services;
  readonly snapshot: Snapshot;
  readonly inFlightBytes: CallBytes;
  readonly record: RequestRecord;
}

/** @throws GatewayError as for the chat call of the same prompt */
export async function serveCountTokens(counter: Counter, endpoint: CountEndpoint, body: Buffer): Promise<void> {
  const admitted = await admit(counter, endpoint, body);
  try {
    const counted = await askUpstreams(admitted);
    const tokens = counted ?? (await estimate(admitted));
    // Whoever counted, an answer costs a request.
    await admitted.settlement.settleRequest();
    refuseRevoked(admitted);
    send(admitted, renderCount(endpoint.format, tokens), counted === undefined);
  } finally {
    await admitted.settlement.release();
  }
}

async function admit(counter: Counter, endpoint: CountEndpoint, bytes: Buffer): Promise<AdmittedCall> {
  const { exchange, services, snapshot, found, record } = counter;
  const { key } = found;
  const call = readCountCall(bytes, endpoint, services.limits);
  record.model = call.model;
  const { protocol } = endpoint;
  const route = authorizeModel({ key, snapshot, protocol, capability: "CountTokens", model: call.model });
  record.route = `${route.namespace}/${route.name}`;
  const passedHeaders = upstreamHeaders(protocol, exchange.request.rawHeaders);
  // The last thing that can fail: what is reserved is held by whoever has the settlement.
  await reserveOneRequest(counter, route, call.model);
  return {
    ...counter,
    call,
    route,
    format: chatFormats[endpoint.format],
    estimate: { amounts: oneRequestAmounts, candidates: call.candidates, outputReserve: 0, outputCap: undefined },
    settlement: new CallSettlement({
      services,
      route,
      call,
      candidates: call.candidates,
      reserved: oneRequestAmounts,
      record,
    }),
    passedHeaders,
    answerHeaders: ["x-request-id", record.requestId, "request-id", record.requestId],
  };
}

/** @returns undefined when no upstream of the route could tell */
async function askUpstreams(admitted: AdmittedCall): Promise<number | undefined> {
  const attempts = new CountAttempts(admitted);
  try {
    const result = await dispatchCall(admitted, attempts);
    return result instanceof GatewayError ? undefined : result.answer;
  } finally {
    attempts.release();
  }
}

/** The attempts of one count. */
class CountAttempts implements AttemptHooks<PreparedCount, number> {
  readonly #admitted: AdmittedCall;
  readonly #preparation: AttemptPreparation;

  constructor(admitted: AdmittedCall) {
    this.#admitted = admitted;
    this.#preparation = new AttemptPreparation(admitted);
  }

  release(): void {
    this.#preparation.release();
  }

  select(tried: AttemptHistory): SelectedTarget | undefined {
    const { route, call, snapshot, services } = this.#admitted;
    return selectTarget({ route, format: call.endpoint.format, snapshot, tried, random: services.random });
  }

  noTarget(): GatewayError {
    return noAvailableChannel();
  }

  async prepare(selected: SelectedTarget): Promise<PreparedCount | GatewayError> {
    const { call, route } = this.#admitted;
    const { channel, format } = selected;
    const template = channel.formats.find(({ type }) => type === "CountTokens")?.path;
    if (template === undefined || !canCount(format)) return noAvailableChannel();
    const prepared = await this.#preparation.prepare(selected);
    if (prepared instanceof GatewayError) return prepared;
    const upstreamModel = upstreamModelOf({ ...selected, route }, call.model);
    const path = upstreamPath(selected, template, upstreamModel, "countTokens");
    const body = countBody(format, prepared.request.body, upstreamModel);
    return { ...prepared, request: { ...prepared.request, path, body }, counts: format };
  }

  async send(
    selected: SelectedTarget,
    prepared: PreparedCount,
    request: UpstreamRequest,
    upstream: Upstream,
  ): Promise<Attempted<number>> {
    const { services, settlement, inFlightBytes, record } = this.#admitted;
    const attempt = new Attempt({
      upstream,
      request,
      format: countingFormat(prepared.format, prepared.counts),
      call: prepared.call,
      translation: undefined,
      dropped: prepared.dropped,
      bridge: prepared.bridge,
      limits: services.limits,
      inFlightBytes,
      client: undefined,
      onPiece: () => undefined,
    });
    try {
      return await whileAllowed(this.#admitted, attempt, async () => {
        record.upstreamStarted();
        const outcome = await attempt.run();
        record.upstreamEnded();
        const attempted = readOutcome(outcome, prepared.counts);
        if ("answer" in attempted) services.credentials.accepted(selected.credential);
        return attempted;
      });
    } finally {
      attempt.release();
      await settlement.releaseChannel();
    }
  }
}

interface PreparedCount extends PreparedAttempt {
  /** Format whose counter is asked. */
  readonly counts: CountingFormat;
}

/** @throws GatewayError, ClientGoneError where nobody waits for another counter, nor for an estimate */
function readOutcome(outcome: AttemptOutcome, format: CountingFormat): Attempted<number> {
  switch (outcome.kind) {
    case "reply": {
      const tokens = readCount(format, outcome.body);
      return tokens === undefined ? failed(invalidReply) : { answer: tokens };
    }
    case "stopped":
      // There was no room for what the counter said: an estimate takes none.
      if (outcome.reason === "overloaded") return failed({ condition: undefined, status: undefined });
      throw errorOfEnd(outcome.reason);
    case "streamed":
      return failed(invalidReply);
    default:
      return failed(failedAttempt(outcome));
  }
}

/** Nobody hears the error: where no upstream counts, the gateway estimates. */
function failed(attempt: FailedAttempt): Attempted<number> {
  return { failed: { ...attempt, error: noAvailableChannel() } };
}

function errorOfEnd(reason: StopReason): Error {
  return reason === "client-left" || reason === "slow-reader" ? new ClientGoneError() : errorOfStop(reason);
}

async function estimate({ services, call }: AdmittedCall): Promise<number> {
  return estimatePrompt(call, await services.estimateTokens(countedText(call)));
}

function send({ exchange, record, answerHeaders }: AdmittedCall, body: Buffer, isEstimate: boolean): void {
  record.status = 200;
  record.responseBytes = body.length;
  const said = isEstimate ? ["x-tollgate-token-count", "estimate"] : [];
  exchange.response.writeHead(200, [...answerHeaders, ...said, "content-type", "application/json"], body.length);
  endResponse(exchange.response, body);
}

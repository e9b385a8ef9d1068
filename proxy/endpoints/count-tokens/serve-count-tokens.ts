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
import { failedAttempt, invalidReply } from "#proxy/dispatch/failed-attempt";
import { AttemptPreparation, type PreparedAttempt } from "#proxy/dispatch/prepare-attempt";
import { reserveOneRequest } from "#proxy/dispatch/reservations/reserve-request";
import { CallSettlement } from "#proxy/dispatch/reservations/settle-call";
import type { RunningCall } from "#proxy/dispatch/revocation/is-still-allowed";
import { refuseRevoked, wasRevoked } from "#proxy/dispatch/revocation/revocation";
import type { Services } from "#proxy/dispatch/services";
import { GatewayError } from "#proxy/errors";
import { chatFormats } from "#proxy/formats/registry";
import { upstreamHeaders } from "#proxy/http/header-rules";
import type { CallBytes } from "#proxy/http/in-flight-bytes";
import { ClientGoneError } from "#proxy/http/read-body";
import type { Upstream } from "#proxy/http1/client/upstream";
import type { Exchange } from "#proxy/http1/server/exchange";
import type { RequestRecord } from "#proxy/observe/request-record";
import { AttemptHistory } from "#proxy/route/attempt-history";
import { type FailedAttempt, mayFailOver } from "#proxy/route/failover";
import { withSecretInUse } from "#proxy/route/rotated-credentials";
import { type SelectedTarget, selectTarget } from "#proxy/route/select-target";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import { Attempt } from "#proxy/upstream/attempt";
import type { AttemptOutcome, StopReason } from "#proxy/upstream/attempt-outcome";
import { endResponse } from "#proxy/upstream/client/end-response";
import { errorOfStop } from "#proxy/upstream/describe-outcome";
import { upstreamModelOf } from "#proxy/upstream/request/build-upstream-request";
import { upstreamPath } from "#proxy/upstream/request/upstream-path";
import { withinTotal } from "#proxy/upstream/upstream-exchange";
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
  const preparation = new AttemptPreparation(admitted);
  try {
    return await askTargets(admitted, preparation);
  } finally {
    preparation.release();
  }
}

/** What asking one target came to: undefined for one that could not be asked at all. */
type Asked = { readonly tokens: number } | { readonly failed: FailedAttempt } | undefined;

async function askTargets(admitted: AdmittedCall, preparation: AttemptPreparation): Promise<number | undefined> {
  const { services, snapshot, route, call, record } = admitted;
  const tried = new AttemptHistory();
  const startedMs = performance.now();
  while (true) {
    const chosen = selectTarget({ route, format: call.endpoint.format, snapshot, tried, random: services.random });
    if (chosen === undefined) {
      if (tried.reopen()) continue;
      return undefined;
    }
    const selected = withSecretInUse(chosen, services.credentials, false);
    tried.addTarget(selected.target.name);
    const asked = await askTarget(admitted, selected, preparation, startedMs);
    if (asked === undefined) continue;
    if ("tokens" in asked) return asked.tokens;
    const { failed } = asked;
    if (!mayFailOver(route, failed, record.attempts, performance.now() - startedMs)) return undefined;
    const attemptsLeft = route.failover.maxAttempts - record.attempts;
    tried.addFailure(selected.target.name, selected.credential?.name, failed.condition, attemptsLeft);
  }
}

async function askTarget(
  admitted: AdmittedCall,
  selected: SelectedTarget,
  preparation: AttemptPreparation,
  startedMs: number,
): Promise<Asked> {
  const { call, settlement } = admitted;
  const { channel, format, target } = selected;
  const template = channel.formats.find(({ type }) => type === "CountTokens")?.path;
  if (template === undefined || !canCount(format)) return undefined;
  const prepared = await preparation.prepare(selected);
  if (prepared instanceof GatewayError) return undefined;
  const upstream = upstreamOf(admitted, selected);
  if (upstream === undefined) return undefined;
  const upstreamModel = upstreamModelOf({ ...selected, route: admitted.route }, call.model);
  const path = upstreamPath(selected, template, upstreamModel, "countTokens");
  const body = countBody(format, prepared.request.body, upstreamModel);
  const request = withinTotal({ ...prepared.request, path, body }, performance.now() - startedMs);
  if (request === undefined) return { failed: { condition: undefined, status: undefined } };
  if ((await settlement.reserveChannel(channel, admitted.estimate)) === "full") return undefined;
  admitted.record.channel = target.channel;
  try {
    return await askUpstream(admitted, { ...prepared, request }, upstream, format);
  } finally {
    await settlement.releaseChannel();
  }
}

async function askUpstream(
  admitted: AdmittedCall,
  prepared: PreparedAttempt,
  upstream: Upstream,
  format: CountingFormat,
): Promise<Asked> {
  const { services, record, exchange } = admitted;
  const attempt = new Attempt({
    upstream,
    request: prepared.request,
    format: countingFormat(prepared.format, format),
    call: prepared.call,
    translation: undefined,
    dropped: prepared.dropped,
    bridge: prepared.bridge,
    limits: services.limits,
    inFlightBytes: admitted.inFlightBytes,
    client: undefined,
    onPiece: () => undefined,
  });
  record.attempts += 1;
  exchange.whenClosed(() => attempt.stop("client-left"));
  const open = services.openAttempts.add(attempt, admitted);
  try {
    if (exchange.response.destroyed) attempt.stop("client-left");
    else if (wasRevoked(admitted)) attempt.stop("revoked");
    return readOutcome(await attempt.run(), format);
  } finally {
    services.openAttempts.delete(open);
    attempt.release();
    exchange.whenClosed(undefined);
  }
}

/** @throws GatewayError, ClientGoneError where nobody waits for another counter, nor for an estimate */
function readOutcome(outcome: AttemptOutcome, format: CountingFormat): Asked {
  switch (outcome.kind) {
    case "reply": {
      const tokens = readCount(format, outcome.body);
      return tokens === undefined ? { failed: invalidReply } : { tokens };
    }
    case "stopped":
      // There was no room for what the counter said: an estimate takes none.
      if (outcome.reason === "overloaded") return { failed: { condition: undefined, status: undefined } };
      throw errorOfEnd(outcome.reason);
    case "streamed":
      return { failed: invalidReply };
    default:
      return { failed: failedAttempt(outcome) };
  }
}

function errorOfEnd(reason: StopReason): Error {
  return reason === "client-left" || reason === "slow-reader" ? new ClientGoneError() : errorOfStop(reason);
}

/** Undefined where the egress policy lets nothing through. */
function upstreamOf({ services, snapshot }: AdmittedCall, { channel }: SelectedTarget): Upstream | undefined {
  try {
    return services.pools.upstreamFor(channel, snapshot.fleet.egressAllowCIDRs);
  } catch {
    return undefined;
  }
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

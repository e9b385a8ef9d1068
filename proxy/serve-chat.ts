/**
 * Has an admitted chat call answered: one attempt after the other until a reply goes to the client, then settles.
 *
 * With a reservation held. Before the first byte a failed attempt may be followed by one on another target, with another
 * credential of the same one or its former secret; after it the stream ends cleanly or visibly broken. The channel's own
 * limits are reserved for each attempt: a full channel is skipped, and no client is refused for it.
 */
import type { AdmittedCall } from "./admitted-call.ts";
import { continuingTurns } from "./continue-turns.ts";
import { GatewayError } from "./errors.ts";
import { failedAttempt } from "./failed-attempt.ts";
import { Attempt } from "./forward/attempt.ts";
import type { AttemptOutcome } from "./forward/attempt-outcome.ts";
import { ClientStream } from "./forward/client-stream.ts";
import {
  errorOfFailure,
  errorOfInvalidReply,
  errorOfProblem,
  errorOfStop,
  labelOfError,
  labelOfFailure,
  noAvailableChannel,
} from "./forward/describe-outcome.ts";
import { endResponse, holdsAnswer } from "./forward/end-response.ts";
import type { Upstream } from "./forward/http1/upstream.ts";
import { type UpstreamFailure, type UpstreamRequest, withinTotal } from "./forward/upstream-exchange.ts";
import type { Pending } from "./held-reservations.ts";
import type { ResponseKeeper } from "./keep-responses.ts";
import { AttemptPreparation, type PreparedAttempt } from "./prepare-attempt.ts";
import type { StreamMeter } from "./protocols/chat-format.ts";
import { isNothing } from "./protocols/produced.ts";
import { type FailedAttempt, mayFailOver } from "./route/failover.ts";
import { withSecretInUse } from "./route/rotated-credentials.ts";
import { type SelectedTarget, selectTarget } from "./route/select-target.ts";
import { Tried } from "./route/tried.ts";
import type { Services } from "./services.ts";
import { outputTokens } from "./settle/usage.ts";
import { droppedLabel } from "./translate/dropped-fields.ts";
import { TranslatingMeter } from "./translate/translating-meter.ts";
import { otherCalls } from "./turn.ts";
import { upstreamRefusal } from "./upstream-refusal.ts";
import { wasRevoked } from "./was-revoked.ts";

/** A failed attempt, with what the client is told if it was the last. */
interface Failed extends FailedAttempt {
  readonly error: GatewayError;
}

/** @throws GatewayError when no target answered; nothing has gone to the client then */
export async function serveChat(admitted: AdmittedCall): Promise<void> {
  const { services, route, record } = admitted;
  const preparation = new AttemptPreparation(admitted);
  const tried = new Tried();
  const startedMs = performance.now();
  let lastError: GatewayError | undefined;
  /** To be asked once more, with the former secret of its credential; such attempts are none of the route's. */
  let again: SelectedTarget | undefined;
  let extraAttempts = 0;
  try {
    while (true) {
      const chosen = again ?? choose(admitted, tried);
      if (chosen === undefined) {
        if (tried.reopen()) continue;
        throw lastError ?? noTarget(admitted);
      }
      again = undefined;
      const selected = withSecretInUse(chosen, services.credentials, true);
      tried.addTarget(selected.target.name);
      const preparing = preparation.prepare(selected);
      const prepared = preparing instanceof Promise ? await preparing : preparing;
      if (prepared instanceof GatewayError) {
        lastError ??= prepared;
        continue;
      }
      const request = withinTotal(prepared.request, performance.now() - startedMs);
      if (request === undefined)
        throw lastError ?? errorOfFailure({ kind: "total-timeout", isSent: false, cause: undefined });
      await otherCalls;
      const slot = admitted.settlement.reserveChannel(selected.channel, admitted.estimate);
      if ((slot instanceof Promise ? await slot : slot) === "full") {
        // Said where nobody else answers: another try may find room, also where the call can go nowhere else.
        lastError ??= noAvailableChannel();
        continue;
      }
      record.attempts += 1;
      record.channel = selected.target.channel;
      const failed = await attemptTarget(admitted, selected, prepared, request);
      if (failed === undefined) return;
      lastError = failed.error;
      if (isRefusedBesideFormer(failed, selected, services)) {
        again = chosen;
        extraAttempts += 1;
        continue;
      }
      const attempts = record.attempts - extraAttempts;
      if (!mayFailOver(route, failed, attempts, performance.now() - startedMs)) throw lastError;
      const attemptsLeft = route.failover.maxAttempts - attempts;
      tried.addFailure(selected.target.name, selected.credential?.name, failed.condition, attemptsLeft);
    }
  } finally {
    preparation.release();
  }
}

function choose(admitted: AdmittedCall, tried: Tried): SelectedTarget | undefined {
  const { route, call, snapshot, services } = admitted;
  const { format } = call.endpoint;
  const affinity = admitted.references?.affinity;
  return selectTarget({ route, format, snapshot, tried, affinity, random: services.random });
}

/** The provider refuses a new secret: the former one is asked at once, whatever the route says of failover. */
function isRefusedBesideFormer(
  { condition, status }: Failed,
  { credential }: SelectedTarget,
  { credentials }: Services,
): boolean {
  return condition === "CredentialRejected" && credential !== undefined && credentials.refused(credential, status);
}

function noTarget({ references }: AdmittedCall): GatewayError {
  if (references?.affinity !== undefined) {
    return new GatewayError(
      "previous_response_not_found",
      "What this call goes on from cannot be reached by this model. Send the conversation itself.",
      { param: "previous_response_id" },
    );
  }
  return noAvailableChannel();
}

/** @returns undefined when the client has its answer, whole or broken */
async function attemptTarget(
  admitted: AdmittedCall,
  selected: SelectedTarget,
  prepared: PreparedAttempt,
  request: UpstreamRequest,
): Promise<Failed | undefined> {
  const { exchange, services, call, record } = admitted;
  const { response } = exchange;
  let upstream: Upstream;
  try {
    upstream = services.pools.upstreamFor(selected.channel, admitted.snapshot.fleet.egressAllowCIDRs);
  } catch (cause) {
    // A proxy address that the egress policy refuses, or that is none: the channel cannot be reached.
    await admitted.settlement.releaseChannel();
    const error = errorOfFailure({ kind: "egress", isSent: false, cause });
    return { condition: "ConnectFailure", status: undefined, error };
  }
  const client = call.stream ? clientStream(admitted, () => attempt) : undefined;
  const attempt = new Attempt({
    upstream: continuingTurns(admitted, selected, prepared, upstream),
    request,
    format: prepared.format,
    call: prepared.call,
    translation: prepared.translation,
    dropped: prepared.dropped,
    bridge: prepared.bridge,
    estimateUntold:
      prepared.translation?.tellsUsage === true
        ? (usage, produced) => admitted.settlement.estimateUntold(usage, produced)
        : undefined,
    limits: services.limits,
    inFlightBytes: admitted.inFlightBytes,
    client,
    onPiece: () => {
      if (!record.hasBegun) services.credentials.accepted(selected.credential);
      record.pieceSent();
    },
  });
  exchange.whenClosed(() => attempt.stop("client-left"));
  const open = services.openAttempts.add(attempt, admitted);
  record.upstreamStarted();
  try {
    if (response.destroyed) attempt.stop("client-left");
    else if (wasRevoked(admitted)) attempt.stop("revoked");
    const outcome = await attempt.run();
    record.upstreamEnded();
    if (outcome.kind !== "reply") return await concludeOther(admitted, selected, outcome, client, prepared.keeper);
    await (settleReply(admitted, selected, outcome, prepared.keeper) ?? otherCalls);
    sendReply(admitted, outcome.body, outcome.headers);
    return undefined;
  } finally {
    client?.release();
    services.openAttempts.delete(open);
    // A client that does not read leaves what it was sent waiting in memory.
    if (holdsAnswer(response)) response.once("close", () => attempt.release());
    else attempt.release();
    exchange.whenClosed(undefined);
  }
}

function clientStream(admitted: AdmittedCall, attempt: () => Attempt): ClientStream {
  const { exchange, services, format, call, answerHeaders } = admitted;
  const contentType = format.contentType(call);
  const headers = [
    ...answerHeaders,
    "content-type",
    contentType,
    "cache-control",
    "no-cache",
    "x-accel-buffering",
    "no",
  ];
  return new ClientStream(exchange.response, headers, services.limits, {
    onDrain: () => attempt().resume(),
    onSlowReader: () => attempt().stop("slow-reader"),
  });
}

/** What a whole answer used is posted before it goes out, so that the client's next call finds the numbers. */
function settleReply(
  admitted: AdmittedCall,
  selected: SelectedTarget,
  outcome: Extract<AttemptOutcome, { kind: "reply" }>,
  keeper: ResponseKeeper,
): Pending {
  const { services, settlement } = admitted;
  services.credentials.accepted(selected.credential);
  keeper.keepReply(selected, outcome.body);
  services.metrics.attempt(selected.target.channel, "ok");
  const { format } = admitted.call.endpoint;
  for (const name of outcome.lost) services.metrics.parameterDropped(format, droppedLabel(format, name));
  return settlement.settleReply(outcome.reading);
}

async function concludeOther(
  admitted: AdmittedCall,
  selected: SelectedTarget,
  outcome: Exclude<AttemptOutcome, { kind: "reply" }>,
  client: ClientStream | undefined,
  keeper: ResponseKeeper,
): Promise<Failed | undefined> {
  const { services, settlement } = admitted;
  const count = (label: Parameters<typeof services.metrics.attempt>[1]): void =>
    services.metrics.attempt(selected.target.channel, label);
  switch (outcome.kind) {
    case "streamed":
      if (outcome.problem === undefined) keepStreamed(selected, outcome, keeper);
      count(outcome.problem === undefined ? "ok" : "cut");
      await concludeStream(admitted, selected, outcome, client);
      return undefined;
    case "stopped":
      count("aborted");
      await concludeStopped(admitted, outcome, client);
      return undefined;
    case "upstream-error":
      count(labelOfError(outcome.error));
      return concludeFailed(admitted, outcome, upstreamRefusal(admitted, selected, outcome.error));
    case "failure":
      count(labelOfFailure(outcome.failure));
      logFailure(admitted, selected, outcome.failure);
      return concludeFailed(admitted, outcome, errorOfFailure(outcome.failure));
    case "invalid":
      count("invalid_reply");
      if (outcome.isOversized === true) {
        await settlement.settleOversized(admitted.estimate);
        throw errorOfInvalidReply(outcome.reason);
      }
      return concludeFailed(admitted, outcome, errorOfInvalidReply(outcome.reason));
    default:
      return outcome satisfies never;
  }
}

function keepStreamed(
  selected: SelectedTarget,
  { reply, meter }: Extract<AttemptOutcome, { kind: "streamed" }>,
  keeper: ResponseKeeper,
): void {
  if (reply === undefined) keeper.keepStream(selected, meter);
  else keeper.keepReply(selected, reply);
}

/**
 * Another target may answer, unless something was generated: that is paid for, and most likely generated no better by
 * another, so that it is billed and not asked for again.
 * @throws error when it was
 */
async function concludeFailed(
  { settlement }: AdmittedCall,
  outcome: Extract<AttemptOutcome, { kind: "upstream-error" | "failure" | "invalid" }>,
  error: GatewayError,
): Promise<Failed> {
  if (settlement.hasGoneOn || isGenerated(outcome.meter)) {
    await settlement.settleBroken(outcome.meter);
    throw error;
  }
  await settlement.releaseChannel();
  return { ...failedAttempt(outcome), error };
}

/** The client is told little of our side: whoever runs the gateway finds here which name, certificate or port it was. */
function logFailure({ record, services }: AdmittedCall, { target }: SelectedTarget, failure: UpstreamFailure): void {
  services.log.warn("an attempt on an upstream failed", {
    request: record.requestId,
    channel: target.channel,
    kind: failure.kind,
    cause: failure.cause instanceof Error ? failure.cause : undefined,
  });
}

function isGenerated(meter: StreamMeter | undefined): boolean {
  if (meter === undefined) return false;
  return (meter.usage !== undefined && outputTokens(meter.usage) > 0) || !isNothing(meter.produced());
}

function sendReply(admitted: AdmittedCall, body: Buffer, passedHeaders: readonly string[]): void {
  const { exchange, record, format, call, answerHeaders } = admitted;
  record.status = 200;
  record.responseBytes = body.length;
  record.pieceSent();
  const { response } = exchange;
  // The list was made for this answer: nobody else reads it.
  const headers = answerHeaders;
  for (const part of passedHeaders) headers.push(part);
  headers.push("content-type", format.contentType(call));
  response.writeHead(200, headers, body.length);
  endResponse(response, body);
}

async function concludeStream(
  admitted: AdmittedCall,
  selected: SelectedTarget,
  outcome: Extract<AttemptOutcome, { kind: "streamed" }>,
  client: ClientStream | undefined,
): Promise<void> {
  const { record, settlement } = admitted;
  record.status = 200;
  record.responseBytes = client?.bytesWritten ?? 0;
  if (outcome.problem === undefined) {
    // Numbers at hand are posted before the end, so that the client's next call finds them; an estimate takes longer.
    const settled = settlement.settleStream(outcome.meter);
    if (outcome.meter.usage !== undefined && outcome.meter.isCut !== true) await settled;
    client?.endClean();
    await settled;
    return;
  }
  const error = errorOfProblem(outcome.problem, (upstream) => upstreamRefusal(admitted, selected, upstream));
  record.cut(error.code, error.code === "upstream_timeout" ? "sD" : "SD");
  await Promise.all([
    endBroken(admitted, client, error, outcome.meter, "sent"),
    settlement.settleBroken(outcome.meter),
  ]);
}

const endOfStop = { revoked: "KD", "shutting-down": "DD", overloaded: "RD" } as const;

async function concludeStopped(
  admitted: AdmittedCall,
  outcome: Extract<AttemptOutcome, { kind: "stopped" }>,
  client: ClientStream | undefined,
): Promise<void> {
  const { record, settlement } = admitted;
  const isStarted = client?.isStarted === true;
  record.status = isStarted ? 200 : 0;
  record.responseBytes = client?.bytesWritten ?? 0;
  if (outcome.reason === "client-left" || outcome.reason === "slow-reader") {
    const who = outcome.reason === "client-left" ? "C" : "c";
    record.clientLeft(`${who}${isStarted ? "D" : "H"}`);
    await settlement.settleStopped(outcome.meter, outcome.isSent);
    return;
  }
  const error = errorOfStop(outcome.reason);
  let ending: Promise<void> | undefined;
  if (isStarted && outcome.meter !== undefined) {
    record.cut(error.code, endOfStop[outcome.reason]);
    ending = endBroken(admitted, client, error, outcome.meter, "withheld");
  }
  await Promise.all([ending, settlement.settleStopped(outcome.meter, outcome.isSent)]);
  if (!isStarted) throw error;
}

/** The client may read slowly: whoever settles does not wait for it. */
async function endBroken(
  admitted: AdmittedCall,
  client: ClientStream | undefined,
  error: GatewayError,
  meter: StreamMeter,
  rest: "sent" | "withheld",
): Promise<void> {
  const { format, call, record, services } = admitted;
  services.log.warn("a stream ended before it was complete", {
    request: record.requestId,
    channel: record.channel,
    code: error.code,
    cause: error.cause instanceof Error ? error.cause : undefined,
  });
  const context = { requestId: record.requestId, model: call.model };
  const lastBytes =
    meter instanceof TranslatingMeter
      ? meter.fail(error, context)
      : format.renderStreamError(error, context, meter, call);
  await client?.endUnclean(lastBytes, rest);
}

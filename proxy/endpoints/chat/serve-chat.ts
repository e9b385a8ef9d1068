/**
 * Has an admitted chat call answered: one attempt after the other until a reply goes to the client, then settles.
 *
 * With a reservation held. Before the first byte a failed attempt may be followed by one on another target, with another
 * credential of the same one or its former secret; after it the stream ends cleanly or visibly broken. The channel's own
 * limits are reserved for each attempt: a full channel is skipped, and no client is refused for it.
 */
import type { AdmittedCall } from "#proxy/dispatch/admitted-call";
import { AnswerStream } from "#proxy/dispatch/answer-stream";
import { askedInResponses } from "#proxy/dispatch/asked-in-responses";
import { concludeOther, type Failed, failStarted, sendReply, settleReply } from "#proxy/dispatch/conclude-attempt";
import { continuingTurns } from "#proxy/dispatch/continue-turns";
import { AttemptPreparation, type PreparedAttempt } from "#proxy/dispatch/prepare-attempt";
import { wasRevoked } from "#proxy/dispatch/revocation/revocation";
import type { Services } from "#proxy/dispatch/services";
import { GatewayError } from "#proxy/errors";
import type { Upstream } from "#proxy/http1/client/upstream";
import { AttemptHistory } from "#proxy/route/attempt-history";
import { mayFailOver } from "#proxy/route/failover";
import { withSecretInUse } from "#proxy/route/rotated-credentials";
import { type SelectedTarget, type SelectionRequest, selectTarget } from "#proxy/route/select-target";
import { yieldToBatch } from "#proxy/runtime/request-batch";
import { Attempt } from "#proxy/upstream/attempt";
import { holdsAnswer } from "#proxy/upstream/client/end-response";
import { errorOfFailure, noAvailableChannel } from "#proxy/upstream/describe-outcome";
import { type UpstreamRequest, withinTotal } from "#proxy/upstream/upstream-exchange";

/** @throws GatewayError when no target answered; nothing has gone to the client then */
export async function serveChat(admitted: AdmittedCall): Promise<void> {
  const stream = admitted.call.stream ? new AnswerStream(admitted) : undefined;
  try {
    await answerFromTargets(admitted, stream);
  } catch (error) {
    // The status is gone where the client has heard that its answer lives.
    if (stream?.client.isStarted !== true || !(error instanceof GatewayError)) throw error;
    await failStarted(admitted, stream, error);
  } finally {
    stream?.close();
  }
}

/** @throws GatewayError when no target answered */
async function answerFromTargets(admitted: AdmittedCall, stream: AnswerStream | undefined): Promise<void> {
  const { services, route, record } = admitted;
  const preparation = new AttemptPreparation(admitted, stream?.opening);
  const tried = new AttemptHistory();
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
      await yieldToBatch;
      const slot = admitted.settlement.reserveChannel(selected.channel, admitted.estimate);
      if ((slot instanceof Promise ? await slot : slot) === "full") {
        // Said where nobody else answers: another try may find room, also where the call can go nowhere else.
        lastError ??= noAvailableChannel();
        continue;
      }
      record.attempts += 1;
      record.channel = selected.target.channel;
      const failed = await attemptTarget(admitted, stream, selected, prepared, request);
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

function choose(admitted: AdmittedCall, tried: AttemptHistory): SelectedTarget | undefined {
  const { route, call, snapshot, services } = admitted;
  const { format } = call.endpoint;
  const affinity = admitted.references?.affinity;
  const asksInResponses: SelectionRequest["asksInResponses"] = (target, channel) =>
    askedInResponses(call, route, target, channel);
  return selectTarget({ route, format, snapshot, tried, affinity, asksInResponses, random: services.random });
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
  stream: AnswerStream | undefined,
  selected: SelectedTarget,
  prepared: PreparedAttempt,
  request: UpstreamRequest,
): Promise<Failed | undefined> {
  const { exchange, services, record } = admitted;
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
  const client = stream?.client;
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
      stream?.heard();
    },
  });
  stream?.follow(attempt);
  exchange.whenClosed(() => attempt.stop("client-left"));
  const open = services.openAttempts.add(attempt, admitted);
  record.upstreamStarted();
  try {
    if (response.destroyed) attempt.stop("client-left");
    else if (wasRevoked(admitted)) attempt.stop("revoked");
    const outcome = await attempt.run();
    record.upstreamEnded();
    if (outcome.kind !== "reply") return await concludeOther(admitted, selected, outcome, stream, prepared.keeper);
    await (settleReply(admitted, selected, outcome, prepared.keeper) ?? yieldToBatch);
    sendReply(admitted, outcome.body, outcome.headers);
    return undefined;
  } finally {
    services.openAttempts.delete(open);
    // A client that does not read leaves what it was sent waiting in memory.
    if (holdsAnswer(response)) response.once("close", () => attempt.release());
    else attempt.release();
    exchange.whenClosed(undefined);
  }
}

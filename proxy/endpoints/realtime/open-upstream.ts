/**
 * Opens the upstream of a session: one target of the route after the other, as for every call (`dispatch-call.ts`), until
 * one accepts the WebSocket. Nothing has gone to the client by then, so that a target that refuses costs it nothing.
 */
import { oneRequestEstimate } from "#proxy/admit/estimate-cost";
import type { Caller } from "#proxy/dispatch/admitted-call";
import {
  type Attempted,
  type AttemptHooks,
  type DispatchedCall,
  dispatchCall,
  whileAllowed,
} from "#proxy/dispatch/dispatch-call";
import { failedAttempt } from "#proxy/dispatch/failed-attempt";
import { logFailedAttempt } from "#proxy/dispatch/log-failed-attempt";
import { sameFormatRefusal } from "#proxy/dispatch/upstream-refusal";
import { GatewayError } from "#proxy/errors";
import { classifyErrorReply } from "#proxy/formats/classify-error";
import { ClientGoneError } from "#proxy/http/read-body";
import { toHeaderObject } from "#proxy/http1/wire/header-values";
import { providerOf } from "#proxy/providers/providers";
import type { AttemptHistory } from "#proxy/route/attempt-history";
import { type SelectedTarget, selectTarget } from "#proxy/route/select-target";
import { upstreamModelOf } from "#proxy/route/upstream-model";
import type { StopReason } from "#proxy/upstream/attempt-outcome";
import {
  errorOfFailure,
  errorOfStop,
  labelOfError,
  labelOfFailure,
  noAvailableChannel,
} from "#proxy/upstream/describe-outcome";
import { buildSocketRequest } from "#proxy/upstream/request/build-upstream-request";
import type { UpstreamRequest } from "#proxy/upstream/upstream-exchange";
import { WebSocketAttempt, type WebSocketOutcome } from "#proxy/upstream/web-socket/web-socket-attempt";
import type { WebSocketConnection } from "#proxy/web-socket/web-socket";
import type { RoutedModel } from "./session/session-models.ts";
import type { SessionPlace } from "./session/session-place.ts";

export interface OpenedUpstream {
  /** No message is lost before the session listens. */
  readonly webSocket: WebSocketConnection;
  readonly selected: SelectedTarget;
}

export interface UpstreamQuestion {
  readonly caller: Caller;
  readonly routed: RoutedModel;
  readonly place: SessionPlace;
  /** Whether the model goes upstream in the query; a transcription names it in its first message. */
  readonly isConversation: boolean;
  /** Client headers that may go upstream, names in lower case. */
  readonly passedHeaders: Readonly<Record<string, string>>;
}

const formats = ["Realtime"] as const;

interface Prepared {
  readonly request: UpstreamRequest;
}

/** @throws GatewayError when no target accepted it */
export async function openUpstream(question: UpstreamQuestion): Promise<OpenedUpstream> {
  const { caller, routed, place } = question;
  const endpoint = { protocol: "OpenAI", capability: "Realtime" } as const;
  const call: DispatchedCall = {
    ...caller,
    route: routed.route,
    estimate: oneRequestEstimate,
    settlement: place.settlement,
    call: { model: routed.model, endpoint },
  };
  const result = await dispatchCall(call, new SocketAttempts(call, question));
  if (result instanceof GatewayError) throw result;
  return result.value;
}

class SocketAttempts implements AttemptHooks<Prepared, OpenedUpstream> {
  readonly #call: DispatchedCall;
  readonly #question: UpstreamQuestion;

  constructor(call: DispatchedCall, question: UpstreamQuestion) {
    this.#call = call;
    this.#question = question;
  }

  select(tried: AttemptHistory): SelectedTarget | undefined {
    const { route, snapshot, services, call } = this.#call;
    const { capability } = call.endpoint;
    return selectTarget({ route, model: call.model, capability, formats, snapshot, tried, random: services.random });
  }

  prepare(selected: SelectedTarget): Prepared | GatewayError {
    const { routed, isConversation, passedHeaders, caller } = this.#question;
    if (providerOf(selected.channel).sign !== undefined) return noAvailableChannel();
    const upstreamModel = upstreamModelOf({ ...selected, route: routed.route }, routed.model);
    const query = isConversation ? `model=${encodeURIComponent(upstreamModel)}` : "intent=transcription";
    const target = { ...selected, route: routed.route };
    return { request: buildSocketRequest(target, upstreamModel, query, passedHeaders, caller.services.limits) };
  }

  noTarget(): GatewayError {
    return noAvailableChannel();
  }

  async send(
    selected: SelectedTarget,
    _prepared: Prepared,
    request: UpstreamRequest,
  ): Promise<Attempted<OpenedUpstream>> {
    const { services, snapshot, record } = this.#call;
    const { channel } = selected;
    const attempt = new StoppableAttempt({
      origin: new URL(channel.baseURL).origin,
      path: request.path,
      headers: [...(request.fixedHeaders ?? []), ...request.headers],
      connect: (onRead) =>
        services.pools.openSocket(channel, snapshot.fleet.egressAllowCIDRs, request.connectTimeoutMs, onRead),
      connectTimeoutMs: request.connectTimeoutMs,
      replyTimeoutMs: request.timeouts.firstByteMs,
      messageBytesMax: services.limits.realtimeMessageBytesMax,
      headBytesMax: services.limits.upstreamHeaderBytesMax,
    });
    record.upstreamStarted();
    const outcome = await whileAllowed(this.#call, attempt, () => attempt.outcome);
    record.upstreamEnded();
    if (outcome.kind === "open") {
      services.metrics.attempt(selected.target.channel, "ok");
      services.credentials.accepted(selected.credential);
      return { value: { webSocket: outcome.webSocket, selected } };
    }
    return this.#failed(selected, outcome, attempt.stopped);
  }

  async #failed(
    selected: SelectedTarget,
    outcome: Exclude<WebSocketOutcome, { kind: "open" }>,
    stopped: StopReason | undefined,
  ): Promise<Attempted<OpenedUpstream>> {
    await this.#call.settlement.releaseChannel();
    const { metrics } = this.#call.services;
    const count = (label: Parameters<typeof metrics.attempt>[1]): void =>
      metrics.attempt(selected.target.channel, label);
    if (outcome.kind === "refused") {
      const { status, headers, body } = outcome;
      const error = classifyErrorReply(status, toHeaderObject(headers), body, this.#call.services.now());
      count(labelOfError(error));
      const failed = failedAttempt({ kind: "upstream-error", error, filter: undefined });
      return { failed: { ...failed, error: sameFormatRefusal(this.#call, selected, error) } };
    }
    if (outcome.kind === "failure") {
      const { failure } = outcome;
      count(labelOfFailure(failure));
      logFailedAttempt(this.#call, selected, failure);
      return {
        failed: { ...failedAttempt({ kind: "failure", failure, filter: undefined }), error: errorOfFailure(failure) },
      };
    }
    count("aborted");
    if (stopped === undefined || stopped === "client-left" || stopped === "slow-reader") throw new ClientGoneError();
    throw errorOfStop(stopped);
  }
}

/** An attempt that draining, revocation or its client's leaving stops. */
class StoppableAttempt extends WebSocketAttempt {
  stopped: StopReason | undefined;

  stop(reason: StopReason): void {
    this.stopped ??= reason;
    this.abort();
  }
}

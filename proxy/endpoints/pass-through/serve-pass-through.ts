/**
 * Serves a call that is passed on as it is: on each target that is tried, with the channel's credential in place of the
 * key, and settles it.
 *
 * Before the first byte a failed attempt may be followed by another, as the route says, and never where the upstream may
 * have carried out a call that changes something: nobody asked for it twice.
 */
import type { AdmittedCall } from "#proxy/dispatch/admitted-call";
import { concluded } from "#proxy/dispatch/conclude-attempt";
import {
  type Attempted,
  type AttemptHooks,
  type CallUpstream,
  dispatchCall,
  whileAllowed,
} from "#proxy/dispatch/dispatch-call";
import { failedAttempt } from "#proxy/dispatch/failed-attempt";
import { logFailedAttempt } from "#proxy/dispatch/log-failed-attempt";
import { upstreamRefusal } from "#proxy/dispatch/upstream-refusal";
import { GatewayError } from "#proxy/errors";
import type { ReplyReading, UpstreamError } from "#proxy/formats/format";
import { nothingProduced } from "#proxy/formats/stream/produced";
import { opaqueRequestHeaders } from "#proxy/http/header-rules";
import type { AttemptHistory } from "#proxy/route/attempt-history";
import { isServedNowhere, type SelectedTarget, type SelectionRequest, selectTarget } from "#proxy/route/select-target";
import { yieldToBatch } from "#proxy/runtime/request-batch";
import { WholeReplyFilter } from "#proxy/translate/whole-reply-filter";
import {
  errorOfFailure,
  errorOfStop,
  labelOfError,
  labelOfFailure,
  noAvailableChannel,
} from "#proxy/upstream/describe-outcome";
import { buildOpaqueRequest } from "#proxy/upstream/request/build-upstream-request";
import { secretsOf } from "#proxy/upstream/request/request-headers";
import type { UpstreamRequest } from "#proxy/upstream/upstream-exchange";
import { allowsPath } from "./allowed-paths.ts";
import { PassAttempt, type PassOutcome } from "./pass-attempt.ts";
import { type PassThroughCall, passedQuery } from "./read-pass-through.ts";

type Admitted = AdmittedCall<PassThroughCall>;

/** @throws GatewayError when no target replied; nothing has gone to the client then */
export async function servePassThrough(admitted: Admitted): Promise<void> {
  const result = await dispatchCall(admitted, new PassedAttempts(admitted));
  if (result instanceof GatewayError) throw result;
}

type ServedQuestion = Pick<SelectionRequest, "route" | "model" | "capability" | "formats" | "acceptsPath">;

/** What a target must be able to serve: one of its channel's paths is that of the call. */
function questionOf({ call, route }: Pick<Admitted, "call" | "route">): ServedQuestion {
  const { path } = call.endpoint;
  return {
    route,
    model: call.model,
    capability: "Passthrough",
    formats: ["Passthrough"],
    acceptsPath: (template) => allowsPath(template, path),
  };
}

/** Before anything is reserved. @throws GatewayError `unknown_url` for a path that no channel of the route names */
export function refuseUnknownPath(authorized: Pick<Admitted, "call" | "route" | "snapshot">): void {
  if (!isServedNowhere(questionOf(authorized), authorized.snapshot)) return;
  throw new GatewayError("unknown_url", "This path is not passed on. Ask whoever runs the gateway which paths are.");
}

interface PreparedPass {
  readonly request: UpstreamRequest;
}

class PassedAttempts implements AttemptHooks<PreparedPass, void> {
  readonly #admitted: Admitted;
  readonly #question: ServedQuestion;

  constructor(admitted: Admitted) {
    this.#admitted = admitted;
    this.#question = questionOf(admitted);
  }

  select(tried: AttemptHistory): SelectedTarget | undefined {
    const { snapshot, services } = this.#admitted;
    return selectTarget({ ...this.#question, snapshot, tried, random: services.random });
  }

  prepare(selected: SelectedTarget): PreparedPass {
    const { call, route, services, secret, passedHeaders, exchange } = this.#admitted;
    const { auth } = selected.channel;
    const { method, path } = call.endpoint;
    const query = passedQuery(call.query, secret, auth.location === "Query" ? auth.name : undefined);
    const headers = opaqueRequestHeaders(exchange.request.rawHeaders, passedHeaders, secret);
    const passed = { method, path, query, body: call.bytes };
    return { request: buildOpaqueRequest(passed, { ...selected, route }, headers, services.limits) };
  }

  noTarget(): GatewayError {
    return noAvailableChannel();
  }

  send(
    selected: SelectedTarget,
    _prepared: PreparedPass,
    request: UpstreamRequest,
    upstream: CallUpstream,
  ): Promise<Attempted<void>> {
    const { record, services, exchange, responseHeaders, call } = this.#admitted;
    const attempt = new PassAttempt(request, {
      response: exchange.response,
      responseHeaders,
      secrets: secretsOf(selected.channel, selected.credential),
      slowReaderTimeoutMs: services.limits.slowReaderTimeoutMs,
      readsUsage: call.endpoint.method === "POST",
      onPiece: () => record.pieceSent(),
    });
    return whileAllowed(this.#admitted, attempt, async () => {
      record.upstreamStarted();
      const outcome = await attempt.run(upstream, request);
      record.upstreamEnded();
      return this.#conclude(selected, attempt, outcome);
    });
  }

  async #conclude(selected: SelectedTarget, attempt: PassAttempt, outcome: PassOutcome): Promise<Attempted<void>> {
    const { services, settlement, record } = this.#admitted;
    const count = (label: Parameters<typeof services.metrics.attempt>[1]): void =>
      services.metrics.attempt(selected.target.channel, label);
    switch (outcome.kind) {
      case "passed":
        count("ok");
        services.credentials.accepted(selected.credential);
        await (settlement.settleReply(readingOf(attempt)) ?? yieldToBatch);
        record.status = attempt.status;
        attempt.finish();
        record.responseBytes = attempt.bytesWritten;
        return concluded;
      case "cut":
        count("cut");
        services.credentials.accepted(selected.credential);
        await this.#concludeCut(attempt, errorOfFailure(outcome.failure));
        return concluded;
      case "stopped":
        count("aborted");
        await this.#concludeStopped(attempt, outcome);
        return concluded;
      case "upstream-error":
        count(labelOfError(outcome.error));
        return this.#failed(outcome, this.#refusal(selected, outcome.error), mayHaveRun(outcome.error));
      case "failure":
        count(labelOfFailure(outcome.failure));
        logFailedAttempt(this.#admitted, selected, outcome.failure);
        return this.#failed(outcome, errorOfFailure(outcome.failure), outcome.failure.isSent);
      default:
        return outcome satisfies never;
    }
  }

  /** Another target may be asked, unless the upstream may have carried out what is not to be done twice. */
  async #failed(
    outcome: Extract<PassOutcome, { kind: "upstream-error" | "failure" }>,
    error: GatewayError,
    hasRun: boolean,
  ): Promise<Attempted<void>> {
    const { settlement, call } = this.#admitted;
    await settlement.releaseChannel();
    if (hasRun && call.endpoint.method !== "GET") throw error;
    return { failed: { ...failedAttempt(outcome), error } };
  }

  #refusal(selected: SelectedTarget, error: UpstreamError): GatewayError {
    const refusal = upstreamRefusal(this.#admitted, selected, error);
    if (error.status !== 404) return refusal;
    // Of a path, and not of a model.
    return new GatewayError("unknown_url", "The upstream has nothing at this path.", { cause: error });
  }

  async #concludeCut(attempt: PassAttempt, error: GatewayError): Promise<void> {
    const { record, services, settlement, exchange } = this.#admitted;
    record.status = attempt.status;
    record.responseBytes = attempt.bytesWritten;
    record.cut(error.code, error.code === "upstream_timeout" ? "sD" : "SD");
    const { requestId: request, channel } = record;
    services.log.warn("a reply that is passed on ended before it was complete", { request, channel, code: error.code });
    exchange.response.breakOff();
    await settlement.settleBroken(partOf(attempt));
  }

  async #concludeStopped(
    attempt: PassAttempt,
    { reason, isSent }: Extract<PassOutcome, { kind: "stopped" }>,
  ): Promise<void> {
    const { record, settlement, exchange } = this.#admitted;
    const { hasBegun } = attempt;
    record.status = hasBegun ? attempt.status : 0;
    record.responseBytes = attempt.bytesWritten;
    const settled = settlement.settleStopped(partOf(attempt), isSent);
    if (reason === "client-left" || reason === "slow-reader") {
      const who = reason === "client-left" ? "C" : "c";
      record.clientLeft(`${who}${hasBegun ? "D" : "H"}`);
      await settled;
      return;
    }
    const error = errorOfStop(reason);
    if (hasBegun) {
      record.cut(error.code, reason === "revoked" ? "KD" : "DD");
      exchange.response.breakOff();
    }
    await settled;
    if (!hasBegun) throw error;
  }
}

/** An upstream that is too busy to take a call, or has none of our credit, has not carried it out. */
function mayHaveRun({ status }: UpstreamError): boolean {
  return status >= 500 && status !== 503 && status !== 529;
}

function readingOf({ usage }: PassAttempt): ReplyReading {
  return { usage, error: undefined, produced: () => nothingProduced };
}

/** What a reply had reported when it ended early is charged. */
function partOf(attempt: PassAttempt): WholeReplyFilter | undefined {
  return attempt.usage === undefined ? undefined : new WholeReplyFilter(readingOf(attempt));
}

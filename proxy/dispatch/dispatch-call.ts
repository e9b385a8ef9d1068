/**
 * Runs the attempt loop: sends a call to the targets of its route, one after the other, until one has replied.
 *
 * Everything that goes upstream goes through here: chat calls, token counts, stored responses. For each attempt the
 * loop selects a target, prepares its request, reserves a place on its channel and sends the request. A failed attempt
 * may be followed by one with the former secret of the same credential, or on another target as the route's `failover`
 * says. Each endpoint decides how a request is prepared and what a reply means (`AttemptHooks`).
 */
import type { Estimate } from "#proxy/admit/estimate-cost";
import { GatewayError } from "#proxy/errors";
import type { Upstream } from "#proxy/http1/client/upstream";
import type { Exchange } from "#proxy/http1/server/exchange";
import type { RequestRecord } from "#proxy/observe/request-record";
import { providerOf } from "#proxy/providers/providers";
import { AttemptHistory } from "#proxy/route/attempt-history";
import { type FailedAttempt, mayFailOver } from "#proxy/route/failover";
import { withSecretInUse } from "#proxy/route/rotated-credentials";
import type { SelectedTarget } from "#proxy/route/select-target";
import { yieldToBatch } from "#proxy/runtime/request-batch";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import type { Channel, Route } from "#proxy/snapshot/types.gen";
import type { Attempt } from "#proxy/upstream/attempt";
import { errorOfFailure, noAvailableChannel } from "#proxy/upstream/describe-outcome";
import { SigningUpstream } from "#proxy/upstream/request/signing-upstream";
import { type UpstreamRequest, withinTotal } from "#proxy/upstream/upstream-exchange";
import type { ChannelSlot, Pending } from "./reservations/held-reservations.ts";
import type { RunningCall } from "./revocation/is-still-allowed.ts";
import { wasRevoked } from "./revocation/revocation.ts";
import type { Services } from "./services.ts";

/** The part of an admitted call that the loop needs. */
export interface DispatchedCall extends RunningCall {
  readonly exchange: Exchange;
  readonly services: Services;
  readonly snapshot: Snapshot;
  readonly route: Route;
  readonly record: RequestRecord;
  readonly estimate: Estimate;
  readonly settlement: {
    reserveChannel(channel: Channel, estimate: Estimate, requests?: number): ChannelSlot | Promise<ChannelSlot>;
    releaseChannel(): Pending;
  };
}

/** A failed attempt, with the client's error if it was the last. */
export interface Failed extends FailedAttempt {
  readonly error: GatewayError;
}

/** The outcome of one attempt. */
export type Attempted<Value> = { readonly value: Value } | { readonly failed: Failed };

/** Where requests for a call are sent. */
export type CallUpstream = Pick<Upstream, "send">;

export interface PreparedAttempt {
  readonly request: UpstreamRequest;
  /** How many requests the attempt takes; 1 when absent. */
  readonly requests?: number | undefined;
}

/** The steps that differ between endpoints that go upstream. */
export interface AttemptHooks<Prepared extends PreparedAttempt, Value> {
  /** The next target that was not tried; undefined when none is left. */
  select(tried: AttemptHistory): SelectedTarget | undefined;
  /** The request to a target, or the reason why it must not get the call: known before anything is reserved on its channel. */
  prepare(selected: SelectedTarget): Prepared | GatewayError | Promise<Prepared | GatewayError>;
  /**
   * Sends the request and settles or releases what was reserved for it.
   * @param request as prepared, with the time that is left for it
   * @throws GatewayError where no other target may be asked
   */
  send(
    selected: SelectedTarget,
    prepared: Prepared,
    request: UpstreamRequest,
    upstream: CallUpstream,
  ): Promise<Attempted<Value>>;
  /** The client's error where the route has no target for the call. */
  noTarget(): GatewayError;
}

/**
 * @returns the value of the attempt that succeeded; the error for the client when none did
 * @throws whatever `send` throws
 */
export async function dispatchCall<Prepared extends PreparedAttempt, Value>(
  call: DispatchedCall,
  hooks: AttemptHooks<Prepared, Value>,
): Promise<{ readonly value: Value } | GatewayError> {
  const { services, route, record, settlement } = call;
  const tried = new AttemptHistory();
  const startedMs = performance.now();
  let lastError: GatewayError | undefined;
  /** To be asked once more, with the former secret of its credential; such attempts are none of the route's. */
  let again: SelectedTarget | undefined;
  let extraAttempts = 0;
  while (true) {
    const chosen = again ?? hooks.select(tried);
    if (chosen === undefined) {
      if (tried.reopen()) continue;
      return lastError ?? hooks.noTarget();
    }
    again = undefined;
    const selected = withSecretInUse(chosen, services.credentials, true);
    tried.addTarget(selected.target.name);
    const preparing = hooks.prepare(selected);
    const prepared = preparing instanceof Promise ? await preparing : preparing;
    if (prepared instanceof GatewayError) {
      lastError ??= prepared;
      continue;
    }
    const request = withinTotal(prepared.request, performance.now() - startedMs);
    if (request === undefined) return lastError ?? totalTimeout();
    await yieldToBatch;
    const slot = settlement.reserveChannel(selected.channel, call.estimate, prepared.requests);
    if ((slot instanceof Promise ? await slot : slot) === "full") {
      // Reported where no other target replies: another try may find room, also where the call can go nowhere else.
      lastError ??= noAvailableChannel();
      continue;
    }
    record.attempts += 1;
    record.channel = selected.target.channel;
    const upstream = upstreamOf(call, selected);
    const attempted =
      upstream instanceof GatewayError
        ? { failed: await unreachable(call, upstream) }
        : await hooks.send(selected, prepared, request, upstream);
    if ("value" in attempted) return attempted;
    const { failed } = attempted;
    lastError = failed.error;
    if (isRefusedBesideFormer(failed, selected, services)) {
      again = chosen;
      extraAttempts += 1;
      continue;
    }
    const attempts = record.attempts - extraAttempts;
    if (!mayFailOver(route, failed, attempts, performance.now() - startedMs)) return lastError;
    const attemptsLeft = route.failover.maxAttempts - attempts;
    tried.addFailure(selected.target.name, selected.credential?.name, failed.condition, attemptsLeft);
  }
}

/**
 * Runs one attempt, which its client's leaving, the revocation of its key and the gateway's own end stop.
 * @param run starts the attempt and concludes it
 */
export async function whileAllowed<Result>(
  call: DispatchedCall,
  attempt: Pick<Attempt, "stop">,
  run: () => Promise<Result>,
): Promise<Result> {
  const { exchange, services } = call;
  exchange.whenClosed(() => attempt.stop("client-left"));
  const open = services.openAttempts.add(attempt, call);
  try {
    if (exchange.response.destroyed) attempt.stop("client-left");
    else if (wasRevoked(call)) attempt.stop("revoked");
    return await run();
  } finally {
    services.openAttempts.delete(open);
    exchange.whenClosed(undefined);
  }
}

/** A proxy address that the egress policy refuses, or that is none: the channel cannot be reached. */
function upstreamOf({ services, snapshot }: DispatchedCall, selected: SelectedTarget): CallUpstream | GatewayError {
  const { channel, credential } = selected;
  const { sign } = providerOf(channel);
  try {
    const upstream = services.pools.upstreamFor(channel, snapshot.fleet.egressAllowCIDRs);
    if (sign === undefined || credential === undefined) return upstream;
    const { origin } = new URL(channel.baseURL);
    return new SigningUpstream(upstream, { sign, secret: credential.secret, origin, now: services.now });
  } catch (cause) {
    return errorOfFailure({ kind: "egress", isSent: false, cause });
  }
}

async function unreachable({ settlement }: DispatchedCall, error: GatewayError): Promise<Failed> {
  await settlement.releaseChannel();
  return { condition: "ConnectFailure", status: undefined, error };
}

function totalTimeout(): GatewayError {
  return errorOfFailure({ kind: "total-timeout", isSent: false, cause: undefined });
}

/** The provider refuses a new secret: the former one is asked at once, whatever the route says of failover. */
function isRefusedBesideFormer(
  { condition, status }: Failed,
  { credential }: SelectedTarget,
  { credentials }: Services,
): boolean {
  return condition === "CredentialRejected" && credential !== undefined && credentials.refused(credential, status);
}

/**
 * Serves a stored response: reads it, deletes it, or lists its input (docs/design/responses.md 7).
 *
 * Only the key that made a response finds it. A response that the gateway stores is served from its store. One that a
 * provider stores is requested from the channel and credential that made it, and costs one request of the caller's
 * limits and of the channel's. `handle-request.ts` calls this with key and address already checked.
 */

import { oneRequestEstimate } from "#proxy/admit/estimate-cost";
import { oneRequestAmounts } from "#proxy/admit/ledger";
import { authorizeKept } from "#proxy/authorize/decide";
import type { Caller } from "#proxy/dispatch/admitted-call";
import { type AttemptHooks, type DispatchedCall, dispatchCall, whileAllowed } from "#proxy/dispatch/dispatch-call";
import { ownerOf } from "#proxy/dispatch/references/resolve-call";
import { HeldReservations } from "#proxy/dispatch/reservations/held-reservations";
import { reserveOneRequest } from "#proxy/dispatch/reservations/reserve-request";
import type { RunningCall } from "#proxy/dispatch/revocation/is-still-allowed";
import { refuseRevoked } from "#proxy/dispatch/revocation/revocation";
import type { Match } from "#proxy/endpoints/endpoint";
import { GatewayError } from "#proxy/errors";
import { queryValues } from "#proxy/http/query-values";
import { ClientGoneError } from "#proxy/http/read-body";
import { HeldResponses } from "#proxy/responses-state/held-responses";
import { deletedResponse, listInputItems } from "#proxy/responses-state/list-items";
import { findResponse, storedNotFound } from "#proxy/responses-state/resolve-references";
import type { LocalResponse, NativeResponse, StoredResponse } from "#proxy/responses-state/stored-response";
import { AttemptHistory } from "#proxy/route/attempt-history";
import { chatFormatsFor } from "#proxy/route/chat-formats";
import { type SelectedTarget, selectTarget } from "#proxy/route/select-target";
import { upstreamModelOf } from "#proxy/route/upstream-model";
import type { Route } from "#proxy/snapshot/types.gen";
import { endResponse, holdsResponse } from "#proxy/upstream/client/end-response";
import { HeldReply } from "#proxy/upstream/reply/held-reply";
import type { UpstreamRequest } from "#proxy/upstream/upstream-exchange";
import { StoredAttempt, type StoredQuestion, storedRequest } from "./stored-attempt.ts";

export interface StoredResponseMatch extends Match {
  readonly protocol: "OpenAI";
  readonly action: "read" | "delete" | "list-input";
  /** As in the path: letters, digits, `_` and `-`. */
  readonly responseId: string;
}

/** @throws GatewayError 404 for what is not the caller's, whether or not it exists; 403 for a model it may not use */
export async function serveStoredResponse(caller: Caller, endpoint: StoredResponseMatch): Promise<void> {
  const { exchange, services, found, record } = caller;
  const { responseId } = endpoint;
  const query = (name: string): string | undefined => queryValues(exchange.request.url, name)[0];
  if (query("stream") === "true") {
    throw new GatewayError("unsupported_parameter", "A stored response cannot be streamed.", {
      param: "stream",
    });
  }
  const kept = new HeldResponses(services.responses, caller.inFlightBytes, services.limits.jsonBodyBytesMax);
  const held = new HeldReply(caller.inFlightBytes);
  const release = (): void => {
    kept.release();
    held.release();
  };
  try {
    const stored = await findResponse(ownerOf(found), responseId, kept);
    const call = { model: stored.model, endpoint: { protocol: endpoint.protocol, capability: "Chat" as const } };
    const storedCaller = { ...caller, call, held };
    refuseRevoked(storedCaller); //                                                                                 401
    const body = await loadBody(storedCaller, endpoint, stored, query);
    refuseRevoked(storedCaller);
    record.status = 200;
    record.responseBytes = body.length;
    const { requestId } = record;
    const headers = ["content-type", "application/json", "x-request-id", requestId, "request-id", requestId];
    exchange.response.writeHead(200, headers, body.length);
    endResponse(exchange.response, body);
  } finally {
    // What a slow client has yet to take counts until it has.
    const { response } = exchange;
    if (holdsResponse(response)) response.once("close", release);
    else release();
  }
}

interface StoredCaller extends Caller, RunningCall {
  /** Counts the bytes of a provider's reply. */
  readonly held: HeldReply;
}

type Query = (name: string) => string | undefined;

/** Reads it from the gateway's store or from the provider that keeps it. */
async function loadBody(
  caller: StoredCaller,
  endpoint: StoredResponseMatch,
  stored: StoredResponse,
  query: Query,
): Promise<Buffer> {
  const { found, snapshot, record } = caller;
  record.model = stored.model;
  // docs/design/interface.md 5 makes no exception for what was made before the restriction, nor for deleting it:
  // whoever restricts a key takes its hands off the model. What is kept lapses by itself, and is there again with the
  // leave.
  const route = authorizeKept({
    key: found.key,
    snapshot,
    protocol: endpoint.protocol,
    capability: "Chat",
    model: stored.model,
  });
  if (route !== undefined) record.route = `${route.namespace}/${route.name}`;
  if (stored.kind === "native") return requestFromProvider(caller, route, endpoint, stored, query);
  return Buffer.from(JSON.stringify(await readLocalResponse(caller, endpoint, stored, query)));
}

async function readLocalResponse(
  { services, found }: Caller,
  { action }: StoredResponseMatch,
  stored: LocalResponse,
  query: Query,
): Promise<unknown> {
  services.keyUses.note(found.key, true, services.now());
  if (action === "read") return stored.response;
  if (action === "list-input") {
    return listInputItems(stored, { limit: query("limit"), order: query("order"), after: query("after") });
  }
  await services.responses.remove(ownerOf(found), stored.id);
  return deletedResponse(stored.id);
}

async function requestFromProvider(
  caller: StoredCaller,
  route: Route | undefined,
  endpoint: StoredResponseMatch,
  stored: NativeResponse,
  query: Query,
): Promise<Buffer> {
  const { services, found, record } = caller;
  if (route === undefined || keeperOf(stored, route, caller, new AttemptHistory()) === undefined) {
    throw storedNotFound(stored.id);
  }
  await reserveOneRequest(caller, route, stored.model);
  const held = new HeldReservations(record.requestId, services);
  try {
    const settlement: DispatchedCall["settlement"] = {
      reserveChannel: (channel, { amounts }) => held.reserveChannel(channel, route, stored.model, amounts),
      releaseChannel: () => held.settleChannel(oneRequestAmounts),
    };
    const call: DispatchedCall = { ...caller, route, estimate: oneRequestEstimate, settlement };
    const question = { action: endpoint.action, id: stored.id, query: pageQuery(query) };
    const result = await dispatchCall(call, hooksOf(caller, call, stored, question));
    if (result instanceof GatewayError) throw result;
    if (endpoint.action === "delete") await services.responses.remove(ownerOf(found), stored.id);
    return result.value;
  } finally {
    // Not before the provider has replied: what runs counts among the requests in flight.
    await held.release(record.attempts > 0);
  }
}

interface PreparedQuestion {
  readonly request: UpstreamRequest;
}

/** Only the target that keeps it can serve it: after a failure there is none left. */
function hooksOf(
  caller: StoredCaller,
  call: DispatchedCall,
  stored: NativeResponse,
  asked: Omit<StoredQuestion, "path">,
): AttemptHooks<PreparedQuestion, Buffer> {
  const { services, record, held } = caller;
  const { route } = call;
  const { limits } = services;
  return {
    select: (tried) => keeperOf(stored, route, caller, tried),
    prepare: (selected) => {
      refuseRevoked(caller);
      // A client that left meanwhile pays for no request: none is sent.
      if (caller.exchange.response.destroyed) throw new ClientGoneError();
      return { request: storedRequest({ ...asked, path: selected.path }, { ...selected, route }, limits) };
    },
    send: (selected, _prepared, request, upstream) => {
      const attempt = new StoredAttempt({ ...asked, path: selected.path }, selected, {
        upstream,
        limits,
        requestId: record.requestId,
        model: stored.model,
        upstreamModel: upstreamModelOf({ ...selected, route }, stored.model),
        held,
      });
      return whileAllowed(call, attempt, async () => {
        record.upstreamStarted();
        const attempted = await attempt.run(request);
        record.upstreamEnded();
        if ("value" in attempted) services.credentials.accepted(selected.credential);
        return attempted;
      });
    },
    noTarget: () => storedNotFound(stored.id),
  };
}

/**
 * The target that a call which goes on from it would be bound to: where the route leads elsewhere by now, or the
 * channel no longer admits its namespace, the leave to use it has ended for what was made before as well. A draining
 * channel or credential takes nothing new (docs/design/responses.md 7), and asking for what it made is new: it is to
 * become idle.
 */
function keeperOf(
  { channel, credential, model }: NativeResponse,
  route: Route,
  { services, snapshot }: Caller,
  tried: AttemptHistory,
): SelectedTarget | undefined {
  const { random } = services;
  const call = { route, model, capability: "Chat", formats: chatFormatsFor("Responses") } as const;
  return selectTarget({ ...call, snapshot, tried, affinity: { channel, credential }, random });
}

/** Members of a page's query that go on, as far as they look like what they are. */
function pageQuery(query: Query): string {
  return ["limit", "order", "after"]
    .flatMap((name) => {
      const value = query(name);
      return value !== undefined && /^[\w-]{1,256}$/.test(value) ? [`${name}=${value}`] : [];
    })
    .join("&");
}

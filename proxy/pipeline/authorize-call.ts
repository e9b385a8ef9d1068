/**
 * Checks that a key may make a call, finds the route that serves it, and adds the earlier conversation that it refers
 * to.
 */
import { authorizeKept, authorizeModel } from "#proxy/authorize/decide";
import type { AuthorizedCall, AuthorizedChat, Caller } from "#proxy/dispatch/admitted-call";
import { authenticateAgain } from "#proxy/dispatch/live-caller";
import { ownerOf, resolveCall } from "#proxy/dispatch/references/resolve-call";
import type { ModelEndpoint } from "#proxy/endpoints/endpoint";
import type { ModelCall } from "#proxy/formats/model-call";
import { clientFormats } from "#proxy/formats/registry";
import { forwardableHeaders } from "#proxy/http/header-rules";
import { ClientGoneError } from "#proxy/http/read-body";
import { authorizedResponses } from "#proxy/responses-state/authorized-responses";
import { HeldResponses } from "#proxy/responses-state/held-responses";
import type { Route } from "#proxy/snapshot/types.gen";

/** @throws GatewayError 400, 403, 404 */
export function authorizeCall(caller: Caller, endpoint: ModelEndpoint, call: ModelCall): AuthorizedCall {
  const { snapshot, found, record, exchange } = caller;
  record.model = call.model;
  record.isStream = call.stream;
  const { protocol, capability } = call.endpoint;
  const route = authorizeModel({ key: found.key, snapshot, protocol, capability, model: call.model }); // 403 404
  record.route = nameOf(route);
  endpoint.checkParameters(call, route); //                                                                   400
  const passedHeaders = forwardableHeaders(protocol, exchange.request.rawHeaders); //                            400
  record.traceparent = passedHeaders["traceparent"];
  return { ...caller, call, route, passedHeaders };
}

/** A call with its earlier conversation, and the bytes acquired for that: to be released with its body. */
export interface ResolvedAuthorizedCall {
  readonly authorized: AuthorizedChat;
  readonly conversationBytes: number;
}

/**
 * With what the call goes on from, so that what is reserved covers it all; one call of a key after the other. Its turn
 * may take long to come: where the configuration has changed meanwhile, the call is authorised again by what holds now.
 */
export function withReferences(
  read: AuthorizedChat,
  caller: Caller,
  endpoint: ModelEndpoint,
): Promise<ResolvedAuthorizedCall> {
  const { exchange, services, call } = read;
  return services.conversationMutex.run(ownerOf(caller.found), async () => {
    if (exchange.response.destroyed) throw new ClientGoneError(undefined);
    const live = authenticateAgain(caller);
    return resolveHeld(live === caller ? read : { ...read, ...authorizeCall(live, endpoint, call), call });
  });
}

async function resolveHeld(read: AuthorizedChat): Promise<ResolvedAuthorizedCall> {
  const { call, found, snapshot, services, inFlightBytes } = read;
  const format = clientFormats[call.endpoint.format];
  const { protocol, capability } = call.endpoint;
  const { limits } = services;
  const held = new HeldResponses(services.responses, inFlightBytes, limits.jsonBodyBytesMax);
  const responses = authorizedResponses(held, (model) => {
    authorizeKept({ key: found.key, snapshot, protocol, capability, model }); //                                403
  });
  let authorized: AuthorizedChat;
  try {
    authorized = { ...read, ...(await resolveCall(call, format, ownerOf(found), { responses, limits })) };
  } finally {
    held.release();
  }
  return { authorized, conversationBytes: holdConversation(read, authorized) };
}

/** The earlier conversation of a call counts as its body does. @returns bytes acquired, to be released with it */
function holdConversation(read: AuthorizedChat, { call, inFlightBytes }: AuthorizedChat): number {
  if (call.body.bytes === read.call.body.bytes) return 0;
  inFlightBytes.acquire(call.body.bytes.length);
  return call.body.bytes.length;
}

const routeNames = new WeakMap<Route, string>();

/** `namespace/name`, one string for each route: what counts by it need not look into it. */
function nameOf(route: Route): string {
  let name = routeNames.get(route);
  if (name === undefined) {
    name = `${route.namespace}/${route.name}`;
    routeNames.set(route, name);
  }
  return name;
}

/**
 * Serves one realtime session, from the handshake to its end.
 *
 * All that can be refused is refused with an HTTP status, before the client's WebSocket is accepted: the key, the model, the
 * quota, and an upstream that does not accept the session. What happens afterwards is told in events
 * (`session/endings.ts`).
 */
import type { Caller } from "#proxy/dispatch/admitted-call";
import { authenticateAgain } from "#proxy/dispatch/live-caller";
import { forwardableHeaders } from "#proxy/http/header-rules";
import { ClientGoneError } from "#proxy/http/read-body";
import { headerValues } from "#proxy/http1/wire/header-values";
import { errorOfStop } from "#proxy/upstream/describe-outcome";
import { acceptWebSocket } from "./accept-web-socket.ts";
import { readHandshake } from "./handshake.ts";
import { type OpenedUpstream, openUpstream } from "./open-upstream.ts";
import { RealtimeSession, type UpstreamSide } from "./session/realtime-session.ts";
import { authorizeRealtime, type RoutedModel } from "./session/session-models.ts";
import { SessionPlace } from "./session/session-place.ts";
import { SessionRules } from "./session/session-rules.ts";
import type { SessionEffects } from "./session/session-state.ts";

/** @throws GatewayError while the WebSocket is not accepted */
export async function serveRealtime(caller: Caller): Promise<void> {
  const { exchange, services, record } = caller;
  const handshake = readHandshake(exchange.request); //                                                          400
  if (services.openSessions.isDraining) throw errorOfStop("shutting-down"); //                                   503
  const { asked } = handshake;
  record.isStream = true;
  const opened = asked.kind === "conversation" ? await open(caller, asked.model, true) : undefined; //  403 404 429 5xx
  /** Of the upstream that is open, if there is one. */
  let place = opened?.place;
  try {
    // What the upstream says meanwhile waits until the session listens.
    const client = acceptWebSocket(exchange, handshake, record.requestId, services.limits);
    if (client === undefined) {
      opened?.webSocket.terminate();
      throw new ClientGoneError();
    }
    const session = new RealtimeSession({
      caller,
      client,
      open: async (model, effects) => {
        const late = await open(authenticateAgain(caller), model, false);
        place = late.place;
        return sideOf(caller, late, false, effects);
      },
    });
    await session.run(opened === undefined ? undefined : sideOf(caller, opened, true, session));
  } finally {
    await place?.release();
  }
}

interface Opened extends OpenedUpstream {
  readonly place: SessionPlace;
  readonly routed: RoutedModel;
}

/** @throws GatewayError with nothing held */
async function open(caller: Caller, model: string, isConversation: boolean): Promise<Opened> {
  const { record, exchange } = caller;
  record.model = model;
  const route = authorizeRealtime(caller, model); //                                                        400 403 404
  record.route = `${route.namespace}/${route.name}`;
  const passedHeaders = readPassedHeaders(exchange.request.rawHeaders);
  record.traceparent = passedHeaders["traceparent"];
  const routed = { model, route };
  const place = await SessionPlace.reserve(caller, routed); //                                                  429 503
  try {
    const upstream = await openUpstream({ caller, routed, place, isConversation, passedHeaders }); //               5xx
    return { ...upstream, place, routed };
  } catch (error) {
    await place.release();
    throw error;
  }
}

function sideOf(
  caller: Caller,
  { webSocket, selected, routed }: Opened,
  isConversation: boolean,
  effects: SessionEffects,
): UpstreamSide {
  return { webSocket, rules: new SessionRules({ caller, selected, opened: routed, isConversation, effects }) };
}

/** Names a version of the events; a list of tokens, so that nothing else can stand in it. */
const betaForm = /^[A-Za-z0-9_.=, -]{1,256}$/;

/** Those that every call may pass, and the version that clients of the beta interface ask for. */
function readPassedHeaders(rawHeaders: readonly string[]): Readonly<Record<string, string>> {
  const passed = forwardableHeaders("OpenAI", rawHeaders);
  const [beta, ...more] = headerValues(rawHeaders, "openai-beta");
  if (beta === undefined || more.length > 0 || !betaForm.test(beta)) return passed;
  return { ...passed, "openai-beta": beta };
}

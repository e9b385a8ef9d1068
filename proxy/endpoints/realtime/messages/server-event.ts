/**
 * Events that the gateway sends itself, and those of an upstream that it changes before the client gets them (PURE).
 *
 * The client sees its own names of models, and nothing of the account behind the channel.
 */
import type { GatewayError } from "#proxy/errors";
import { classifyErrorEvent } from "#proxy/formats/classify-error";
import { type ClientErrorContext, cleanUpstreamText, toClientError } from "#proxy/formats/client-error";
import { errorObject } from "#proxy/formats/render-error";
import { isObject, type JsonObject, member, memberAt } from "#proxy/json/json-value";

/** Public name by the name that the upstream knows. */
export type PublicNames = ReadonlyMap<string, string>;

/**
 * @param eventId id of this event
 * @param about id of the client's message that it is about
 */
export function errorEvent(error: GatewayError, requestId: string, eventId: string, about: string | undefined): string {
  const told = errorMembers(error, requestId);
  return JSON.stringify({
    type: "error",
    event_id: eventId,
    error: about === undefined ? told : { ...told, event_id: about },
  });
}

/** What a client of a transcription is told before an upstream is known: it may wait for this before it says anything. */
export function transcriptionCreated(requestId: string, eventId: string): string {
  return JSON.stringify({
    type: "session.created",
    event_id: eventId,
    session: { object: "realtime.transcription_session", id: `sess_${requestId}`, type: "transcription" },
  });
}

export function cancelEvent(responseId: string | undefined): string {
  return JSON.stringify({ type: "response.cancel", ...(responseId === undefined ? {} : { response_id: responseId }) });
}

/**
 * `session.created` and `session.updated`, with the client's names of the models.
 * @param conversation the model that the session was opened for, whatever the upstream calls it now; undefined: it has none
 */
export function withPublicNames(event: JsonObject, names: PublicNames, conversation: string | undefined): JsonObject {
  const { session } = event;
  if (!isObject(session)) return event;
  const renamed: Record<string, unknown> = { ...session };
  const publicName = (name: unknown): unknown => (typeof name === "string" ? (names.get(name) ?? name) : name);
  if (Object.hasOwn(session, "model")) renamed["model"] = conversation ?? publicName(session["model"]);
  const beta = session["input_audio_transcription"];
  if (isObject(beta)) renamed["input_audio_transcription"] = { ...beta, model: publicName(beta["model"]) };
  const { audio } = session;
  const transcription = memberAt(audio, "input", "transcription");
  if (isObject(audio) && isObject(audio["input"]) && isObject(transcription)) {
    const input = { ...audio["input"], transcription: { ...transcription, model: publicName(transcription["model"]) } };
    renamed["audio"] = { ...audio, input };
  }
  return { ...event, session: renamed };
}

/** An error as the client is told it. */
export interface CleanError {
  readonly event: JsonObject;
  readonly error: GatewayError;
  /** It concerns the channel, its credential or its account, and none of the client's. */
  readonly isChannelAtFault: boolean;
}

/**
 * An upstream's `error` event as the client may see it: its own words where the client can act on them, and those of the
 * gateway for what concerns the channel (docs/design/errors.md 5).
 */
export function cleanErrorEvent(event: JsonObject, context: ClientErrorContext): CleanError {
  const told = isObject(event["error"]) ? event["error"] : {};
  const { error, words } = cleanWords(event, told, context);
  const about = member(told, "event_id");
  return {
    event: {
      type: "error",
      event_id: event["event_id"],
      error: typeof about === "string" ? { ...words, event_id: about } : words,
    },
    error,
    isChannelAtFault: error.code === "channel_refused",
  };
}

/**
 * `response.done` of a response that failed: why it did is an error like any other.
 * @returns undefined where it tells no error: it passes as it came
 */
export function cleanFailedResponse(event: JsonObject, context: ClientErrorContext): JsonObject | undefined {
  const { response } = event;
  const details = member(response, "status_details");
  const told = member(details, "error");
  if (!isObject(response) || !isObject(details) || !isObject(told)) return undefined;
  const { words } = cleanWords({ type: "error", error: told }, told, context);
  return { ...event, response: { ...response, status_details: { ...details, error: words } } };
}

/** `conversation.item.input_audio_transcription.failed`. @returns undefined where it tells no error */
export function cleanFailedTranscription(event: JsonObject, context: ClientErrorContext): JsonObject | undefined {
  const told = event["error"];
  if (!isObject(told)) return undefined;
  return { ...event, error: cleanWords({ type: "error", error: told }, told, context).words };
}

/** @param event with the error where an `error` event has it @param told that error */
function cleanWords(
  event: JsonObject,
  told: JsonObject,
  context: ClientErrorContext,
): { readonly error: GatewayError; readonly words: JsonObject } {
  const upstream = classifyErrorEvent(event);
  const error = toClientError(upstream, context);
  const mayPass = upstream.kind === "bad_request" || upstream.kind === "context_length" || upstream.kind === "policy";
  const words = mayPass
    ? ownWords(told, cleanUpstreamText(upstream.message, context))
    : errorMembers(error, context.requestId);
  return { error, words };
}

/** Errors that are the client's own to mend keep their type and code: clients act on them. */
function ownWords(error: JsonObject, message: string): JsonObject {
  const word = (name: string): string | null => {
    const value = error[name];
    return typeof value === "string" && /^[\w.[\]-]{1,200}$/.test(value) ? value : null;
  };
  return { type: word("type") ?? "invalid_request_error", code: word("code"), message, param: word("param") };
}

function errorMembers(error: GatewayError, requestId: string): JsonObject {
  const body = errorObject(error, "OpenAI", { requestId });
  return isObject(body) && isObject(body["error"]) ? body["error"] : {};
}

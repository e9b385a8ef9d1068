/**
 * Says what becomes of each message of a session: it passes as it came, edited, or not at all; and what follows from it for
 * the calls that are charged.
 *
 * Knows no socket. The session (`realtime-session.ts`) sends what this returns and does what it asks for.
 */

import type { Caller } from "#proxy/dispatch/admitted-call";
import { authenticateAgain } from "#proxy/dispatch/live-caller";
import {
  type ClientMessage,
  editMessage,
  endsTranscription,
  namedModels,
  outputCapOf,
  readClientMessage,
  refuseUpstreamObjects,
} from "#proxy/endpoints/realtime/messages/client-message";
import { plainAudioLength, typeAtStart } from "#proxy/endpoints/realtime/messages/message-type";
import { cancelEvent, cleanErrorEvent, withPublicNames } from "#proxy/endpoints/realtime/messages/server-event";
import {
  CallsInFlight,
  type CallTerms,
  inputFormatOf,
  outputFormatOf,
} from "#proxy/endpoints/realtime/usage/calls-in-flight";
import { audioBytesPerSecond, ConversationSize } from "#proxy/endpoints/realtime/usage/conversation-size";
import { isDelta } from "#proxy/endpoints/realtime/usage/produced-output";
import { ResponseReservation } from "#proxy/endpoints/realtime/usage/response-reservation";
import { GatewayError } from "#proxy/errors";
import { cleanUpstreamText } from "#proxy/formats/client-error";
import { isObject, type JsonObject, member, parseJson } from "#proxy/json/json-value";
import type { SelectedTarget } from "#proxy/route/select-target";
import { upstreamModelOf } from "#proxy/route/upstream-model";
import { secretsOf } from "#proxy/upstream/request/request-headers";
import { authorizeRealtime, type RoutedModel, SessionModels } from "./session-models.ts";
import type { SessionPlace } from "./session-place.ts";

/** What a message of the client's comes to. */
export type ClientVerdict =
  /** It goes upstream as it came. */
  | "pass"
  | { readonly forward: Buffer }
  /** The client is told, and the message goes nowhere. @param about id of the message */
  | { readonly refusal: GatewayError; readonly about: string | undefined };

/** What a message of the upstream's comes to. */
export type UpstreamVerdict =
  /** It goes to the client as it came. */
  | "pass"
  | "drop"
  /** It is no message of the protocol. */
  | "invalid"
  | { readonly event: string };

/** What the rules ask of the session. */
export interface SessionEffects {
  toUpstream(message: string): void;
  /** The upstream began something that it must not: the client is told why, and the session may end. */
  refused(error: GatewayError): void;
  /** A call has ended: nothing may run any more. */
  settled(): void;
  /** Our own code failed. */
  failed(error: unknown): void;
}

export interface SessionContext {
  readonly caller: Caller;
  readonly selected: SelectedTarget;
  /** Of the model that the session was opened for. */
  readonly opened: RoutedModel;
  readonly isConversation: boolean;
  readonly place: SessionPlace;
  readonly effects: SessionEffects;
}

export class SessionRules {
  readonly models: SessionModels;
  readonly calls: CallsInFlight;
  readonly #context: SessionContext;
  readonly #size = new ConversationSize();
  readonly #running = new Set<Promise<void>>();
  #outputCap: number | undefined;
  #count = 0;
  /** The upstream told an error that concerns the channel: what it closes with is no matter of the client. */
  isChannelAtFault = false;

  constructor(context: SessionContext) {
    const { caller, selected, opened, isConversation } = context;
    this.#context = context;
    this.models = new SessionModels(selected, isConversation ? opened : undefined);
    this.calls = new CallsInFlight(this.#size, caller.services.estimateTokens);
  }

  /**
   * A promise only for a message that must be reserved first.
   * @param bytes not kept @param ending why no response may begin any more
   */
  ofClient(bytes: Buffer, ending: GatewayError | undefined): ClientVerdict | Promise<ClientVerdict> {
    const audioLength = plainAudioLength(bytes);
    if (audioLength !== undefined) {
      this.#size.addAudio(audioLength);
      return "pass";
    }
    let message: ClientMessage | undefined;
    try {
      message = readClientMessage(bytes, this.#bounds());
      return this.#judge(message, ending);
    } catch (error) {
      if (error instanceof GatewayError) return { refusal: error, about: message?.eventId };
      throw error;
    }
  }

  #bounds(): { depthMax: number; keysMax: number } {
    const { jsonDepthMax: depthMax, jsonKeysMax: keysMax } = this.#context.caller.services.limits;
    return { depthMax, keysMax };
  }

  #judge(message: ClientMessage, ending: GatewayError | undefined): ClientVerdict | Promise<ClientVerdict> {
    const { channel } = this.#context.selected;
    refuseUpstreamObjects(message, channel);
    const named = namedModels(message);
    const asksForResponse = message.type === "response.create";
    if (asksForResponse && ending !== undefined) return { refusal: ending, about: message.eventId };
    const caller = named.length > 0 || asksForResponse ? authenticateAgain(this.#context.caller) : this.#context.caller;
    const models = named.length === 0 ? [] : this.models.resolve(named, caller);
    if (endsTranscription(message)) this.models.stopTranscribing();
    this.#follow(message);
    if (!asksForResponse) return models.length === 0 ? "pass" : { forward: editMessage(message, { models }) };
    const eventId = message.eventId ?? this.#nextId();
    const dropsMetadata = channel.privacy.clientMetadata === "Strip";
    return this.#reserved(message, eventId, editMessage(message, { models, eventId, dropsMetadata }));
  }

  async #reserved(message: ClientMessage, eventId: string, forward: Buffer): Promise<ClientVerdict> {
    const { conversation } = this.models;
    if (conversation === undefined) {
      return {
        refusal: new GatewayError("invalid_value", "A transcription session makes no responses.", { param: "type" }),
        about: eventId,
      };
    }
    const { terms, refusal } = this.#terms(conversation);
    if (refusal !== undefined) return { refusal, about: eventId };
    const own = outputCapOf(message, "response");
    const refused = await this.calls.ask(eventId, own === "none" ? undefined : (own ?? this.#outputCap), terms);
    return refused === undefined ? { forward } : { refusal: refused, about: eventId };
  }

  /** What the message adds to what the model reads. */
  #follow(message: ClientMessage): void {
    const { body } = message;
    switch (message.type) {
      case "session.update":
      case "transcription_session.update": {
        this.#size.setSession(body.textBytes + body.keyBytes);
        const cap = outputCapOf(message, "session");
        if (cap !== undefined) this.#outputCap = cap === "none" ? undefined : cap;
        break;
      }
      case "input_audio_buffer.append":
        this.#size.addAudio(body.stringBytes);
        break;
      default:
        this.#size.addText(body.textBytes);
        if (body.dataBytes === 0) break;
        if (body.bytes.includes('"input_image"')) this.#size.addImage();
        else this.#size.addAudio(body.dataBytes);
    }
  }

  /** @param bytes not kept */
  ofUpstream(bytes: Buffer): UpstreamVerdict {
    const type = typeAtStart(bytes);
    if (type !== undefined && isDelta(type)) {
      this.calls.produced(type, bytes);
      return "pass";
    }
    if (type !== undefined && !watched.has(type)) return "pass";
    const event = parseJson(bytes.toString());
    if (!isObject(event) || typeof event["type"] !== "string") return "invalid";
    return this.#watch(event["type"], event, bytes);
  }

  #watch(type: string, event: JsonObject, bytes: Buffer): UpstreamVerdict {
    switch (type) {
      case "session.created":
      case "transcription_session.created":
        // The client of a transcription was told before there was an upstream.
        return this.#context.isConversation ? this.#described(event) : "drop";
      case "session.updated":
      case "transcription_session.updated":
        return this.#described(event);
      case "rate_limits.updated":
        // Those of the channel's account, whose other callers the client must not see.
        return "drop";
      case "error":
        return this.#error(event);
      case "response.created":
        this.#run(this.#began(event));
        return "pass";
      case "response.done":
        this.#run(this.calls.responded(isObject(event["response"]) ? event["response"] : {}));
        return "pass";
      case "input_audio_buffer.committed":
        this.#run(this.#heard(event));
        return "pass";
      case "conversation.item.input_audio_transcription.completed":
      case "conversation.item.input_audio_transcription.failed":
        this.#run(this.calls.transcribed(event));
        return "pass";
      default:
        if (isDelta(type)) this.calls.produced(type, bytes);
        return "pass";
    }
  }

  #described(event: JsonObject): UpstreamVerdict {
    const { session } = event;
    this.calls.outputFormat = outputFormatOf(session);
    this.#size.bytesPerSecond = audioBytesPerSecond(inputFormatOf(session));
    return { event: JSON.stringify(withPublicNames(event, this.models.publicNames)) };
  }

  #error(event: JsonObject): UpstreamVerdict {
    const { requestId } = this.#context.caller.record;
    const { event: cleaned, isChannelAtFault, error } = cleanErrorEvent(event, { ...this.#names(), requestId });
    this.isChannelAtFault ||= isChannelAtFault;
    const about = member(event["error"], "event_id");
    if (typeof about === "string") this.#run(this.calls.refused(about, error));
    return { event: JSON.stringify(cleaned) };
  }

  /** Text of the upstream as the client may see it. */
  clean(text: string): string {
    return cleanUpstreamText(text, this.#names());
  }

  #names(): { publicModel: string; upstreamModel: string; channelSecrets: readonly string[] } {
    const { selected, opened } = this.#context;
    const { channel, credential } = selected;
    const upstreamModel = upstreamModelOf({ ...selected, route: opened.route }, opened.model);
    return { publicModel: opened.model, upstreamModel, channelSecrets: secretsOf(channel, credential) };
  }

  async #began(event: JsonObject): Promise<void> {
    const id = member(event["response"], "id");
    const responseId = typeof id === "string" ? id : "";
    const { conversation } = this.models;
    let late: GatewayError | undefined;
    const terms = (): CallTerms => {
      const made = this.#terms(conversation ?? this.#context.opened);
      late = made.refusal;
      return made.terms;
    };
    const refusal = (await this.calls.began(responseId, terms)) ?? late;
    if (refusal === undefined) return;
    this.#context.effects.toUpstream(cancelEvent(responseId === "" ? undefined : responseId));
    this.#context.effects.refused(refusal);
  }

  async #heard(event: JsonObject): Promise<void> {
    const { transcription } = this.models;
    const itemId = event["item_id"];
    if (transcription === undefined || typeof itemId !== "string") return;
    const made = this.#terms(transcription);
    const refusal = (await this.calls.heard(itemId, made.terms)) ?? made.refusal;
    if (refusal !== undefined) this.#context.effects.refused(refusal);
  }

  /**
   * By the configuration that holds now. Where the key may not use the model any more, what runs all the same is charged
   * by what held before.
   */
  #terms(routed: RoutedModel): { readonly terms: CallTerms; readonly refusal: GatewayError | undefined } {
    const { caller, selected, place } = this.#context;
    let live = caller;
    let { route } = routed;
    let refusal: GatewayError | undefined;
    try {
      live = authenticateAgain(caller);
      route = authorizeRealtime(live, routed.model);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      refusal = error;
    }
    const channelName = selected.target.channel;
    const channel = live.snapshot.channel(channelName) ?? selected.channel;
    const chargeUnreserved = place.charge.bind(place);
    const reservedFor = { caller: live, route, channel, model: routed.model, channelName, chargeUnreserved };
    this.#count += 1;
    const reservation = new ResponseReservation(reservedFor, `${caller.record.requestId}.${this.#count}`);
    return { terms: { reservation, route, fleet: live.snapshot.fleet }, refusal };
  }

  #nextId(): string {
    this.#count += 1;
    return `event_${this.#context.caller.record.requestId}.${this.#count}`;
  }

  /** Messages do not wait for what follows from them; the end of the session does. */
  #run(work: Promise<void>): void {
    const { effects } = this.#context;
    const done = work
      .catch((error: unknown) => effects.failed(error))
      .finally(() => {
        this.#running.delete(done);
        effects.settled();
      });
    this.#running.add(done);
  }

  /** What follows from the messages so far has been done. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }
}

/** Events that are parsed; those of the beta interface among them. */
const watched: ReadonlySet<string> = new Set([
  "session.created",
  "session.updated",
  "transcription_session.created",
  "transcription_session.updated",
  "rate_limits.updated",
  "error",
  "response.created",
  "response.done",
  "input_audio_buffer.committed",
  "conversation.item.input_audio_transcription.completed",
  "conversation.item.input_audio_transcription.failed",
]);

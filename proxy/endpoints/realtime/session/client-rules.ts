/**
 * Says what becomes of each message of a session's client: it passes as it came, edited, or not at all; and reserves the
 * responses that it asks for.
 */
import type { Caller } from "#proxy/dispatch/admitted-call";
import { authenticateAgain } from "#proxy/dispatch/live-caller";
import {
  asksOutOfBand,
  type ClientMessage,
  editMessage,
  endsTranscription,
  metadataOf,
  namedModels,
  outputCapOf,
  readClientMessage,
  refuseUpstreamObjects,
  unnamedTranscription,
} from "#proxy/endpoints/realtime/messages/client-message";
import { plainAudioLength } from "#proxy/endpoints/realtime/messages/message-type";
import { usualOutput } from "#proxy/endpoints/realtime/usage/conversation-size";
import { sessionSizes, sizeOf } from "#proxy/endpoints/realtime/usage/message-size";
import { GatewayError } from "#proxy/errors";
import type { ResolvedModels } from "./session-models.ts";
import type { SessionState } from "./session-state.ts";

/** What a message of the client's comes to. */
export type ClientVerdict =
  /** It goes upstream as it came. */
  | "pass"
  /** @param asked id of the response that was reserved for it */
  | { readonly forward: Buffer; readonly asked?: string }
  /** The client is told, and the message goes nowhere. @param about id of the message */
  | { readonly refusal: GatewayError; readonly about: string | undefined };

const noModels: ResolvedModels = { edits: [], transcriber: undefined };

export class ClientRules {
  readonly #state: SessionState;

  constructor(state: SessionState) {
    this.#state = state;
  }

  /**
   * A promise only for a message that must be reserved first.
   * @param bytes not kept @param ending why no response may begin any more
   */
  judge(bytes: Buffer, ending: GatewayError | undefined): ClientVerdict | Promise<ClientVerdict> {
    const audioLength = plainAudioLength(bytes);
    if (audioLength !== undefined) {
      this.#state.size.addAudio(audioLength);
      return "pass";
    }
    let message: ClientMessage | undefined;
    try {
      const { jsonDepthMax: depthMax, jsonKeysMax: keysMax } = this.#caller.services.limits;
      message = readClientMessage(Buffer.from(bytes), { depthMax, keysMax });
      return this.#judge(message, ending);
    } catch (error) {
      if (error instanceof GatewayError) return { refusal: error, about: message?.eventId };
      throw error;
    }
  }

  get #caller(): Caller {
    return this.#state.context.caller;
  }

  #judge(message: ClientMessage, ending: GatewayError | undefined): ClientVerdict | Promise<ClientVerdict> {
    refuseUpstreamObjects(message, this.#state.context.selected.channel);
    const named = namedModels(message);
    const models = named.length === 0 ? noModels : this.#state.models.resolve(named, authenticateAgain(this.#caller));
    switch (message.type) {
      case "response.create":
        return ending === undefined
          ? this.#askForResponse(message, models)
          : { refusal: ending, about: message.eventId };
      case "session.update":
      case "transcription_session.update":
        return { forward: this.#update(message, models) };
      case "input_audio_buffer.append":
        this.#state.size.addAudio(message.body.stringBytes);
        break;
      default:
        this.#state.size.add(sizeOf(message));
    }
    return models.edits.length === 0 ? "pass" : { forward: editMessage(message, { models: models.edits }) };
  }

  /** What it says holds when the upstream has taken it; each has an id, by which the upstream can refuse it. */
  #update(message: ClientMessage, { edits, transcriber }: ResolvedModels): Buffer {
    this.#refuseUnnamedTranscription(message);
    const eventId = message.eventId ?? this.#state.nextEventId();
    const own = outputCapOf(message, "session");
    const isCapped = own === undefined && this.#state.calls.outputCap !== undefined;
    const tokens = isCapped || typeof own === "number" ? undefined : this.#fleetsCap();
    this.#state.updates.sent({
      eventId,
      transcriber: endsTranscription(message) ? null : transcriber,
      outputCap: tokens ?? own,
      memberBytes: sessionSizes(message),
    });
    return editMessage(message, { models: edits, eventId, cap: { owner: "session", tokens } });
  }

  /** The upstream would take a model of its own, which the key may not be allowed and no route has a price for. */
  #refuseUnnamedTranscription(message: ClientMessage): void {
    const path = unnamedTranscription(message);
    const { models, updates } = this.#state;
    if (path === undefined || updates.upcomingTranscriber(models.transcription) !== undefined) return;
    const param = [...path, "model"].join(".");
    throw new GatewayError("missing_parameter", `'${param}' is missing: name the model that transcribes.`, { param });
  }

  /** With `quota.unboundedOutput: Cap`: the cap of whatever has none; undefined where the gateway sets none. */
  #fleetsCap(): number | undefined {
    const { conversation } = this.#state.models;
    const { fleet } = this.#caller.snapshot;
    if (conversation === undefined || fleet.unboundedOutput !== "Cap") return undefined;
    return usualOutput(conversation.route, fleet);
  }

  #askForResponse(message: ClientMessage, { edits }: ResolvedModels): ClientVerdict | Promise<ClientVerdict> {
    const { models } = this.#state;
    if (models.conversation === undefined) {
      throw new GatewayError("invalid_value", "A transcription session makes no responses.", { param: "type" });
    }
    const { terms, refusal } = this.#state.terms(models.conversation);
    if (refusal !== undefined) throw refusal;
    const eventId = message.eventId ?? this.#state.nextEventId();
    const dropsMetadata = this.#state.context.selected.channel.privacy.clientMetadata === "Strip";
    const own = outputCapOf(message, "response");
    const said = own === undefined ? this.#state.calls.outputCap : own === "none" ? undefined : own;
    const tokens = said === undefined ? this.#fleetsCap() : undefined;
    const forward = editMessage(message, { models: edits, eventId, dropsMetadata, cap: { owner: "response", tokens } });
    const asked = {
      eventId,
      outputCap: tokens ?? said,
      own: sizeOf(message),
      isOutOfBand: asksOutOfBand(message),
      metadata: dropsMetadata ? undefined : metadataOf(message),
    };
    return this.#state.calls
      .ask(asked, terms)
      .then((refused) => (refused === undefined ? { forward, asked: eventId } : { refusal: refused, about: eventId }));
  }
}

/**
 * The models of one session: how its client calls them, how its upstream does, and the route by which each is charged.
 *
 * A conversation has its model from the handshake and keeps it. A transcription model is named in `session.update` and may
 * be named anew: each time it is authorised as the model of a call is, and it must be served by the channel that the
 * session is connected to. It holds when the upstream says that it took the update, and not before.
 */
import { authorizeModel } from "#proxy/authorize/decide";
import type { Caller } from "#proxy/dispatch/admitted-call";
import type { NamedModel } from "#proxy/endpoints/realtime/messages/client-message";
import { GatewayError } from "#proxy/errors";
import { member, memberAt } from "#proxy/json/json-value";
import type { SelectedTarget } from "#proxy/route/select-target";
import { upstreamModelOf } from "#proxy/route/upstream-model";
import type { Route } from "#proxy/snapshot/types.gen";

/** A model by its public name, with the route that serves it. */
export interface RoutedModel {
  readonly model: string;
  readonly route: Route;
}

/** A model that transcribes, as a client named it and was allowed to. */
export interface Transcriber extends RoutedModel {
  readonly upstreamModel: string;
}

/** What a message names, authorised. */
export interface ResolvedModels {
  /** The name of each for the upstream, by its place. */
  readonly edits: readonly { readonly path: readonly string[]; readonly upstreamModel: string }[];
  /** Undefined where it names none. */
  readonly transcriber: Transcriber | undefined;
}

/** @throws GatewayError 400, 403, 404 */
export function authorizeRealtime({ found, snapshot }: Pick<Caller, "found" | "snapshot">, model: string): Route {
  return authorizeModel({ key: found.key, snapshot, protocol: "OpenAI", capability: "Realtime", model });
}

export class SessionModels {
  readonly #selected: Pick<SelectedTarget, "target" | "channel">;
  readonly #publicNames = new Map<string, string>();
  readonly conversation: RoutedModel | undefined;
  #transcription: Transcriber | undefined;
  /** All that were named, by the upstream's name. */
  readonly #transcribers = new Map<string, Transcriber>();

  /** @param conversation undefined for a session that only transcribes */
  constructor(selected: Pick<SelectedTarget, "target" | "channel">, conversation: RoutedModel | undefined) {
    this.#selected = selected;
    this.conversation = conversation;
    if (conversation === undefined) return;
    const { route, model } = conversation;
    this.#publicNames.set(upstreamModelOf({ ...selected, route }, model), model);
  }

  /** The model that transcribes what the client says; undefined where nothing is transcribed. */
  get transcription(): RoutedModel | undefined {
    return this.#transcription;
  }

  get publicNames(): ReadonlyMap<string, string> {
    return this.#publicNames;
  }

  /** All that the session needs its key to be allowed. */
  get names(): string[] {
    return [this.conversation, this.#transcription].flatMap((used) => (used === undefined ? [] : [used.model]));
  }

  /**
   * The upstream has taken an update.
   * @param named by that update; null: it ended the transcription; undefined: it said nothing of it
   * @param session as the upstream describes it: what it says holds
   */
  updated(named: Transcriber | null | undefined, session: unknown): void {
    const told = toldTranscriber(session);
    if (told === null) this.#transcription = undefined;
    else if (told === undefined) {
      if (named !== undefined) this.#transcription = named ?? undefined;
    } else if (named?.upstreamModel === told) this.#transcription = named;
    else if (this.#transcription?.upstreamModel !== told) {
      // It may spell the name in another way than the one that it was asked for.
      this.#transcription = this.#transcribers.get(told) ?? named ?? this.#transcription;
    }
  }

  /**
   * Authorises the models that a message names.
   * @throws GatewayError 400, 403, 404 with the place at fault: the message must not go upstream
   */
  resolve(named: readonly NamedModel[], caller: Pick<Caller, "found" | "snapshot">): ResolvedModels {
    let transcriber: Transcriber | undefined;
    const edits = named.map(({ use, path, model }) => {
      try {
        if (use === "conversation") return { path, upstreamModel: this.#keep(model, caller) };
        transcriber = this.#transcriber(model, caller);
        return { path, upstreamModel: transcriber.upstreamModel };
      } catch (error) {
        throw error instanceof GatewayError ? at(path, error) : error;
      }
    });
    return { edits, transcriber };
  }

  #keep(model: string, caller: Pick<Caller, "found" | "snapshot">): string {
    const { conversation } = this;
    if (conversation?.model === model) return upstreamModelOf({ ...this.#selected, route: conversation.route }, model);
    authorizeRealtime(caller, model);
    throw new GatewayError("invalid_value", "The model of a session cannot be changed. Open another session for it.");
  }

  #transcriber(model: string, caller: Pick<Caller, "found" | "snapshot">): Transcriber {
    const route = authorizeRealtime(caller, model);
    const { channel } = this.#selected;
    const target = route.targets.find((each) => each.channel === this.#selected.target.channel);
    if (target === undefined) {
      throw new GatewayError(
        "invalid_value",
        `The model '${model}' is not served by the channel that this session is connected to. Name another model.`,
      );
    }
    const upstreamModel = upstreamModelOf({ channel, target, route }, model);
    const transcriber = { model, route, upstreamModel };
    this.#transcribers.set(upstreamModel, transcriber);
    this.#publicNames.set(upstreamModel, model);
    return transcriber;
  }
}

/** The model that a session's description says transcribes; null: none; undefined: it does not say. */
function toldTranscriber(session: unknown): string | null | undefined {
  for (const found of [
    memberAt(session, "audio", "input", "transcription"),
    memberAt(session, "input_audio_transcription"),
  ]) {
    if (found === null) return null;
    const model = member(found, "model");
    if (typeof model === "string") return model;
  }
  return undefined;
}

function at(path: readonly string[], { code, message, cause }: GatewayError): GatewayError {
  return new GatewayError(code, message, { param: path.join("."), cause });
}

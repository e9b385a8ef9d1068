/**
 * The models of one session: how its client calls them, how its upstream does, and the route by which each is charged.
 *
 * A conversation has its model from the handshake and keeps it. A transcription model is named in `session.update` and may
 * be named anew: each time it is authorised as the model of a call is, and it must be served by the channel that the
 * session is connected to.
 */
import { authorizeModel } from "#proxy/authorize/decide";
import type { Caller } from "#proxy/dispatch/admitted-call";
import type { NamedModel } from "#proxy/endpoints/realtime/messages/client-message";
import { GatewayError } from "#proxy/errors";
import type { SelectedTarget } from "#proxy/route/select-target";
import { upstreamModelOf } from "#proxy/route/upstream-model";
import type { Route } from "#proxy/snapshot/types.gen";

/** A model by its public name, with the route that serves it. */
export interface RoutedModel {
  readonly model: string;
  readonly route: Route;
}

/** @throws GatewayError 400, 403, 404 */
export function authorizeRealtime({ found, snapshot }: Pick<Caller, "found" | "snapshot">, model: string): Route {
  return authorizeModel({ key: found.key, snapshot, protocol: "OpenAI", capability: "Realtime", model });
}

export class SessionModels {
  readonly #selected: Pick<SelectedTarget, "target" | "channel">;
  readonly #publicNames = new Map<string, string>();
  readonly conversation: RoutedModel | undefined;
  #transcription: RoutedModel | undefined;

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

  stopTranscribing(): void {
    this.#transcription = undefined;
  }

  /**
   * Authorises the models that a message names.
   * @returns the name of each for the upstream, by its place
   * @throws GatewayError 400, 403, 404 with the place at fault: the message must not go upstream
   */
  resolve(
    named: readonly NamedModel[],
    caller: Pick<Caller, "found" | "snapshot">,
  ): { readonly path: readonly string[]; readonly upstreamModel: string }[] {
    return named.map(({ use, path, model }) => {
      try {
        const upstreamModel = use === "conversation" ? this.#keep(model, caller) : this.#transcribe(model, caller);
        return { path, upstreamModel };
      } catch (error) {
        throw error instanceof GatewayError ? at(path, error) : error;
      }
    });
  }

  #keep(model: string, caller: Pick<Caller, "found" | "snapshot">): string {
    const { conversation } = this;
    if (conversation?.model === model) return upstreamModelOf({ ...this.#selected, route: conversation.route }, model);
    authorizeRealtime(caller, model);
    throw new GatewayError("invalid_value", "The model of a session cannot be changed. Open another session for it.");
  }

  #transcribe(model: string, caller: Pick<Caller, "found" | "snapshot">): string {
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
    this.#transcription = { model, route };
    this.#publicNames.set(upstreamModel, model);
    return upstreamModel;
  }
}

function at(path: readonly string[], { code, message, cause }: GatewayError): GatewayError {
  return new GatewayError(code, message, { param: path.join("."), cause });
}

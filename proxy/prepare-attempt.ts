/**
 * What goes to one target for an admitted call: its own bytes with the channel's edits where the channel speaks the
 * client's format, a translation where it does not.
 *
 * One instance a call: what of the client's body must be read for a translation is read once, on first need. Called by
 * `serve-chat.ts` before anything is reserved on the channel.
 */
import type { AdmittedCall } from "./admitted-call.ts";
import { GatewayError } from "./errors.ts";
import { buildUpstreamRequest, upstreamModelOf } from "./forward/build-upstream-request.ts";
import type { UpstreamRequest } from "./forward/upstream-exchange.ts";
import type { ChatCall, ChatFormat } from "./protocols/chat-format.ts";
import type { SelectedTarget } from "./route/select-target.ts";
import { droppedLabel } from "./translate/dropped-fields.ts";
import { newId } from "./translate/new-id.ts";
import { createStateKeeper } from "./translate/state/state-keeper.ts";
import { type ClientRequest, readClientRequest, Translation, withoutSealedState } from "./translate/translation.ts";

export interface PreparedAttempt {
  readonly request: UpstreamRequest;
  /** Spoken with the upstream. */
  readonly format: ChatFormat;
  /** As the upstream reads it. */
  readonly call: ChatCall;
  /** Undefined where both sides speak one format. */
  readonly translation: Translation | undefined;
}

export class AttemptPreparation {
  readonly #admitted: AdmittedCall;
  #client: ClientRequest | undefined;
  #ownCall: ChatCall | undefined;

  constructor(admitted: AdmittedCall) {
    this.#admitted = admitted;
  }

  /** @returns why this target must not get the call: known before anything is reserved on its channel */
  prepare(selected: SelectedTarget): PreparedAttempt | GatewayError {
    const { call, format } = this.#admitted;
    const objection = objectionTo(selected, call);
    if (objection !== undefined) return objection;
    try {
      if (selected.format === call.endpoint.format)
        return this.#prepared(selected, format, this.#cleanCall(), undefined);
      const translation = this.#translate(selected);
      for (const field of translation.dropped) this.#countDropped(field);
      return this.#prepared(selected, translation.format, translation.upstreamCall, translation);
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }

  #prepared(
    selected: SelectedTarget,
    format: ChatFormat,
    call: ChatCall,
    translation: Translation | undefined,
  ): PreparedAttempt {
    const { route, passedHeaders, estimate, services } = this.#admitted;
    const target = { ...selected, route };
    const request = buildUpstreamRequest(format, call, target, passedHeaders, estimate.outputCap, services.limits);
    return { request, format, call, translation };
  }

  #cleanCall(): ChatCall {
    const { call, services } = this.#admitted;
    this.#ownCall ??= withoutSealedState(call, services.limits.jsonKeysMax);
    return this.#ownCall;
  }

  #countDropped(field: string): void {
    const { format } = this.#admitted.call.endpoint;
    this.#admitted.services.metrics.parameterDropped(format, droppedLabel(format, field));
  }

  #translate(selected: SelectedTarget): Translation {
    const { call, found, route, services, estimate, snapshot } = this.#admitted;
    const { channel, target, format } = selected;
    this.#client ??= readClientRequest(call);
    const secrets = channel.credentials.flatMap(
      ({ name }) => snapshot.credential(channel.namespace, channel.name, name)?.secret ?? [],
    );
    const scope = { channel: target.channel, secrets, format, key: `${found.key.namespace}/${found.key.name}` };
    return new Translation(this.#client, {
      format,
      target: {
        channel,
        upstreamModel: upstreamModelOf(channel, target, call.model),
        outputTokensMax: route.info?.maxOutputTokens,
        states: createStateKeeper(scope, services.callStates),
      },
      unsupportedParameters: channel.unsupportedParameters,
      nowSeconds: Math.floor(services.now() / 1000),
      newId,
      inputTokensEstimate: Number(estimate.amounts.inputTokens),
      jsonKeysMax: services.limits.jsonKeysMax,
    });
  }
}

/** Objects of an upstream account may belong to another tenant of it: refused unless the channel shares them. */
function objectionTo(selected: SelectedTarget, call: ChatCall): GatewayError | undefined {
  const [param] = call.upstreamObjects;
  if (param === undefined || selected.channel.upstreamObjects === "Shared") return undefined;
  return new GatewayError(
    "unsupported_parameter",
    `'${param}' refers to an object that is kept by the provider, which is not supported for this model. Send the content itself.`,
    { param },
  );
}

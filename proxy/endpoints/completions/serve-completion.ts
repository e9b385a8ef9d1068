/** Serves an admitted completion: passed on as it is, or asked as a chat call where the channel speaks a chat format. */

import type { ChatEstimate } from "#proxy/admit/estimate-cost";
import type { AdmittedCall, AuthorizedCall } from "#proxy/dispatch/admitted-call";
import { AttemptPreparation } from "#proxy/dispatch/chat/prepare-attempt";
import type { ClientWriter } from "#proxy/dispatch/client-writer";
import type { ChatSettlement } from "#proxy/dispatch/reservations/settle-chat";
import { type CallServing, type PreparedCall, serveCall } from "#proxy/dispatch/serve-call";
import { servedNowhere } from "#proxy/dispatch/served-nowhere";
import { prepareInDialect } from "#proxy/endpoints/dialects/serve-dialects";
import { GatewayError } from "#proxy/errors";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { providerOf } from "#proxy/providers/providers";
import type { AttemptHistory } from "#proxy/route/attempt-history";
import { chatFormatsFor } from "#proxy/route/chat-formats";
import { type SelectedTarget, selectTarget } from "#proxy/route/select-target";
import { lacksCapability } from "#proxy/route/upstream-model";
import type { Channel } from "#proxy/snapshot/types.gen";
import { noAvailableChannel } from "#proxy/upstream/describe-outcome";
import { chatCallOf } from "./chat-call.ts";
import { completionReaderOf } from "./chat-reader.ts";
import { completionWriter } from "./completion-writer.ts";
import { ownDialect } from "./own-dialect.ts";
import type { CompletionCall } from "./read-completion.ts";

export type AuthorizedCompletion = AuthorizedCall<CompletionCall>;

export interface AdmittedCompletion extends AdmittedCall<CompletionCall> {
  readonly estimate: ChatEstimate;
  readonly settlement: ChatSettlement;
}

/** The endpoint's own, then those of chat as a client of chat completions has them. */
const chatFormats = chatFormatsFor("ChatCompletions");
export const completionFormats = ["Completions", ...chatFormats] as const;

type CompletionTarget = SelectedTarget<(typeof completionFormats)[number]>;

/** @throws GatewayError when no target replied; nothing has gone to the client then */
export function serveCompletion(admitted: AdmittedCompletion): Promise<void> {
  return serveCall(admitted, new CompletionServing(admitted));
}

class CompletionServing implements CallServing<PreparedCall> {
  readonly writer: ClientWriter;
  readonly #admitted: AdmittedCompletion;
  /** By where the provider takes the cap: the same call otherwise. */
  readonly #inChat = new Map<string, AttemptPreparation>();

  constructor(admitted: AdmittedCompletion) {
    this.#admitted = admitted;
    this.writer = completionWriter(admitted.call);
  }

  release(): void {
    for (const preparation of this.#inChat.values()) preparation.release();
  }

  select(tried: AttemptHistory): CompletionTarget | undefined {
    const { route, call, snapshot, services } = this.#admitted;
    const { model, endpoint } = call;
    const { capability } = endpoint;
    return selectTarget({
      route,
      model,
      capability,
      otherCapability: "Chat",
      formats: completionFormats,
      formatsOn: (target, channel) =>
        lacksCapability({ channel, route, target }, model, capability) ? chatFormats : completionFormats,
      snapshot,
      tried,
      random: services.random,
    });
  }

  prepare(selected: CompletionTarget): PreparedCall | GatewayError | Promise<PreparedCall | GatewayError> {
    const { services, estimate } = this.#admitted;
    if (isChat(selected)) return this.#askInChat(selected);
    return prepareInDialect(this.#admitted, ownDialect(services.limits), selected, { outputCap: estimate.outputCap });
  }

  async #askInChat(selected: SelectedTarget<ChatWireFormat>): Promise<PreparedCall | GatewayError> {
    try {
      const prepared = await this.#preparationFor(selected.channel).prepare(selected);
      if (prepared instanceof GatewayError) return prepared;
      const { request, dropped } = prepared;
      return { request, dropped, reader: completionReaderOf(prepared, this.#admitted.call) };
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }

  #preparationFor(channel: Channel): AttemptPreparation {
    const { chatCapMember } = providerOf(channel);
    let preparation = this.#inChat.get(chatCapMember);
    if (preparation === undefined) {
      const call = chatCallOf(this.#admitted.call, chatCapMember, this.#admitted.services.limits);
      preparation = new AttemptPreparation({ ...this.#admitted, call });
      this.#inChat.set(chatCapMember, preparation);
    }
    return preparation;
  }

  noTarget(): GatewayError {
    return servedNowhere(this.#admitted, completionFormats, "Chat") ?? noAvailableChannel();
  }
}

function isChat(selected: CompletionTarget): selected is SelectedTarget<ChatWireFormat> {
  return selected.format !== "Completions";
}

/** Serves an admitted completion: passed on as it is, or asked as a chat call where the channel speaks a chat format. */
import { setImmediate as otherWork } from "node:timers/promises";
import type { ChatEstimate } from "#proxy/admit/estimate-cost";
import type { AdmittedCall, AuthorizedCall } from "#proxy/dispatch/admitted-call";
import { AttemptPreparation } from "#proxy/dispatch/chat/prepare-attempt";
import type { ClientWriter } from "#proxy/dispatch/client-writer";
import { LargeBodyWork } from "#proxy/dispatch/large-body-work";
import type { ChatSettlement } from "#proxy/dispatch/reservations/settle-chat";
import { type CallServing, type PreparedCall, serveCall } from "#proxy/dispatch/serve-call";
import { servedNowhere } from "#proxy/dispatch/served-nowhere";
import { prepareInDialect } from "#proxy/endpoints/dialects/serve-dialects";
import { GatewayError, requireGatewayError } from "#proxy/errors";
import type { ChatCall } from "#proxy/formats/format";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import type { Provider } from "#proxy/providers/provider";
import { providerOf } from "#proxy/providers/providers";
import type { AttemptHistory } from "#proxy/route/attempt-history";
import { type SelectedTarget, selectTarget } from "#proxy/route/select-target";
import type { Channel } from "#proxy/snapshot/types.gen";
import { noAvailableChannel } from "#proxy/upstream/describe-outcome";
import { chatCallOf } from "./chat-call.ts";
import { completionReaderOf } from "./chat-reader.ts";
import { completionFormats, inChat, servedCompletion } from "./completion-formats.ts";
import { completionWriter } from "./completion-writer.ts";
import { spelledIn } from "./output-cap.ts";
import { ownDialect } from "./own-dialect.ts";
import type { CompletionCall } from "./read-completion.ts";

export type AuthorizedCompletion = AuthorizedCall<CompletionCall>;

export interface AdmittedCompletion extends AdmittedCall<CompletionCall> {
  readonly estimate: ChatEstimate;
  readonly settlement: ChatSettlement;
}

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
  readonly #work: LargeBodyWork;

  constructor(admitted: AdmittedCompletion) {
    this.#admitted = admitted;
    this.#work = new LargeBodyWork(admitted);
    this.writer = completionWriter(admitted.call);
  }

  release(): void {
    for (const preparation of this.#inChat.values()) preparation.release();
    this.#work.release();
  }

  select(tried: AttemptHistory): CompletionTarget | undefined {
    const { snapshot, services } = this.#admitted;
    return selectTarget({ ...servedCompletion(this.#admitted), snapshot, tried, random: services.random });
  }

  prepare(selected: CompletionTarget): PreparedCall | GatewayError | Promise<PreparedCall | GatewayError> {
    if (isChat(selected)) return this.#askInChat(selected);
    const { services, call, estimate } = this.#admitted;
    return prepareInDialect(this.#admitted, ownDialect(services.limits), selected, {
      outputCap: estimate.outputCap,
      namesIn: spelledIn(call.body),
    });
  }

  async #askInChat(selected: SelectedTarget<ChatWireFormat>): Promise<PreparedCall | GatewayError> {
    try {
      const preparation = await this.#preparationFor(selected.channel);
      const prepared = await preparation.prepare(selected);
      if (prepared instanceof GatewayError) return prepared;
      const { request, dropped } = prepared;
      return { request, dropped, reader: completionReaderOf(prepared, this.#admitted.call) };
    } catch (error) {
      return requireGatewayError(error);
    }
  }

  async #preparationFor(channel: Channel): Promise<AttemptPreparation> {
    const { chatCapMember } = providerOf(channel);
    const known = this.#inChat.get(chatCapMember);
    if (known !== undefined) return known;
    const preparation = new AttemptPreparation({ ...this.#admitted, call: await this.#chatCall(chatCapMember) });
    this.#inChat.set(chatCapMember, preparation);
    return preparation;
  }

  /** That of a large body is written in its turn, and held as long as the call lasts. */
  async #chatCall(capMember: Provider["chatCapMember"]): Promise<ChatCall> {
    const { call, services } = this.#admitted;
    const { bodyBytes } = this.#work;
    if (!this.#work.isLarge(bodyBytes)) return chatCallOf(call, capMember, services.limits);
    return await this.#work.inTurn(bodyBytes, bodyBytes, async () => {
      await otherWork();
      return chatCallOf(call, capMember, services.limits);
    });
  }

  noTarget(): GatewayError {
    return servedNowhere(this.#admitted, completionFormats, inChat) ?? noAvailableChannel();
  }
}

function isChat(selected: CompletionTarget): selected is SelectedTarget<ChatWireFormat> {
  return selected.format !== "Completions";
}

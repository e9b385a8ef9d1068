/** Serves an admitted chat call: passed on in its own format, or translated. */
import type { AdmittedChat } from "#proxy/dispatch/admitted-call";
import { askedInResponses } from "#proxy/dispatch/chat/asked-in-responses";
import { ChatWriter } from "#proxy/dispatch/chat/chat-writer";
import { continuingTurns } from "#proxy/dispatch/chat/continue-turns";
import { AttemptPreparation, type PreparedAttempt } from "#proxy/dispatch/chat/prepare-attempt";
import type { CallUpstream } from "#proxy/dispatch/dispatch-call";
import { type CallServing, serveCall } from "#proxy/dispatch/serve-call";
import { servedNowhere } from "#proxy/dispatch/served-nowhere";
import { GatewayError } from "#proxy/errors";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import type { AttemptHistory } from "#proxy/route/attempt-history";
import { chatFormatsFor } from "#proxy/route/chat-formats";
import { type SelectedTarget, selectTarget } from "#proxy/route/select-target";
import type { EstimateMissingUsage } from "#proxy/upstream/attempt-options";
import { noAvailableChannel } from "#proxy/upstream/describe-outcome";
import type { ReplySource } from "#proxy/upstream/reply/reply-source";

/** @throws GatewayError when no target replied; nothing has gone to the client then */
export function serveChat(admitted: AdmittedChat): Promise<void> {
  return serveCall(admitted, new ChatServing(admitted));
}

class ChatServing implements CallServing<PreparedAttempt> {
  readonly writer: ChatWriter;
  readonly #admitted: AdmittedChat;
  readonly #preparation: AttemptPreparation;

  constructor(admitted: AdmittedChat) {
    this.#admitted = admitted;
    this.writer = new ChatWriter(admitted);
    this.#preparation = new AttemptPreparation(admitted, admitted.call.stream ? this.writer.opening : undefined);
  }

  release(): void {
    this.#preparation.release();
  }

  select(tried: AttemptHistory): SelectedTarget<ChatWireFormat> | undefined {
    const { route, call, snapshot, services, references } = this.#admitted;
    const { format, capability } = call.endpoint;
    return selectTarget({
      route,
      model: call.model,
      capability,
      formats: chatFormatsFor(format),
      snapshot,
      tried,
      affinity: references?.affinity,
      formatsOn: (target, channel) => chatFormatsFor(format, askedInResponses(call, route, target, channel)),
      random: services.random,
    });
  }

  prepare(selected: SelectedTarget<ChatWireFormat>): ReturnType<AttemptPreparation["prepare"]> {
    return this.#preparation.prepare(selected);
  }

  noTarget(): GatewayError {
    const { references, call } = this.#admitted;
    if (references?.affinity === undefined) {
      return servedNowhere(this.#admitted, chatFormatsFor(call.endpoint.format)) ?? noAvailableChannel();
    }
    return new GatewayError(
      "previous_response_not_found",
      "This model cannot reach the earlier conversation of this call. Send the conversation itself.",
      { param: "previous_response_id" },
    );
  }

  replySource(
    selected: SelectedTarget<ChatWireFormat>,
    prepared: PreparedAttempt,
    upstream: CallUpstream,
  ): ReplySource {
    return continuingTurns(this.#admitted, selected, prepared, upstream);
  }

  estimateMissingUsage({ translation }: PreparedAttempt): EstimateMissingUsage | undefined {
    if (translation?.tellsUsage !== true) return undefined;
    const { settlement } = this.#admitted;
    return (usage, produced) => settlement.estimateMissingUsage(usage, produced);
  }
}

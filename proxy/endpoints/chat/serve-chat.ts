/**
 * Serves an admitted chat call: sends one attempt's reply to the client, whole or as a stream, and settles it.
 *
 * The call holds a reservation. Before the first byte a failed attempt may be followed by another
 * (`dispatch-call.ts`); after it the stream ends cleanly or visibly broken.
 */
import type { AdmittedCall } from "#proxy/dispatch/admitted-call";
import { askedInResponses } from "#proxy/dispatch/asked-in-responses";
import { concluded, concludeOther, failStarted, sendReply, settleReply } from "#proxy/dispatch/conclude-attempt";
import { continuingTurns } from "#proxy/dispatch/continue-turns";
import {
  type Attempted,
  type AttemptHooks,
  type CallUpstream,
  dispatchCall,
  whileAllowed,
} from "#proxy/dispatch/dispatch-call";
import { AttemptPreparation, type PreparedAttempt } from "#proxy/dispatch/prepare-attempt";
import { ResponseStream } from "#proxy/dispatch/response-stream";
import { GatewayError } from "#proxy/errors";
import type { AttemptHistory } from "#proxy/route/attempt-history";
import { type SelectedTarget, selectTarget } from "#proxy/route/select-target";
import { yieldToBatch } from "#proxy/runtime/request-batch";
import { Attempt } from "#proxy/upstream/attempt";
import { holdsResponse } from "#proxy/upstream/client/end-response";
import { noAvailableChannel } from "#proxy/upstream/describe-outcome";
import type { UpstreamRequest } from "#proxy/upstream/upstream-exchange";

/** @throws GatewayError when no target replied; nothing has gone to the client then */
export async function serveChat(admitted: AdmittedCall): Promise<void> {
  const stream = admitted.call.stream ? new ResponseStream(admitted) : undefined;
  const attempts = new ChatAttempts(admitted, stream);
  try {
    const result = await dispatchCall(admitted, attempts);
    if (result instanceof GatewayError) throw result;
  } catch (error) {
    // The status is sent already where the client got a sign of life.
    if (stream?.client.isStarted !== true || !(error instanceof GatewayError)) throw error;
    await failStarted(admitted, stream, error);
  } finally {
    attempts.release();
    stream?.close();
  }
}

/** The attempts of one chat call. */
class ChatAttempts implements AttemptHooks<PreparedAttempt, void> {
  readonly #admitted: AdmittedCall;
  readonly #stream: ResponseStream | undefined;
  readonly #preparation: AttemptPreparation;

  constructor(admitted: AdmittedCall, stream: ResponseStream | undefined) {
    this.#admitted = admitted;
    this.#stream = stream;
    this.#preparation = new AttemptPreparation(admitted, stream?.opening);
  }

  release(): void {
    this.#preparation.release();
  }

  select(tried: AttemptHistory): SelectedTarget | undefined {
    const { route, call, snapshot, services, references } = this.#admitted;
    return selectTarget({
      route,
      format: call.endpoint.format,
      snapshot,
      tried,
      affinity: references?.affinity,
      asksInResponses: (target, channel) => askedInResponses(call, route, target, channel),
      random: services.random,
    });
  }

  prepare(selected: SelectedTarget): ReturnType<AttemptPreparation["prepare"]> {
    return this.#preparation.prepare(selected);
  }

  noTarget(): GatewayError {
    if (this.#admitted.references?.affinity === undefined) return noAvailableChannel();
    return new GatewayError(
      "previous_response_not_found",
      "This model cannot reach the earlier conversation of this call. Send the conversation itself.",
      { param: "previous_response_id" },
    );
  }

  async send(
    selected: SelectedTarget,
    prepared: PreparedAttempt,
    request: UpstreamRequest,
    upstream: CallUpstream,
  ): Promise<Attempted<void>> {
    const { response } = this.#admitted.exchange;
    const attempt = this.#createAttempt(selected, prepared, request, upstream);
    this.#stream?.follow(attempt);
    try {
      return await whileAllowed(this.#admitted, attempt, () => this.#run(attempt, selected, prepared));
    } finally {
      // A client that does not read leaves what it was sent waiting in memory.
      if (holdsResponse(response)) response.once("close", () => attempt.release());
      else attempt.release();
    }
  }

  async #run(attempt: Attempt, selected: SelectedTarget, { keeper }: PreparedAttempt): Promise<Attempted<void>> {
    const admitted = this.#admitted;
    const { record } = admitted;
    record.upstreamStarted();
    const outcome = await attempt.run();
    record.upstreamEnded();
    if (outcome.kind !== "reply") return concludeOther(admitted, selected, outcome, this.#stream, keeper);
    await (settleReply(admitted, selected, outcome, keeper) ?? yieldToBatch);
    sendReply(admitted, outcome.body, outcome.headers);
    return concluded;
  }

  #createAttempt(
    selected: SelectedTarget,
    prepared: PreparedAttempt,
    request: UpstreamRequest,
    upstream: CallUpstream,
  ): Attempt {
    const admitted = this.#admitted;
    const { services, record, settlement } = admitted;
    const { translation } = prepared;
    return new Attempt({
      upstream: continuingTurns(admitted, selected, prepared, upstream),
      request,
      format: prepared.format,
      call: prepared.call,
      translation,
      dropped: prepared.dropped,
      bridge: prepared.bridge,
      estimateMissingUsage:
        translation?.tellsUsage === true
          ? (usage, produced) => settlement.estimateMissingUsage(usage, produced)
          : undefined,
      limits: services.limits,
      inFlightBytes: admitted.inFlightBytes,
      client: this.#stream?.client,
      onPiece: () => {
        if (!record.hasBegun) services.credentials.accepted(selected.credential);
        record.pieceSent();
        this.#stream?.heard();
      },
    });
  }
}

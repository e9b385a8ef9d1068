/**
 * Serves an admitted call, whichever endpoint it is of: sends one attempt's reply to the client, whole or as a stream,
 * and settles it.
 *
 * The call holds a reservation. Before the first byte a failed attempt may be followed by another
 * (`dispatch-call.ts`); after it the stream ends cleanly or visibly broken. An endpoint says how a request is prepared
 * and how its reply is read and written (`CallServing`).
 */
import { GatewayError } from "#proxy/errors";
import type { AttemptHistory } from "#proxy/route/attempt-history";
import type { SelectedTarget } from "#proxy/route/select-target";
import { yieldToBatch } from "#proxy/runtime/request-batch";
import { Attempt } from "#proxy/upstream/attempt";
import type { AttemptOptions, EstimateMissingUsage } from "#proxy/upstream/attempt-options";
import { holdsResponse } from "#proxy/upstream/client/end-response";
import { RepeatedAttempt, type Repeats } from "#proxy/upstream/repeated-attempt";
import type { ReplyReader } from "#proxy/upstream/reply/reply-reader";
import type { ReplySource } from "#proxy/upstream/reply/reply-source";
import type { RunningAttempt } from "#proxy/upstream/running-attempt";
import type { UpstreamRequest } from "#proxy/upstream/upstream-exchange";
import type { AdmittedCall } from "./admitted-call.ts";
import type { ClientWriter } from "./client-writer.ts";
import { concluded, concludeOther, failStarted, type ReplyKeeper, sendReply, settleReply } from "./conclude-attempt.ts";
import {
  type Attempted,
  type AttemptHooks,
  type CallUpstream,
  dispatchCall,
  type PreparedAttempt,
  whileAllowed,
} from "./dispatch-call.ts";
import { ResponseStream } from "./response-stream.ts";

/** A request to one target, and how its reply is read. */
export interface PreparedCall extends PreparedAttempt {
  readonly reader: ReplyReader;
  /** Where the reply takes more requests than that one. */
  readonly repeats?: Repeats | undefined;
  /** Fields of the client's that the upstream does not get, by the client's names: declared, never silent. */
  readonly dropped: readonly string[];
  /** Stores the reply, where a later call may refer to it. */
  readonly keeper?: ReplyKeeper | undefined;
}

/** The steps that differ between endpoints that call a model. */
export interface CallServing<Prepared extends PreparedCall> extends Omit<AttemptHooks<Prepared, void>, "send"> {
  readonly writer: ClientWriter;
  /** Lets go of what preparing took; once, when the call is over. */
  release(): void;
  /** Where the reply comes from; the upstream itself when absent. */
  replySource?(selected: SelectedTarget, prepared: Prepared, upstream: CallUpstream): ReplySource;
  /** For clients that always get usage; undefined where the upstream's own numbers are all that there is. */
  estimateMissingUsage?(prepared: Prepared): EstimateMissingUsage | undefined;
}

/** @throws GatewayError when no target replied; nothing has gone to the client then */
export async function serveCall<Prepared extends PreparedCall>(
  admitted: AdmittedCall,
  serving: CallServing<Prepared>,
): Promise<void> {
  const stream = admitted.call.stream ? new ResponseStream(admitted, serving.writer) : undefined;
  try {
    const result = await dispatchCall(admitted, new ServedAttempts(admitted, serving, stream));
    if (result instanceof GatewayError) throw result;
  } catch (error) {
    // The status is sent already where the client got a sign of life.
    if (stream?.client.isStarted !== true || !(error instanceof GatewayError)) throw error;
    await failStarted(admitted, stream, error);
  } finally {
    serving.release();
    stream?.close();
  }
}

/** The attempts of one call. */
class ServedAttempts<Prepared extends PreparedCall> implements AttemptHooks<Prepared, void> {
  readonly #admitted: AdmittedCall;
  readonly #serving: CallServing<Prepared>;
  readonly #stream: ResponseStream | undefined;

  constructor(admitted: AdmittedCall, serving: CallServing<Prepared>, stream: ResponseStream | undefined) {
    this.#admitted = admitted;
    this.#serving = serving;
    this.#stream = stream;
  }

  select(tried: AttemptHistory): SelectedTarget | undefined {
    return this.#serving.select(tried);
  }

  prepare(selected: SelectedTarget): ReturnType<CallServing<Prepared>["prepare"]> {
    return this.#serving.prepare(selected);
  }

  noTarget(): GatewayError {
    return this.#serving.noTarget();
  }

  async send(
    selected: SelectedTarget,
    prepared: Prepared,
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

  async #run(attempt: RunningAttempt, selected: SelectedTarget, { keeper }: PreparedCall): Promise<Attempted<void>> {
    const admitted = this.#admitted;
    const { record } = admitted;
    record.upstreamStarted();
    const outcome = await attempt.run();
    record.upstreamEnded();
    if (outcome.kind !== "reply") return concludeOther(admitted, selected, outcome, this.#stream, keeper);
    await (settleReply(admitted, selected, outcome, keeper) ?? yieldToBatch);
    sendReply(admitted, this.#serving.writer.contentType, outcome);
    return concluded;
  }

  #createAttempt(
    selected: SelectedTarget,
    prepared: Prepared,
    request: UpstreamRequest,
    upstream: CallUpstream,
  ): RunningAttempt {
    const { services, record, inFlightBytes, settlement } = this.#admitted;
    const serving = this.#serving;
    const options: AttemptOptions = {
      upstream: serving.replySource?.(selected, prepared, upstream) ?? upstream,
      request,
      reader: prepared.reader,
      dropped: prepared.dropped,
      estimateMissingUsage: serving.estimateMissingUsage?.(prepared),
      limits: services.limits,
      inFlightBytes,
      client: this.#stream?.client,
      onPiece: () => {
        if (!record.hasBegun) services.credentials.accepted(selected.credential);
        record.pieceSent();
        this.#stream?.heard();
      },
      onRequest: () => settlement.countRequest(),
    };
    const { repeats } = prepared;
    return repeats === undefined ? new Attempt(options) : new RepeatedAttempt(options, repeats);
  }
}

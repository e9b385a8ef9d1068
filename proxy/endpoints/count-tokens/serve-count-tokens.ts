/** Serves a token count: the number of an upstream that can count, otherwise the tokenizer's estimate. */
import type { AdmittedChat } from "#proxy/dispatch/admitted-call";
import { AttemptPreparation, type PreparedAttempt } from "#proxy/dispatch/chat/prepare-attempt";
import {
  type Attempted,
  type AttemptHooks,
  type CallUpstream,
  dispatchCall,
  whileAllowed,
} from "#proxy/dispatch/dispatch-call";
import { failedAttempt, invalidReply } from "#proxy/dispatch/failed-attempt";
import { refuseRevoked } from "#proxy/dispatch/revocation/revocation";
import { GatewayError } from "#proxy/errors";
import { ClientGoneError } from "#proxy/http/read-body";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import type { AttemptHistory } from "#proxy/route/attempt-history";
import { chatFormatsFor } from "#proxy/route/chat-formats";
import type { FailedAttempt } from "#proxy/route/failover";
import { type SelectedTarget, selectTarget } from "#proxy/route/select-target";
import { upstreamModelOf } from "#proxy/route/upstream-model";
import { Attempt } from "#proxy/upstream/attempt";
import type { AttemptOutcome, StopReason } from "#proxy/upstream/attempt-outcome";
import { endResponse } from "#proxy/upstream/client/end-response";
import { errorOfStop, noAvailableChannel } from "#proxy/upstream/describe-outcome";
import { upstreamPath } from "#proxy/upstream/request/upstream-path";
import type { UpstreamRequest } from "#proxy/upstream/upstream-exchange";
import { type CountingFormat, CountReader, canCount, countBody, readTokenCount, renderCount } from "./count-format.ts";
import { countedText, estimatePrompt } from "./estimate-prompt.ts";

/** @throws GatewayError as for the chat call of the same prompt */
export async function serveCountTokens(admitted: AdmittedChat): Promise<void> {
  const { format } = admitted.call.endpoint;
  if (!canCount(format)) throw new TypeError(`there is no token count in ${format}`);
  const counted = await countUpstream(admitted);
  const tokens = counted ?? (await estimate(admitted));
  // The count costs one request, whether an upstream or the tokenizer made it.
  await admitted.settlement.settleRequest();
  refuseRevoked(admitted);
  send(admitted, renderCount(format, tokens), counted === undefined);
}

/** @returns undefined when no upstream of the route could tell */
async function countUpstream(admitted: AdmittedChat): Promise<number | undefined> {
  const attempts = new CountAttempts(admitted);
  try {
    const result = await dispatchCall(admitted, attempts);
    return result instanceof GatewayError ? undefined : result.value;
  } finally {
    attempts.release();
  }
}

/** The attempts of one count. */
class CountAttempts implements AttemptHooks<PreparedCount, number> {
  readonly #admitted: AdmittedChat;
  readonly #preparation: AttemptPreparation;

  constructor(admitted: AdmittedChat) {
    this.#admitted = admitted;
    this.#preparation = new AttemptPreparation(admitted);
  }

  release(): void {
    this.#preparation.release();
  }

  select(tried: AttemptHistory): SelectedTarget<ChatWireFormat> | undefined {
    const { route, call, snapshot, services } = this.#admitted;
    const { format } = call.endpoint;
    const served = { route, model: call.model, capability: "Chat", formats: chatFormatsFor(format) } as const;
    return selectTarget({ ...served, snapshot, tried, random: services.random });
  }

  noTarget(): GatewayError {
    return noAvailableChannel();
  }

  async prepare(selected: SelectedTarget<ChatWireFormat>): Promise<PreparedCount | GatewayError> {
    const { call, route } = this.#admitted;
    const { channel, format } = selected;
    const template = channel.formats.find(({ type }) => type === "CountTokens")?.path;
    if (template === undefined || !canCount(format)) return noAvailableChannel();
    const prepared = await this.#preparation.prepare(selected);
    if (prepared instanceof GatewayError) return prepared;
    const upstreamModel = upstreamModelOf({ ...selected, route }, call.model);
    const path = upstreamPath(selected, template, upstreamModel, "countTokens");
    const body = countBody(format, prepared.request.body, upstreamModel);
    return { ...prepared, request: { ...prepared.request, path, body }, counts: format };
  }

  async send(
    selected: SelectedTarget,
    prepared: PreparedCount,
    request: UpstreamRequest,
    upstream: CallUpstream,
  ): Promise<Attempted<number>> {
    const { services, settlement, inFlightBytes, record } = this.#admitted;
    const attempt = new Attempt({
      upstream,
      request,
      reader: new CountReader(prepared.counts, prepared.reader),
      dropped: prepared.dropped,
      limits: services.limits,
      inFlightBytes,
      client: undefined,
      onPiece: () => undefined,
    });
    try {
      return await whileAllowed(this.#admitted, attempt, async () => {
        record.upstreamStarted();
        const outcome = await attempt.run();
        record.upstreamEnded();
        const attempted = readOutcome(outcome, prepared.counts);
        if ("value" in attempted) services.credentials.accepted(selected.credential);
        return attempted;
      });
    } finally {
      attempt.release();
      await settlement.releaseChannel();
    }
  }
}

interface PreparedCount extends PreparedAttempt {
  /** Format whose counter is asked. */
  readonly counts: CountingFormat;
}

/** @throws GatewayError, ClientGoneError where nobody waits for another counter, nor for an estimate */
function readOutcome(outcome: AttemptOutcome, format: CountingFormat): Attempted<number> {
  switch (outcome.kind) {
    case "reply": {
      const tokens = readTokenCount(format, outcome.body);
      return tokens === undefined ? failed(invalidReply) : { value: tokens };
    }
    case "stopped":
      // There was no room for what the counter said: an estimate takes none.
      if (outcome.reason === "overloaded") return failed({ condition: undefined, status: undefined });
      throw errorOfEnd(outcome.reason);
    case "streamed":
      return failed(invalidReply);
    default:
      return failed(failedAttempt(outcome));
  }
}

/** Nobody hears the error: where no upstream counts, the gateway estimates. */
function failed(attempt: FailedAttempt): Attempted<number> {
  return { failed: { ...attempt, error: noAvailableChannel() } };
}

function errorOfEnd(reason: StopReason): Error {
  return reason === "client-left" || reason === "slow-reader" ? new ClientGoneError() : errorOfStop(reason);
}

async function estimate({ services, call }: AdmittedChat): Promise<number> {
  return estimatePrompt(call, await services.estimateTokens(countedText(call)));
}

function send({ exchange, record, responseHeaders }: AdmittedChat, body: Buffer, isEstimate: boolean): void {
  record.status = 200;
  record.responseBytes = body.length;
  const said = isEstimate ? ["x-tollgate-token-count", "estimate"] : [];
  exchange.response.writeHead(200, [...responseHeaders, ...said, "content-type", "application/json"], body.length);
  endResponse(exchange.response, body);
}

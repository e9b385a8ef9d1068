/**
 * Concludes one attempt on a target: settles or releases its reservation, counts and logs it, and sends the client the
 * response or the error. Before the first byte it returns the failure instead, so that another target may be tried.
 *
 * `serve-call.ts` calls it once for each attempt.
 */

import type { GatewayError } from "#proxy/errors";
import type { StreamFilter } from "#proxy/formats/format";
import { isNothing } from "#proxy/formats/stream/produced";
import { endOf } from "#proxy/observe/end-of-error";
import type { SelectedTarget } from "#proxy/route/select-target";
import { outputTokens } from "#proxy/settle/usage";
import { droppedLabel } from "#proxy/translate/dropped-fields";
import type { AttemptOutcome } from "#proxy/upstream/attempt-outcome";
import { endResponse } from "#proxy/upstream/client/end-response";
import {
  errorOfFailure,
  errorOfInvalidReply,
  errorOfProblem,
  errorOfStop,
  labelOfError,
  labelOfFailure,
} from "#proxy/upstream/describe-outcome";
import type { AdmittedCall } from "./admitted-call.ts";
import type { Attempted, Failed } from "./dispatch-call.ts";
import { failedAttempt } from "./failed-attempt.ts";
import { logFailedAttempt } from "./log-failed-attempt.ts";
import type { Pending } from "./reservations/held-reservations.ts";
import type { ResponseStream } from "./response-stream.ts";
import { upstreamRefusal } from "./upstream-refusal.ts";

/** Stores replies that later calls may refer to. */
export interface ReplyKeeper {
  keepReply(selected: SelectedTarget, body: Buffer): void;
  keepStream(selected: SelectedTarget, filter: StreamFilter): void;
}

/** The client has its response, whole or broken. */
export const concluded = { value: undefined } as const;

/** The usage of a whole reply is posted before it goes out, so that the client's next call finds the numbers. */
export function settleReply(
  admitted: AdmittedCall,
  selected: SelectedTarget,
  outcome: Extract<AttemptOutcome, { kind: "reply" }>,
  keeper: ReplyKeeper | undefined,
): Pending {
  const { services, settlement } = admitted;
  services.credentials.accepted(selected.credential);
  keeper?.keepReply(selected, outcome.body);
  services.metrics.attempt(selected.target.channel, "ok");
  const { format } = admitted.call.endpoint;
  for (const name of outcome.lost) services.metrics.parameterDropped(format, droppedLabel(format, name));
  return settlement.settleReply(outcome.reading);
}

export async function concludeOther(
  admitted: AdmittedCall,
  selected: SelectedTarget,
  outcome: Exclude<AttemptOutcome, { kind: "reply" }>,
  stream: ResponseStream | undefined,
  keeper: ReplyKeeper | undefined,
): Promise<Attempted<void>> {
  const { services, settlement } = admitted;
  const count = (label: Parameters<typeof services.metrics.attempt>[1]): void =>
    services.metrics.attempt(selected.target.channel, label);
  switch (outcome.kind) {
    case "streamed":
      if (outcome.problem === undefined) keepStreamed(selected, outcome, keeper);
      count(outcome.problem === undefined ? "ok" : "cut");
      await concludeStream(admitted, selected, outcome, stream);
      return concluded;
    case "stopped":
      count("aborted");
      await concludeStopped(admitted, outcome, stream);
      return concluded;
    case "upstream-error":
      count(labelOfError(outcome.error));
      return { failed: await concludeFailed(admitted, outcome, upstreamRefusal(admitted, selected, outcome.error)) };
    case "failure":
      count(labelOfFailure(outcome.failure));
      logFailedAttempt(admitted, selected, outcome.failure);
      return { failed: await concludeFailed(admitted, outcome, errorOfFailure(outcome.failure)) };
    case "invalid":
      count("invalid_reply");
      logInvalid(admitted, selected, outcome.reason);
      if (outcome.isOversized === true) {
        await settlement.settleOversized();
        throw errorOfInvalidReply(outcome.reason);
      }
      return { failed: await concludeFailed(admitted, outcome, errorOfInvalidReply(outcome.reason)) };
    default:
      return outcome satisfies never;
  }
}

function keepStreamed(
  selected: SelectedTarget,
  { reply, filter }: Extract<AttemptOutcome, { kind: "streamed" }>,
  keeper: ReplyKeeper | undefined,
): void {
  if (reply === undefined) keeper?.keepStream(selected, filter);
  else keeper?.keepReply(selected, reply);
}

/**
 * Another target may reply, unless something was generated: that is paid for, and most likely generated no better by
 * another, so that it is billed and not asked for again.
 * @throws error when it was
 */
async function concludeFailed(
  { settlement }: AdmittedCall,
  outcome: Extract<AttemptOutcome, { kind: "upstream-error" | "failure" | "invalid" }>,
  error: GatewayError,
): Promise<Failed> {
  if (settlement.hasContinued || isGenerated(outcome.filter)) {
    await settlement.settleBroken(outcome.filter);
    throw error;
  }
  await settlement.releaseChannel();
  return { ...failedAttempt(outcome), error };
}

/** Says what was broken in words of the format, never in words of the reply. */
function logInvalid({ record, services }: AdmittedCall, { target }: SelectedTarget, reason: string): void {
  services.log.warn("an upstream sent an invalid reply", {
    request: record.requestId,
    channel: target.channel,
    reason,
  });
}

function isGenerated(filter: StreamFilter | undefined): boolean {
  if (filter === undefined) return false;
  return (filter.usage !== undefined && outputTokens(filter.usage) > 0) || !isNothing(filter.produced());
}

/** @param contentType of the client's response, unless the reply has another */
export function sendReply(
  { exchange, record, responseHeaders }: AdmittedCall,
  contentType: string,
  { body, headers: passedHeaders, responseType = contentType }: Extract<AttemptOutcome, { kind: "reply" }>,
): void {
  record.status = 200;
  record.responseBytes = body.length;
  record.pieceSent();
  const { response } = exchange;
  // The list was made for this response: nobody else reads it.
  const headers = responseHeaders;
  for (const part of passedHeaders) headers.push(part);
  headers.push("content-type", responseType);
  response.writeHead(200, headers, body.length);
  endResponse(response, body);
}

async function concludeStream(
  admitted: AdmittedCall,
  selected: SelectedTarget,
  outcome: Extract<AttemptOutcome, { kind: "streamed" }>,
  stream: ResponseStream | undefined,
): Promise<void> {
  const { record, settlement } = admitted;
  record.status = 200;
  record.responseBytes = stream?.client.bytesWritten ?? 0;
  if (outcome.problem === undefined) {
    // Numbers at hand are posted before the end, so that the client's next call finds them; an estimate takes longer.
    const settled = settlement.settleStream(outcome.filter);
    if (outcome.filter.usage !== undefined && outcome.filter.isCut !== true) await settled;
    stream?.close();
    stream?.client.endClean();
    await settled;
    return;
  }
  const error = errorOfProblem(outcome.problem, (upstream) => upstreamRefusal(admitted, selected, upstream));
  record.cut(error.code, error.code === "upstream_timeout" ? "sD" : "SD");
  await Promise.all([
    endBroken(admitted, stream, error, outcome.filter, "sent"),
    settlement.settleBroken(outcome.filter),
  ]);
}

const endOfStop = { revoked: "KD", "shutting-down": "DD", overloaded: "RD" } as const;

async function concludeStopped(
  admitted: AdmittedCall,
  outcome: Extract<AttemptOutcome, { kind: "stopped" }>,
  stream: ResponseStream | undefined,
): Promise<void> {
  const { record, settlement } = admitted;
  const isStarted = stream?.client.isStarted === true;
  record.status = isStarted ? 200 : 0;
  record.responseBytes = stream?.client.bytesWritten ?? 0;
  if (outcome.reason === "client-left" || outcome.reason === "slow-reader") {
    const who = outcome.reason === "client-left" ? "C" : "c";
    record.clientLeft(`${who}${isStarted ? "D" : "H"}`);
    await settlement.settleStopped(outcome.filter, outcome.isSent);
    return;
  }
  const error = errorOfStop(outcome.reason);
  let ending: Promise<void> | undefined;
  if (isStarted) {
    record.cut(error.code, endOfStop[outcome.reason]);
    ending = endBroken(admitted, stream, error, outcome.filter, "withheld");
  }
  await Promise.all([ending, settlement.settleStopped(outcome.filter, outcome.isSent)]);
  if (!isStarted) throw error;
}

/** The client may read slowly: settlement does not wait for it. */
async function endBroken(
  admitted: AdmittedCall,
  stream: ResponseStream | undefined,
  error: GatewayError,
  filter: StreamFilter | undefined,
  rest: "sent" | "withheld",
): Promise<void> {
  const { record, services } = admitted;
  services.log.warn("a stream ended before it was complete", {
    request: record.requestId,
    channel: record.channel,
    code: error.code,
    cause: error.cause instanceof Error ? error.cause : undefined,
    reason: typeof error.cause === "string" ? error.cause : undefined,
  });
  await stream?.endFailed(error, filter, rest);
  record.responseBytes = stream?.client.bytesWritten ?? 0;
}

/** No target replied to a client that had got only signs of life. */
export async function failStarted(admitted: AdmittedCall, stream: ResponseStream, error: GatewayError): Promise<void> {
  const { record } = admitted;
  record.status = 200;
  record.cut(error.code, endOf(error.code, record.attempts > 0));
  await stream.endFailed(error, undefined, "sent");
  record.responseBytes = stream.client.bytesWritten;
}

/** A call that has passed every check and holds its reservation: what serving it needs. */
import type { Estimate } from "#proxy/admit/estimate-cost";
import type { ChatCall, ChatFormat } from "#proxy/formats/format";
import type { CallBytes } from "#proxy/http/in-flight-bytes";
import type { Exchange } from "#proxy/http1/server/exchange";
import type { RequestRecord } from "#proxy/observe/request-record";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import type { Route } from "#proxy/snapshot/types.gen";
import type { CallReferences } from "./references/resolve-call.ts";
import type { CallSettlement } from "./reservations/settle-call.ts";
import type { RunningCall } from "./revocation/is-still-allowed.ts";
import type { Services } from "./services.ts";

export interface AdmittedCall extends RunningCall {
  readonly exchange: Exchange;
  readonly services: Services;
  readonly snapshot: Snapshot;
  /** Counts what the call holds. */
  readonly inFlightBytes: CallBytes;
  readonly format: ChatFormat;
  readonly call: ChatCall;
  readonly route: Route;
  readonly estimate: Estimate;
  readonly settlement: CallSettlement;
  readonly record: RequestRecord;
  /** What the call went on from; undefined for one that refers to nothing. */
  readonly references?: CallReferences | undefined;
  /** Client headers that may go upstream, names in lower case. */
  readonly passedHeaders: Readonly<Record<string, string>>;
  /** Headers of the answer, names and values in turn: request id and rate limits; whoever answers adds the rest. */
  readonly answerHeaders: string[];
}

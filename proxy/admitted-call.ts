/** A call that has passed every check and holds its reservation: what serving it needs. */
import type { Estimate } from "./admit/estimate-cost.ts";
import type { CallBytes } from "./http/in-flight-bytes.ts";
import type { Exchange } from "./http1/exchange.ts";
import type { RunningCall } from "./is-still-allowed.ts";
import type { RequestRecord } from "./observe/request-record.ts";
import type { ChatCall, ChatFormat } from "./protocols/chat-format.ts";
import type { CallReferences } from "./resolve-call.ts";
import type { Services } from "./services.ts";
import type { CallSettlement } from "./settle-call.ts";
import type { Snapshot } from "./snapshot/snapshot.ts";
import type { Route } from "./snapshot/types.gen.ts";

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

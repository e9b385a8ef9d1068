/**
 * Describes a request as it passes the stages: with a known caller, then with an authorised call, then with a
 * reservation.
 */
import type { Estimate } from "#proxy/admit/estimate-cost";
import type { ChatCall, ClientFormat } from "#proxy/formats/format";
import type { IpAddress } from "#proxy/http/address/ip-address";
import type { CallBytes } from "#proxy/http/in-flight-bytes";
import type { Exchange } from "#proxy/http1/server/exchange";
import type { RequestRecord } from "#proxy/observe/request-record";
import type { FoundKey, Snapshot } from "#proxy/snapshot/snapshot";
import type { Route } from "#proxy/snapshot/types.gen";
import type { CallReferences } from "./references/resolve-call.ts";
import type { CallSettlement } from "./reservations/settle-call.ts";
import type { Services } from "./services.ts";

/** Who calls, from where: all that the head tells. */
export interface Caller {
  readonly exchange: Exchange;
  readonly services: Services;
  readonly record: RequestRecord;
  /** The configuration that the request keeps until its last byte. */
  readonly snapshot: Snapshot;
  /** The key as the client sent it. */
  readonly secret: string;
  readonly found: FoundKey;
  readonly clientAddress: IpAddress | undefined;
  /** Counts what the request holds. */
  readonly inFlightBytes: CallBytes;
}

/** A call that is allowed, with the route that serves it. */
export interface AuthorizedCall extends Caller {
  readonly format: ClientFormat;
  readonly call: ChatCall;
  readonly route: Route;
  /** What the call went on from; undefined for one that refers to nothing. */
  readonly references?: CallReferences | undefined;
  /** Client headers that may go upstream, names in lower case. */
  readonly passedHeaders: Readonly<Record<string, string>>;
}

/** A call that has passed every check and holds its reservation: what serving it needs. */
export interface AdmittedCall extends AuthorizedCall {
  readonly estimate: Estimate;
  readonly settlement: CallSettlement;
  /** Headers of the response, names and values alternating: request id and rate limits; the writer adds the rest. */
  readonly responseHeaders: string[];
}

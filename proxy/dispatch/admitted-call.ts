/**
 * Describes a request as it passes the stages: with a known caller, then with an authorised call, then with a
 * reservation.
 */
import type { ChatEstimate, Estimate } from "#proxy/admit/estimate-cost";
import type { ChatCall } from "#proxy/formats/format";
import type { ModelCall } from "#proxy/formats/model-call";
import type { IpAddress } from "#proxy/http/address/ip-address";
import type { CallBytes } from "#proxy/http/in-flight-bytes";
import type { Exchange } from "#proxy/http1/server/exchange";
import type { JsonObject } from "#proxy/json/json-value";
import type { RequestRecord } from "#proxy/observe/request-record";
import type { Affinity } from "#proxy/responses-state/resolve-references";
import type { FoundKey, Snapshot } from "#proxy/snapshot/snapshot";
import type { Route } from "#proxy/snapshot/types.gen";
import type { CallSettlement } from "./reservations/settle-call.ts";
import type { ChatSettlement } from "./reservations/settle-chat.ts";
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
export interface AuthorizedCall<Call extends ModelCall = ModelCall> extends Caller {
  readonly call: Call;
  readonly route: Route;
  /** Client headers that may go upstream, names in lower case. */
  readonly passedHeaders: Readonly<Record<string, string>>;
}

/** What a call went on from. */
export interface CallReferences {
  /** The body as the client sent it. */
  readonly asSent: JsonObject;
  readonly affinity: Affinity | undefined;
  /** Paths of references that the gateway does not know. */
  readonly unknown: readonly string[];
}

/** A chat call, which may go on from an earlier one. */
export interface AuthorizedChat extends AuthorizedCall<ChatCall> {
  /** What the call went on from; undefined for one that refers to nothing. */
  readonly references?: CallReferences | undefined;
}

/** A call that has passed every check and holds its reservation: what serving it needs. */
export interface AdmittedCall<Call extends ModelCall = ModelCall> extends AuthorizedCall<Call> {
  readonly estimate: Estimate;
  readonly settlement: CallSettlement;
  /** Headers of the response, names and values alternating: request id and rate limits; the writer adds the rest. */
  readonly responseHeaders: string[];
}

/** An admitted chat call. */
export interface AdmittedChat extends AdmittedCall<ChatCall>, AuthorizedChat {
  readonly estimate: ChatEstimate;
  readonly settlement: ChatSettlement;
}

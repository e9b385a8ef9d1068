/** Lists the parts that one attempt on one target is made of. */

import type { Produced } from "#proxy/formats/stream/produced";
import type { ByteCount } from "#proxy/http/in-flight-bytes";
import type { ProxyLimits } from "#proxy/limits";
import type { TokenUsage } from "#proxy/settle/usage";
import type { ClientStream } from "./client/client-stream.ts";
import type { ReplyReader } from "./reply/reply-reader.ts";
import type { ReplySource } from "./reply/reply-source.ts";
import type { UpstreamRequest } from "./upstream-exchange.ts";

/** @returns undefined where the upstream's own usage counts */
export type EstimateMissingUsage = (
  usage: TokenUsage | undefined,
  produced: () => Produced,
) => Promise<TokenUsage | undefined>;

export interface AttemptOptions {
  readonly upstream: ReplySource;
  readonly request: UpstreamRequest;
  readonly reader: ReplyReader;
  /** Fields of the client's that the upstream does not get, by the client's names. */
  readonly dropped: readonly string[];
  /** For clients that always get usage, where the upstream reports none: estimates the charge for the reply. */
  readonly estimateMissingUsage?: EstimateMissingUsage | undefined;
  readonly limits: ProxyLimits;
  /** Counts the bytes of the reply that wait here. */
  readonly inFlightBytes: ByteCount;
  /** Undefined for a call that is not streamed. */
  readonly client: ClientStream | undefined;
  /** First content has been passed on, and when each further piece was: for the latency metrics. */
  readonly onPiece: () => void;
  /** Each request of an attempt that takes several has been sent. */
  readonly onRequest?: (() => void) | undefined;
}

/** Lists the parts that one attempt on one target is made of. */

import type { ChatCall, UpstreamFormat } from "#proxy/formats/format";
import type { Produced } from "#proxy/formats/stream/produced";
import type { ByteCount } from "#proxy/http/in-flight-bytes";
import type { ProxyLimits } from "#proxy/limits";
import type { TokenUsage } from "#proxy/settle/usage";
import type { ReplyBridge } from "#proxy/translate/reply-bridge";
import type { Translation } from "#proxy/translate/translation";
import type { ClientStream } from "./client/client-stream.ts";
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
  /** Spoken with the upstream. */
  readonly format: UpstreamFormat;
  /** As the upstream reads it. */
  readonly call: ChatCall;
  /** Set when the client speaks another format: what goes to it is translated. */
  readonly translation: Translation | undefined;
  /** Fields of the client's that the upstream does not get, by the client's names. */
  readonly dropped: readonly string[];
  /** For a reply that is streamed though the client did not ask for it, or the reverse. */
  readonly bridge: () => ReplyBridge;
  /** For clients that always get usage, where the upstream reports none: estimates the charge for the reply. */
  readonly estimateMissingUsage?: EstimateMissingUsage | undefined;
  readonly limits: ProxyLimits;
  /** Counts the bytes of the reply that wait here. */
  readonly inFlightBytes: ByteCount;
  /** Undefined for a call that is not streamed. */
  readonly client: ClientStream | undefined;
  /** First content has been passed on, and when each further piece was: for the latency metrics. */
  readonly onPiece: () => void;
}

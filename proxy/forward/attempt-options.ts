/** What one attempt on one target is made of. */
import type { ByteCount } from "../http/in-flight-bytes.ts";
import type { ProxyLimits } from "../limits.ts";
import type { ChatCall, ChatFormat } from "../protocols/chat-format.ts";
import type { Produced } from "../protocols/produced.ts";
import type { TokenUsage } from "../settle/usage.ts";
import type { ReplyBridge } from "../translate/reply-bridge.ts";
import type { Translation } from "../translate/translation.ts";
import type { AnswerSource } from "./answer-source.ts";
import type { ClientStream } from "./client-stream.ts";
import type { UpstreamRequest } from "./upstream-exchange.ts";

/** @returns undefined where what the upstream told stands */
export type EstimateUntold = (
  usage: TokenUsage | undefined,
  produced: () => Produced,
) => Promise<TokenUsage | undefined>;

export interface AttemptOptions {
  readonly upstream: AnswerSource;
  readonly request: UpstreamRequest;
  /** Spoken with the upstream. */
  readonly format: ChatFormat;
  /** As the upstream reads it. */
  readonly call: ChatCall;
  /** Set when the client speaks another format: what goes to it is translated. */
  readonly translation: Translation | undefined;
  /** Fields of the client's that the upstream does not get, by the client's names. */
  readonly dropped: readonly string[];
  /** For an answer that is streamed though not asked to, or the reverse. */
  readonly bridge: () => ReplyBridge;
  /** For clients that are told usage in any case, where the upstream tells none: what the answer will be charged. */
  readonly estimateUntold?: EstimateUntold | undefined;
  readonly limits: ProxyLimits;
  /** What of the answer waits here counts there. */
  readonly inFlightBytes: ByteCount;
  /** Undefined for a call that is not streamed. */
  readonly client: ClientStream | undefined;
  /** First content has been passed on, and when each further piece was: for the latency metrics. */
  readonly onPiece: () => void;
}

/**
 * Defines the contract of a dialect: how one endpoint's call is said to an upstream of one wire format, and how its
 * reply is read. Chat has formats and translators; every other endpoint has dialects, one file each in its folder.
 *
 * A dialect knows nothing of channels' addresses, sockets or the ledger.
 */
import type { Services } from "#proxy/dispatch/services";
import type { UpstreamPlan } from "#proxy/formats/format";
import type { ModelCall } from "#proxy/formats/model-call";
import type { SpokenFormat } from "#proxy/route/select-target";
import type { TokenUsage } from "#proxy/settle/usage";
import type { WireFormat } from "#proxy/snapshot/types.gen";
import type { PartedReply, ReplyReader } from "#proxy/upstream/reply/reply-reader";
import type { WrittenRequest } from "#proxy/upstream/request/build-upstream-request";

/** What a call becomes for one upstream. */
export interface WrittenCall extends WrittenRequest {
  /** Fields of the client's that the upstream does not get, by the client's names. */
  readonly dropped: readonly string[];
  /** Where the upstream makes a part of the reply at once; absent where one request makes all of it. */
  readonly further?: FurtherRequests | undefined;
}

export interface FurtherRequests {
  /** Behind the first one; at least one. */
  readonly requests: readonly WrittenRequest[];
  /** Reads the replies, that to the first request among them, in place of the dialect's reader. */
  readonly reply: PartedReply;
}

export interface Dialect<Call extends ModelCall> {
  /**
   * Writes the call for an upstream.
   * @throws GatewayError for a call that the dialect cannot say, or that the channel must not get
   */
  write(call: Call, plan: UpstreamPlan): WrittenCall;
  /** Reads the reply to it. */
  reader(call: Call, plan: UpstreamPlan): ReplyReader;
  /** Counts what the client's response must report and the reply does not; undefined where it need not. */
  missingUsage?(call: Call, services: Pick<Services, "estimateTokens">): (() => Promise<TokenUsage>) | undefined;
}

/** The dialects of one endpoint. */
export interface Dialects<Call extends ModelCall> {
  /** Formats of channels that can serve a call, those first that keep most of it. */
  formatsFor(call: Call): readonly WireFormat[];
  /** The same for one model of an upstream, where their order depends on it; `formatsFor` when absent. */
  formatsOf?(call: Call, upstreamModel: string): readonly WireFormat[];
  /** The dialect of a format as a channel speaks it. */
  dialectOf(call: Call, spoken: SpokenFormat): Dialect<Call>;
  /**
   * The client's spellings of a parameter that the call has, where they are not just members of its body.
   * @param name as a route spells it
   */
  namesIn?(call: Call, name: string): readonly string[];
}

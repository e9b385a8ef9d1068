/**
 * Bridges a reply between streaming and not streaming: a client that does not stream gets a whole reply though the
 * upstream streamed, and a streaming client gets events though it did not (docs/design/translation.md 9.3).
 *
 * The translation does it where the client speaks another format; where both speak one format nothing is translated
 * (`same-format-bridge.ts`). `upstream/attempt.ts` calls it when the whole reply has arrived.
 */
import type { ReplyReading } from "#proxy/formats/format";
import type { TokenUsage } from "#proxy/settle/usage";

/** A reply for a client that does not stream. */
export interface WholeReply {
  readonly body: Buffer;
  /** Of what the upstream said and no whole reply can say: by the format's own names. */
  readonly lost: readonly string[];
}

export interface ReplyBridge {
  /**
   * Usage, error and text of a success that is one object.
   * @throws InvalidReply, GatewayError when it is not a reply of its format
   */
  readReply(body: Buffer): ReplyReading;
  /**
   * For a client that does not stream.
   * @param body one object without an error in it, or the events of a whole stream as its format's filter let them pass
   * @param told usage in place of what the upstream told
   * @throws InvalidReply
   */
  translateReply(body: Buffer, told?: TokenUsage): WholeReply;
  /**
   * For a client that streams.
   * @param body as of `translateReply`
   * @param told as of `translateReply`
   * @throws InvalidReply
   */
  streamOfReply(body: Buffer, told?: TokenUsage): readonly Buffer[];
}

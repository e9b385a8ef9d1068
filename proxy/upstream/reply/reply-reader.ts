/**
 * Defines how the reply to one call is read, whichever endpoint asks: `attempt.ts` moves bytes and knows no format.
 *
 * `chat-reader.ts` reads the chat formats; the other endpoints bring readers of their own.
 */
import type { ReplyReading, StreamFilter } from "#proxy/formats/format";
import type { ReplyBridge } from "#proxy/translate/reply-bridge";

export interface ReplyReader {
  /** Content type of the reply that was asked for. */
  readonly contentType: string;
  /**
   * Where the content type of a successful reply decides how its body is read: told before the first byte of it. Absent
   * where every reply that is no JSON is a stream.
   * @param contentType as the upstream wrote it; empty where it wrote none
   */
  judge?(contentType: string): JudgedReply;
  /** A whole reply cannot pass as it is: the bridge makes the client's response of it. */
  readonly isBridged: boolean;
  /**
   * Whether a successful body is a whole reply that may pass.
   * @throws GatewayError, InvalidReply when it is none
   */
  readReply(body: Buffer): ReplyReading;
  /** Absent where the endpoint never streams. */
  readonly streams?: StreamReader | undefined;
  /** For a reply that is streamed though the client did not ask for it, or the reverse, or that must be translated. */
  bridge(): ReplyBridge;
}

/** How a successful reply is read, by its content type. */
export interface JudgedReply {
  /** Absent: the body is collected and read when it is whole. */
  readonly streams?: StreamReader | undefined;
  /** The stream is raw bytes such as sound: neither comments nor the start of an object is looked for in them. */
  readonly isOpaque?: boolean | undefined;
  /** Content type of the client's response, where that is not the writer's own. */
  readonly responseType?: string | undefined;
}

/** How a reply in events is read. */
export interface StreamReader {
  /**
   * Creates the filter of a stream for the client, translating where it must be.
   * @param waitsForUsage the end waits for numbers that the upstream did not send
   */
  createFilter(waitsForUsage: boolean): StreamFilter;
  /**
   * Creates a filter of the upstream's own stream that passes it untranslated.
   * @param isCollected for a client that does not stream: it always gets usage, and Google's array is read as events
   */
  createOwnFilter(isCollected: boolean): StreamFilter;
}

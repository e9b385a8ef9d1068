/**
 * Defines how the reply to one call is read, whichever endpoint asks: `attempt.ts` moves bytes and knows no format.
 *
 * `chat-reader.ts` reads the chat formats; the other endpoints bring readers of their own.
 */
import type { ReplyReading, StreamFilter } from "#proxy/formats/format";
import type { ReplyBridge, WholeReply } from "#proxy/translate/reply-bridge";

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
  /**
   * What a request counts for that was sent, and whose whole reply nobody will read. Absent where the call tells it
   * (`UnitCounter`).
   */
  missedReply?(): ReplyReading;
  /** Absent where the endpoint never streams. */
  readonly streams?: StreamReader | undefined;
  /** For a reply that is streamed though the client did not ask for it, or the reverse, or that must be translated. */
  bridge(): ReplyBridge;
}

/**
 * Reads one reply that takes several requests (`repeated-attempt.ts`): each part when it comes, and only once. Positions are
 * those of the requests, from 0.
 */
export interface PartedReply {
  /** @throws InvalidReply for what is neither a part nor an error */
  readPart(position: number, body: Buffer): ReplyReading;
  /** The request was sent, and nobody will read its reply: what it asked for counts as made. */
  missPart(position: number): void;
  /** Of all parts without an error, and those that were missed. */
  reading(): ReplyReading;
  /** All parts together, for a client that does not stream. */
  translate(): WholeReply;
  /** For one that streams. */
  stream(): readonly Buffer[];
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

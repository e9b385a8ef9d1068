/**
 * Collects a body that must be complete before any of it is sent: a reply that is not streamed, an error, or a stream
 * for a client that does not stream.
 *
 * A stream that broke off on its way was still generated: its part is metered like any other, so that it can be
 * charged.
 */
import type { StreamFilter } from "#proxy/formats/format";
import { hasHeader, headerValues, type RawHeaders } from "#proxy/http1/wire/header-values";
import { joined, mayBeReply, startsWithStream } from "./body-start.ts";
import type { StreamReader } from "./reply-reader.ts";

/** Error bodies are read no further than this; the rest says nothing more. */
export const errorBodyBytesMax = 256 * 1024;

/** An upstream that says to send more has to send it first: memory is not set aside on its word alone. */
const roomBytesMax = 8 * 1024 * 1024;

export class CollectedReply {
  readonly bytesMax: number;
  readonly #expectedBytes: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** Where a body of known length is collected, so that its bytes are copied once and not joined again. */
  #room: Buffer | undefined;
  #roomUsed = 0;
  #isInRoom = true;

  /**
   * @param bytesMax no more is kept
   * @param expectedBytes length of the whole body; 0 where it is not known
   */
  constructor(bytesMax: number, expectedBytes = 0) {
    this.bytesMax = bytesMax;
    this.#expectedBytes = expectedBytes;
  }

  /** For the body behind a head. @param bytesMax as of the constructor */
  static of(headers: RawHeaders, bytesMax: number): CollectedReply {
    const [length = "0"] = headerValues(headers, "content-length");
    const isEncoded = hasHeader(headers, "content-encoding");
    return new CollectedReply(bytesMax, isEncoded ? 0 : Number(length));
  }

  /** A copy of the next chunk, to be kept: the memory that it lies in is read into again. */
  copy(chunk: Buffer): Buffer {
    const start = this.#roomUsed;
    const end = start + chunk.length;
    if (start === 0 && this.#expectedBytes > end && this.#expectedBytes <= roomBytesMax) {
      this.#room = Buffer.allocUnsafeSlow(this.#expectedBytes);
    }
    if (this.#room === undefined || end > this.#room.length) {
      this.#isInRoom = false;
      return Buffer.from(chunk);
    }
    chunk.copy(this.#room, start);
    this.#roomUsed = end;
    return this.#room.subarray(start, end);
  }

  /** Bytes that came. */
  get bytes(): number {
    return this.#bytes;
  }

  get isOversized(): boolean {
    return this.#bytes > this.bytesMax;
  }

  /** What says what the body is. */
  get start(): Buffer {
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  /** Counts what came. @returns whether it may be kept */
  count(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    return !this.isOversized;
  }

  keep(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  /** What is wrong with a success that is too large. @param chunk what came last */
  excess(chunk: Buffer): { readonly reason: string; readonly isOversized: boolean } {
    // A page of HTML was not generated, however long it is.
    const start = this.start.length === 0 ? chunk : this.start;
    return { reason: `the reply exceeds ${this.bytesMax} bytes`, isOversized: mayBeReply(start) };
  }

  body(): Buffer {
    if (this.#room !== undefined && this.#isInRoom) return this.#room.subarray(0, this.#roomUsed);
    return joined(this.#chunks);
  }

  /** Others may be waiting for the room. */
  forget(): void {
    this.#chunks.length = 0;
    this.#room = undefined;
  }

  /** What came so far of a stream, without its end; undefined for any other body. */
  filterOfPart(reader: StreamReader | undefined): StreamFilter | undefined {
    const body = this.body();
    if (reader === undefined || !startsWithStream(body)) return undefined;
    const filter = reader.createOwnFilter(true);
    filter.push(body);
    return filter;
  }
}

/** A whole stream, or Google's array: how it was metered, and the events that passed. */
export function readCollectedStream(
  body: Buffer,
  reader: StreamReader,
): { readonly filter: StreamFilter; readonly events: Buffer } {
  const filter = reader.createOwnFilter(true);
  return { filter, events: joined([...filter.push(body), ...filter.end()]) };
}

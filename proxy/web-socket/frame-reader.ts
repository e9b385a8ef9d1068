/**
 * Reads the frames of one side of a WebSocket (PURE; RFC 6455 section 5), however the bytes are cut into chunks.
 *
 * A message that came in one frame is handed on together with the bytes of that frame, so that whoever only looked at it can
 * pass it on as it is, mask and all. Extensions are never agreed, so that every reserved bit is a violation. The first
 * violation and the first close end the reading: what comes behind is no part of the protocol any more.
 */
import { isUtf8 } from "node:buffer";
import { invalidText, isSendable, noCode, protocolError, tooLarge, tooManyFrames } from "./close-codes.ts";
import { FrameBuffer } from "./frame-buffer.ts";
import { unmasked } from "./masking.ts";
import { opcodes } from "./opcodes.ts";

export interface FrameListener {
  /**
   * A whole message; text is UTF-8.
   * @param payload readable during the call alone: copy what is kept
   * @param frame all its bytes, where it came in one frame; readable as long as the chunk that was pushed
   */
  onMessage(payload: Buffer, frame: Buffer | undefined, isBinary: boolean): void;
  onPing(payload: Buffer): void;
  /** @param code 1005 where it has none */
  onClose(code: number, reason: string): void;
  /** It broke the protocol or a bound. @param code to close with */
  onViolation(code: number): void;
}

export interface FrameRules {
  /** What clients send is masked, what servers send is not (RFC 6455 section 5.1). */
  readonly isMasked: boolean;
  readonly messageBytesMax: number;
}

/** An endless message of empty frames takes no memory, but time. */
const fragmentsMax = 128 * 1024;
const controlBytesMax = 125;
const finalBit = 0x80;
const reservedBits = 0x70;
const opcodeBits = 0x0f;
const maskBit = 0x80;
const lengthBits = 0x7f;

export class FrameReader {
  readonly #rules: FrameRules;
  readonly #listener: FrameListener;
  /** The beginning of a frame whose end has not come. */
  readonly #pending = new FrameBuffer();
  /** The payloads of a message whose last frame has not come. */
  readonly #fragments = new FrameBuffer();
  /** Of that message; undefined between two messages. */
  #fragmented: number | undefined;
  #fragmentCount = 0;
  #isOver = false;
  /** Of the frame that `#measure` looked at. */
  #headLength = 0;
  #payloadLength = 0;

  constructor(rules: FrameRules, listener: FrameListener) {
    this.#rules = rules;
    this.#listener = listener;
  }

  /** Of a message that is not whole yet. */
  get heldBytes(): number {
    return this.#pending.length + this.#fragments.length;
  }

  /** @param chunk nothing of it is kept */
  push(chunk: Buffer): void {
    let at = this.#pending.length === 0 ? 0 : this.#complete(chunk);
    while (at < chunk.length && !this.#isOver) {
      const length = this.#measure(chunk, at);
      if (length > chunk.length - at) {
        this.#pending.append(chunk, at, chunk.length, length);
        return;
      }
      if (!this.#isOver) this.#accept(chunk, at, at + length);
      at += length;
    }
  }

  /** Completes the frame that began in an earlier chunk. @returns how much of this one belongs to it */
  #complete(chunk: Buffer): number {
    let at = 0;
    while (!this.#isOver) {
      const length = this.#measure(this.#pending.view(), 0);
      const missing = length - this.#pending.length;
      if (this.#isOver) break;
      if (missing === 0) {
        this.#accept(this.#pending.take(), 0, length);
        break;
      }
      if (at === chunk.length) break;
      const end = Math.min(chunk.length, at + missing);
      this.#pending.append(chunk, at, end, length);
      at = end;
    }
    return at;
  }

  /** @returns how long the frame is that begins at `at`, or its head where that is not whole */
  #measure(bytes: Buffer, at: number): number {
    const left = bytes.length - at;
    if (left < 2) return 2;
    const first = bytes[at] ?? 0;
    const second = bytes[at + 1] ?? 0;
    const short = second & lengthBits;
    if (!this.#mayStand(first, short, (second & maskBit) !== 0)) return this.#violate(protocolError);
    const lengthBytes = short < 126 ? 0 : short === 126 ? 2 : 8;
    const headLength = 2 + lengthBytes + (this.#rules.isMasked ? 4 : 0);
    if (left < headLength) return headLength;
    const payloadLength =
      lengthBytes === 0
        ? short
        : lengthBytes === 2
          ? bytes.readUInt16BE(at + 2)
          : bytes.readUInt32BE(at + 2) * 2 ** 32 + bytes.readUInt32BE(at + 6);
    // The shortest form that holds it must be used (RFC 6455 section 5.2).
    if (payloadLength < shortestOf(lengthBytes)) return this.#violate(protocolError);
    const isControl = (first & 0x08) !== 0;
    if (!isControl && payloadLength + this.#fragments.length > this.#rules.messageBytesMax)
      return this.#violate(tooLarge);
    this.#headLength = headLength;
    this.#payloadLength = payloadLength;
    return headLength + payloadLength;
  }

  /** Whether a frame that begins so may come now (RFC 6455 sections 5.2, 5.4 and 5.5). */
  #mayStand(first: number, short: number, isMasked: boolean): boolean {
    if ((first & reservedBits) !== 0 || isMasked !== this.#rules.isMasked) return false;
    switch (first & opcodeBits) {
      case opcodes.continuation:
        return this.#fragmented !== undefined;
      case opcodes.text:
      case opcodes.binary:
        return this.#fragmented === undefined;
      case opcodes.close:
      case opcodes.ping:
      case opcodes.pong:
        return (first & finalBit) !== 0 && short <= controlBytesMax;
      default:
        return false;
    }
  }

  /** A whole frame that `#measure` has just looked at. */
  #accept(bytes: Buffer, start: number, end: number): void {
    const first = bytes[start] ?? 0;
    const payloadStart = start + this.#headLength;
    const payload = this.#rules.isMasked
      ? unmasked(bytes, payloadStart - 4, payloadStart, payloadStart + this.#payloadLength)
      : bytes.subarray(payloadStart, end);
    const opcode = first & opcodeBits;
    if (opcode >= opcodes.close) this.#control(opcode, payload);
    else if (this.#fragmented === undefined && (first & finalBit) !== 0) {
      const frame = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
      this.#message(opcode, payload, frame);
    } else this.#fragment(opcode, payload, (first & finalBit) !== 0);
  }

  #fragment(opcode: number, payload: Buffer, isLast: boolean): void {
    this.#fragmented ??= opcode;
    this.#fragmentCount += 1;
    if (this.#fragmentCount > fragmentsMax) {
      this.#violate(tooManyFrames);
      return;
    }
    this.#fragments.append(payload, 0, payload.length);
    if (!isLast) return;
    const kind = this.#fragmented;
    this.#fragmented = undefined;
    this.#fragmentCount = 0;
    this.#message(kind, this.#fragments.take(), undefined);
  }

  #message(opcode: number, payload: Buffer, frame: Buffer | undefined): void {
    if (opcode === opcodes.text && !isUtf8(payload)) this.#violate(invalidText);
    else this.#listener.onMessage(payload, frame, opcode === opcodes.binary);
  }

  #control(opcode: number, payload: Buffer): void {
    if (opcode === opcodes.ping) this.#listener.onPing(payload);
    else if (opcode === opcodes.close) this.#close(payload);
  }

  #close(payload: Buffer): void {
    const code = payload.length === 0 ? noCode : payload.length === 1 ? 0 : payload.readUInt16BE();
    const reason = payload.subarray(2);
    if (code !== noCode || payload.length > 0) {
      if (!isSendable(code)) {
        this.#violate(protocolError);
        return;
      }
      if (!isUtf8(reason)) {
        this.#violate(invalidText);
        return;
      }
    }
    this.#isOver = true;
    this.#listener.onClose(code, reason.toString());
  }

  /** @returns a length, for the caller that stops there */
  #violate(code: number): number {
    this.#isOver = true;
    this.#pending.take();
    this.#fragments.take();
    this.#listener.onViolation(code);
    return 0;
  }
}

/** The least length that needs so many bytes more than seven bits. */
function shortestOf(lengthBytes: number): number {
  return lengthBytes === 0 ? 0 : lengthBytes === 2 ? 126 : 65_536;
}

/**
 * Writes frames (RFC 6455 section 5.2), each whole: nothing is sent in fragments.
 *
 * What we write as a client is masked by four bytes that nobody can foresee (RFC 6455 section 5.3), so that nobody between the
 * two can be made to read a message as something else. A frame that a relay passes on (`WebSocketConnection.pass`) keeps the
 * mask that our own client chose: whoever can choose it knows what goes over the wire.
 */
import { randomFillSync } from "node:crypto";
import { maskFrom } from "./masking.ts";
import { type Opcode, opcodes } from "./opcodes.ts";

/** A close has two bytes of a code, and with its reason 125 at most (RFC 6455 section 5.5). */
const reasonBytesMax = 123;

export function writeFrame(opcode: Opcode, payload: Buffer | string, isMasked: boolean): Buffer {
  const length = typeof payload === "string" ? Buffer.byteLength(payload) : payload.length;
  const headLength = (length < 126 ? 2 : length < 65_536 ? 4 : 10) + (isMasked ? 4 : 0);
  const frame = Buffer.allocUnsafe(headLength + length);
  const maskFlag = isMasked ? 0x80 : 0;
  frame[0] = 0x80 | opcode;
  if (length < 126) frame[1] = maskFlag | length;
  else if (length < 65_536) {
    frame[1] = maskFlag | 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = maskFlag | 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  if (typeof payload === "string") frame.write(payload, headLength);
  else payload.copy(frame, headLength);
  if (isMasked) {
    randomFillSync(frame, headLength - 4, 4);
    maskFrom(frame, headLength);
  }
  return frame;
}

/** @param code undefined: without one @param reason cut to what fits */
export function writeClose(code: number | undefined, reason: string, isMasked: boolean): Buffer {
  if (code === undefined) return writeFrame(opcodes.close, "", isMasked);
  const text = Buffer.from(cut(reason));
  const payload = Buffer.allocUnsafe(2 + text.length);
  payload.writeUInt16BE(code);
  text.copy(payload, 2);
  return writeFrame(opcodes.close, payload, isMasked);
}

function cut(reason: string): string {
  let text = reason;
  while (Buffer.byteLength(text) > reasonBytesMax) text = text.slice(0, -1);
  return text;
}

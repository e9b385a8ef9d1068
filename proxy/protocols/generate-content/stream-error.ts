/** Ends a generateContent stream that failed: an error frame, or an error element and the array's end (`protocols/errors.md` section 6). */
import type { GatewayError } from "../../errors.ts";
import { encodeEvent } from "../../sse/encoder.ts";
import type { ChatCall, ErrorContext, StreamMeter } from "../chat-format.ts";
import { errorObject } from "../render-error.ts";
import { GenerateContentStreamMeter } from "./stream-meter.ts";

/** The SDK recognises an error by its numeric `code` from 400 to 599, which every row of the error table has. */
export function renderStreamError(
  error: GatewayError,
  context: ErrorContext,
  meter: StreamMeter | undefined,
  call: ChatCall,
): Buffer {
  const text = JSON.stringify(errorObject(error, "Gemini", context));
  if (call.endpoint.geminiStream !== "array") return encodeEvent(undefined, text);
  const written = meter instanceof GenerateContentStreamMeter ? meter.elementsWritten : 0;
  return Buffer.from(`${written === 0 ? "[" : ",\r\n"}${text}]`);
}

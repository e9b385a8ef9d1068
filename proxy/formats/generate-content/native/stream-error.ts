/**
 * Ends a generateContent stream that failed: an error frame, or an error element and the array's end
 * (docs/design/errors.md 6).
 */
import type { GatewayError } from "#proxy/errors";
import type { ChatCall, ErrorContext, StreamFilter } from "#proxy/formats/format";
import { errorObject } from "#proxy/formats/render-error";
import { encodeEvent } from "#proxy/sse/encoder";
import { GenerateContentStreamFilter } from "./stream-filter.ts";

/** The SDK recognises an error by its numeric `code` from 400 to 599, which every row of the error table has. */
export function renderStreamError(
  error: GatewayError,
  context: ErrorContext,
  filter: StreamFilter | undefined,
  call: ChatCall,
): Buffer {
  const text = JSON.stringify(errorObject(error, "Gemini", context));
  if (call.endpoint.geminiStream !== "array") return encodeEvent(undefined, text);
  const written = filter instanceof GenerateContentStreamFilter ? filter.elementsWritten : 0;
  return Buffer.from(`${written === 0 ? "[" : ",\r\n"}${text}]`);
}

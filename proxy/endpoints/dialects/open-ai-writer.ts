/** Writes the responses of OpenAI-style endpoints that are no chat: JSON, server-sent events, text or sound. */
import type { ClientWriter } from "#proxy/dispatch/client-writer";
import type { GatewayError } from "#proxy/errors";
import type { ErrorContext } from "#proxy/formats/format";
import { errorObject } from "#proxy/formats/render-error";

/**
 * A whole response of one content type, or raw bytes as they come: these have no place for an error, so that the connection
 * ends without the terminator.
 */
export function wholeWriter(contentType: string): ClientWriter {
  return { contentType, failsCleanly: false, failureEvent: () => Buffer.alloc(0) };
}

export const jsonWriter = wholeWriter("application/json");

const comment = Buffer.from(": wait\n\n");

/**
 * Events of the official SDKs: an `error` event makes them throw, and a comment is nothing to them.
 *
 * The failure ends the stream cleanly, since clients let a broken transport outrank the failure that they have read
 * (docs/design/requests.md 3).
 */
export const eventWriter: ClientWriter = {
  contentType: "text/event-stream; charset=utf-8",
  failsCleanly: true,
  signOfLife: () => comment,
  failureEvent: (error: GatewayError, context: ErrorContext) => {
    const data = JSON.stringify({ type: "error", ...errorObject(error, "OpenAI", context) });
    return Buffer.from(`event: error\ndata: ${data}\n\n`);
  },
};

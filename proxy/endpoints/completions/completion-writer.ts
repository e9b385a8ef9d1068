/** Writes the responses of completions, whose streams end and fail as those of chat completions do. */
import type { ClientWriter } from "#proxy/dispatch/client-writer";
import { errorObject } from "#proxy/formats/render-error";
import { encodeEvent } from "#proxy/sse/encoder";
import type { CompletionCall } from "./read-completion.ts";

const comment = Buffer.from(": keep-alive\n\n");

export function contentTypeOf({ stream }: CompletionCall): string {
  return stream ? "text/event-stream; charset=utf-8" : "application/json";
}

export function completionWriter(call: CompletionCall): ClientWriter {
  return {
    contentType: contentTypeOf(call),
    failsCleanly: true,
    signOfLife: () => comment,
    failureEvent: (error, context) => encodeEvent(undefined, JSON.stringify(errorObject(error, "OpenAI", context))),
  };
}

/** Passes recordings on to upstreams that write them down in the same format. */
import type { Dialects } from "#proxy/endpoints/dialects/dialect";
import { editForm } from "#proxy/endpoints/forms/edit-form";
import type { TranscriptCall } from "./read-transcript.ts";
import { TranscriptReader } from "./transcript-reader.ts";

/** There is no other format of it. */
export function transcriptDialects(eventBytesMax: number): Dialects<TranscriptCall> {
  const openAI: ReturnType<Dialects<TranscriptCall>["dialectOf"]> = {
    write: (call, plan) => {
      const written = editForm({ form: call.form, fields: call.body }, call.endpoint.format, plan);
      return call.stream ? written : { ...written, accepts: "bytes" };
    },
    reader: (call) => new TranscriptReader(call, eventBytesMax),
  };
  return { formatsFor: ({ endpoint }) => [endpoint.format], dialectOf: () => openAI };
}

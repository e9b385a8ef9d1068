/**
 * Translates for clients of chat completions: reads their requests, and writes replies and streams
 * (docs/design/chat-completions.md, docs/design/translation.md). It keeps the invariants of `Translator`;
 * `translators.ts` lists it.
 */
import type { ClientTranslator } from "#proxy/formats/translator";
import { fieldNames } from "./field-names.ts";
import { removeSealedState } from "./remove-sealed-state.ts";
import { writeReply } from "./reply/write-reply.ts";
import { readRequest } from "./request/read/read-request.ts";
import { ChunkWriter } from "./stream/write-stream.ts";

export const chatCompletionsClientTranslator: ClientTranslator = {
  format: "ChatCompletions",
  readRequest,
  writeReply,
  createStreamWriter: (context) => new ChunkWriter(context),
  fieldNames,
  removeSealedState,
};

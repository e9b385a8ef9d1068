/**
 * Chat completions in translation: reads and writes requests, replies and streams of the format
 * (`protocols/openai-chat.md`, `translation.md`). Invariants are those of `Translator`; called through `translators.ts`.
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

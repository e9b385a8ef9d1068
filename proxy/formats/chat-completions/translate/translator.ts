/**
 * Chat completions in translation: reads and writes requests, replies and streams of the format
 * (`protocols/openai-chat.md`, `translation.md`). Invariants are those of `Translator`; called through `translators.ts`.
 */
import type { Translator } from "#proxy/formats/translator";
import { fieldNames } from "./field-names.ts";
import { removeSealedState } from "./remove-sealed-state.ts";
import { readReply } from "./reply/read-reply.ts";
import { writeReply } from "./reply/write-reply.ts";
import { readRequest } from "./request/read/read-request.ts";
import { needsDownload } from "./request/write/write-content.ts";
import { writeRequest } from "./request/write/write-request.ts";
import { ChunkReader } from "./stream/read-stream.ts";
import { ChunkWriter } from "./stream/write-stream.ts";

export const chatCompletionsTranslator: Translator = {
  format: "ChatCompletions",
  readRequest,
  writeRequest,
  readReply,
  writeReply,
  createStreamReader: () => new ChunkReader(),
  citesLate: true,
  createStreamWriter: (context) => new ChunkWriter(context),
  fieldNames,
  needsDownload,
  removeSealedState,
};

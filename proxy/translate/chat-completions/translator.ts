/**
 * Chat completions in translation: reads and writes requests, replies and streams of the format
 * (`protocols/openai-chat.md`, `translation.md`). Invariants are those of `Translator`; called through `translators.ts`.
 */
import type { Translator } from "../translator.ts";
import { fieldNames } from "./field-names.ts";
import { readRequest } from "./read/read-request.ts";
import { removeSealedState } from "./remove-sealed-state.ts";
import { readReply } from "./reply/read-reply.ts";
import { writeReply } from "./reply/write-reply.ts";
import { ChunkReader } from "./stream/read-stream.ts";
import { ChunkWriter } from "./stream/write-stream.ts";
import { needsDownload } from "./write/write-content.ts";
import { writeRequest } from "./write/write-request.ts";

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

/**
 * Chat completions in translation: reads and writes requests, replies and streams of the format
 * (`protocols/openai-chat.md`, `translation.md`). Invariants are those of `Translator`; called through `translators.ts`.
 */
import type { UpstreamTranslator } from "#proxy/formats/translator";
import { readReply } from "./reply/read-reply.ts";
import { needsDownload } from "./request/write/write-content.ts";
import { writeRequest } from "./request/write/write-request.ts";
import { ChunkReader } from "./stream/read-stream.ts";

export const chatCompletionsUpstreamTranslator: UpstreamTranslator = {
  format: "ChatCompletions",
  writeRequest,
  readReply,
  createStreamReader: () => new ChunkReader(),
  citesLate: true,
  needsDownload,
};

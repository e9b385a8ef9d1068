/**
 * Translates for upstreams of chat completions: writes requests, and reads replies and streams
 * (docs/design/chat-completions.md, docs/design/translation.md). It keeps the invariants of `Translator`;
 * `translators.ts` lists it.
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

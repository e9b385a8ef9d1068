/**
 * Translates for upstreams of generateContent and streamGenerateContent (Gemini-style).
 *
 * `request/read/` reads clients' bodies, `request/write/` writes bodies for Google's models, `reply/` and `stream/`
 * read and write replies. `neutral/traits/gemini-models.ts` holds all that depends on a model, `thought-signature.ts`
 * says where state travels. `translators.ts` lists it; it knows no other format.
 */
import type { UpstreamTranslator } from "#proxy/formats/translator";
import { readReply } from "./reply/read-reply.ts";
import { needsDownload } from "./request/write/write-media.ts";
import { writeRequest } from "./request/write/write-request.ts";
import { GenerateContentStreamReader } from "./stream/read-stream.ts";

export const generateContentUpstreamTranslator: UpstreamTranslator = {
  format: "GenerateContent",
  writeRequest,
  readReply,
  createStreamReader: () => new GenerateContentStreamReader(),
  citesLate: true,
  needsDownload,
};

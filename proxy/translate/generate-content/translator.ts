/**
 * Translation of generateContent and streamGenerateContent (Gemini-style), both directions.
 *
 * `request/` reads clients' bodies and writes bodies for Google's models, `reply/` and `stream/` do the same for what
 * comes back. `model-traits.ts` holds all that depends on a model, `thought-signature.ts` where state travels. Called
 * through `translators.ts`; other formats are unknown here.
 */
import type { Translator } from "../translator.ts";
import { fieldName } from "./field-names.ts";
import { readReply } from "./reply/read-reply.ts";
import { writeReply } from "./reply/write-reply.ts";
import { readRequest } from "./request/read-request.ts";
import { removeSealedState } from "./request/remove-sealed-state.ts";
import { writeRequest } from "./request/write-request.ts";
import { GenerateContentStreamReader } from "./stream/read-stream.ts";
import { GenerateContentStreamWriter } from "./stream/write-stream.ts";

export { needsDownload } from "./request/write-media.ts";

export const generateContentTranslator: Translator = {
  format: "GenerateContent",
  readRequest,
  writeRequest,
  readReply,
  writeReply,
  createStreamReader: () => new GenerateContentStreamReader(),
  createStreamWriter: (context) => new GenerateContentStreamWriter(context),
  fieldName,
  removeSealedState,
};

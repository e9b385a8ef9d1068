/**
 * Translates for clients of generateContent and streamGenerateContent (Gemini-style).
 *
 * `request/read/` reads clients' bodies, `request/write/` writes bodies for Google's models, `reply/` and `stream/`
 * read and write replies. `neutral/traits/gemini-models.ts` holds all that depends on a model, `thought-signature.ts`
 * says where state travels. `translators.ts` lists it; it knows no other format.
 */
import type { ClientTranslator } from "#proxy/formats/translator";
import { fieldNames } from "./field-names.ts";
import { removeSealedState } from "./remove-sealed-state.ts";
import { writeReply } from "./reply/write-reply.ts";
import { readRequest } from "./request/read/read-request.ts";
import { GenerateContentStreamWriter } from "./stream/write-stream.ts";
import { sealedSignatureMark } from "./thought-signature.ts";

export const generateContentClientTranslator: ClientTranslator = {
  format: "GenerateContent",
  readRequest,
  writeReply,
  createStreamWriter: (context) => new GenerateContentStreamWriter(context),
  fieldNames,
  sealedStateMarks: [sealedSignatureMark],
  removeSealedState,
};

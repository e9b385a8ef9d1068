// PLACEHOLDER until the real one is written: replace this file.
import type { Translator } from "../translator.ts";

function missing(): never {
  throw new Error("generate-content cannot be translated yet");
}

export const generateContentTranslator: Translator = {
  format: "GenerateContent",
  readRequest: missing,
  writeRequest: missing,
  readReply: missing,
  writeReply: missing,
  createStreamReader: missing,
  createStreamWriter: missing,
  fieldName: (field) => field,
  removeSealedState: (body) => body,
};

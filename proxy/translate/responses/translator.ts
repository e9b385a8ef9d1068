// PLACEHOLDER until the real one is written: replace this file.
import type { Translator } from "../translator.ts";

function missing(): never {
  throw new Error("responses cannot be translated yet");
}

export const responsesTranslator: Translator = {
  format: "Responses",
  readRequest: missing,
  writeRequest: missing,
  readReply: missing,
  writeReply: missing,
  createStreamReader: missing,
  createStreamWriter: missing,
  fieldName: (field) => field,
  removeSealedState: (body) => body,
};

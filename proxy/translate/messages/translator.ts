/** Messages (Anthropic-style) as one side of a translation. */
import type { Translator } from "../translator.ts";
import { fieldName } from "./field-names.ts";
import { readRequest } from "./read-request/read-request.ts";
import { removeSealedState } from "./remove-sealed-state.ts";
import { readReply } from "./reply/read-reply.ts";
import { writeReply } from "./reply/write-reply.ts";
import { MessageReader } from "./stream/read-stream.ts";
import { MessageWriter } from "./stream/write-stream.ts";
import { writeRequest } from "./write-request/write-request.ts";

export const messagesTranslator: Translator = {
  format: "Messages",
  readRequest,
  writeRequest,
  readReply,
  writeReply,
  createStreamReader: () => new MessageReader(),
  createStreamWriter: (context) => new MessageWriter(context),
  fieldName,
  removeSealedState,
};

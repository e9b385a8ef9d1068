/**
 * Translates for clients of the responses format: reads their bodies as conversations, and writes neutral replies as
 * responses. It knows this format and the neutral forms alone.
 *
 * `request/` reads and writes bodies, `reply/` whole replies and the items that streams share with them, `stream/`
 * events.
 */

import type { ClientTranslator } from "#proxy/formats/translator";
import { envelopeMark } from "#proxy/neutral/state/envelope";
import { shownSearchMarks } from "#proxy/neutral/state/shown-search";
import { fieldNames } from "./field-names.ts";
import { removeSealedState } from "./remove-sealed-state.ts";
import { writeReply } from "./reply/write-reply.ts";
import { readRequest } from "./request/read/read-request.ts";
import { ResponsesStreamWriter } from "./stream/write/write-stream.ts";

export const responsesClientTranslator: ClientTranslator = {
  format: "Responses",
  readRequest,
  writeReply,
  createStreamWriter: (context) => new ResponsesStreamWriter(context),
  fieldNames,
  sealedStateMarks: [envelopeMark, shownSearchMarks.Responses],
  removeSealedState,
};

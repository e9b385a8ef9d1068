/**
 * Translates for clients of messages (Anthropic-style, docs/design/messages.md).
 *
 * `request/read/` reads clients' bodies, `request/write/` writes upstreams' bodies, `reply/` has whole replies,
 * `stream/` streamed ones, and `paused-turn/` joins the replies of a turn that was paused. One reader of blocks and one
 * sequence of blocks serve both kinds of replies, so that a stream and a body of the same reply agree. All that depends
 * on the model is in `neutral/traits/claude-models.ts`. `translators.ts` lists it.
 */

import type { ClientTranslator } from "#proxy/formats/translator";
import { envelopeMark } from "#proxy/neutral/state/envelope";
import { shownSearchMarks } from "#proxy/neutral/state/shown-search";
import { fieldNames } from "./field-names.ts";
import { removeSealedState } from "./remove-sealed-state.ts";
import { writeReply } from "./reply/write-reply.ts";
import { readRequest } from "./request/read/read-request.ts";
import { MessageStreamWriter } from "./stream/write-stream.ts";

export const messagesClientTranslator: ClientTranslator = {
  format: "Messages",
  readRequest,
  writeReply,
  createStreamWriter: (context) => new MessageStreamWriter(context),
  fieldNames,
  sealedStateMarks: [envelopeMark, shownSearchMarks.Messages],
  removeSealedState,
};

/**
 * Translates for upstreams of messages (Anthropic-style, docs/design/messages.md).
 *
 * `request/read/` reads clients' bodies, `request/write/` writes upstreams' bodies, `reply/` has whole replies,
 * `stream/` streamed ones, and `paused-turn/` joins the replies of a turn that was paused. One reader of blocks and one
 * sequence of blocks serve both kinds of replies, so that a stream and a body of the same reply agree. All that depends
 * on the model is in `neutral/traits/claude-models.ts`. `translators.ts` lists it.
 */

import type { UpstreamTranslator } from "#proxy/formats/translator";
import { MessageSplicer } from "./paused-turn/splice-turn.ts";
import { readReply } from "./reply/read-reply.ts";
import { needsDownload } from "./request/write/write-media.ts";
import { writeRequest } from "./request/write/write-request.ts";
import { MessageReader } from "./stream/read-stream.ts";

export const messagesUpstreamTranslator: UpstreamTranslator = {
  format: "Messages",
  writeRequest,
  needsDownload,
  readReply,
  createStreamReader: () => new MessageReader(),
  createTurnSplicer: (request, limits) => new MessageSplicer(request, limits),
};

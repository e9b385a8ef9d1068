/**
 * Translates for upstreams of the responses format: writes conversations as their bodies, and reads their replies as
 * neutral ones. It knows this format and the neutral forms alone.
 *
 * `request/` reads and writes bodies, `reply/` whole replies and the items that streams share with them, `stream/`
 * events.
 */

import type { UpstreamTranslator } from "#proxy/formats/translator";
import { readReply } from "./reply/read-reply.ts";
import { writeRequest } from "./request/write/write-request.ts";
import { ResponsesStreamReader } from "./stream/read/read-stream.ts";

export const responsesUpstreamTranslator: UpstreamTranslator = {
  format: "Responses",
  writeRequest,
  readReply,
  createStreamReader: (declared) => new ResponsesStreamReader(declared),
};

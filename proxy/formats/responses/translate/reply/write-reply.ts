/** Writes a whole response: the one with which its stream would have ended (docs/design/translation.md 9.3). */

import { ResponsesStreamWriter } from "#proxy/formats/responses/translate/stream/write/write-stream";
import type { ReplyContext } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import { replayReply } from "#proxy/neutral/replay-reply";
import type { Reply } from "#proxy/neutral/reply";

export function writeReply(reply: Reply, context: ReplyContext): JsonObject {
  const writer = new ResponsesStreamWriter(context);
  for (const event of replayReply(reply)) writer.write(event);
  if (writer.response === undefined) throw new TypeError("a replayed reply has an end");
  return writer.response;
}

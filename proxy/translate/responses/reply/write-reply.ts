/** Writes a whole response: what its stream would have ended with (`protocols/translation.md` section 9.3). */
import type { JsonObject } from "../../../protocols/json-value.ts";
import type { Reply } from "../../reply.ts";
import type { ReplyContext } from "../../translator.ts";
import { unfoldReply } from "../../unfold-reply.ts";
import { ResponsesStreamWriter } from "../stream/write/write-stream.ts";

export function writeReply(reply: Reply, context: ReplyContext): JsonObject {
  const writer = new ResponsesStreamWriter(context);
  for (const event of unfoldReply(reply)) writer.write(event);
  if (writer.response === undefined) throw new TypeError("an unfolded reply comes to its end");
  return writer.response;
}

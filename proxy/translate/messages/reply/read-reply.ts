/**
 * Reads a whole message by the code that reads its stream, so that both say the same
 * (`protocols/anthropic-messages.md` section 4).
 */
import type { JsonObject } from "../../../protocols/json-value.ts";
import { foldReply } from "../../fold-reply.ts";
import { InvalidReply, type Reply } from "../../reply.ts";
import { MessageReader } from "../stream/read-stream.ts";

/** @throws InvalidReply */
export function readReply(message: JsonObject): Reply {
  if (!Array.isArray(message["content"])) throw new InvalidReply("the answer is no message");
  const reader = new MessageReader();
  return foldReply([
    ...reader.readEvent("message_start", { message }),
    ...reader.readEvent("message_delta", { delta: message }),
    ...reader.end(),
  ]);
}

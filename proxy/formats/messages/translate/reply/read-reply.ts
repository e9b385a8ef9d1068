/**
 * Reads a whole message with the code that reads its stream, so that both agree (docs/design/messages.md 4).
 */

import { MessageReader } from "#proxy/formats/messages/translate/stream/read-stream";
import type { JsonObject } from "#proxy/json/json-value";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { InvalidReply, type Reply } from "#proxy/neutral/reply";

/** @throws InvalidReply */
export function readReply(message: JsonObject): Reply {
  if (!Array.isArray(message["content"])) throw new InvalidReply("the reply is not a message");
  const reader = new MessageReader();
  return aggregateReply([
    ...reader.readEvent("message_start", { message }),
    ...reader.readEvent("message_delta", { delta: message }),
    ...reader.end(),
  ]);
}

/** A whole answer of generateContent: one frame that holds everything, read by the code that reads streams. */
import type { JsonObject } from "../../../protocols/json-value.ts";
import { foldReply } from "../../fold-reply.ts";
import type { Reply } from "../../reply.ts";
import { GenerateContentStreamReader } from "../stream/read-stream.ts";

/** @throws InvalidReply for parts that cannot be */
export function readReply(body: JsonObject): Reply {
  const reader = new GenerateContentStreamReader();
  reader.readFrame(body);
  reader.finish();
  return foldReply(reader.takeEvents());
}

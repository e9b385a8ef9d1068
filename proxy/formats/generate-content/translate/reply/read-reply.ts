/** Reads a whole reply of generateContent as one frame that holds everything, with the code that reads streams. */

import { GenerateContentStreamReader } from "#proxy/formats/generate-content/translate/stream/read-stream";
import type { JsonObject } from "#proxy/json/json-value";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import type { Reply } from "#proxy/neutral/reply";

/** @throws InvalidReply for parts that cannot be */
export function readReply(body: JsonObject): Reply {
  const reader = new GenerateContentStreamReader();
  reader.readFrame(body);
  reader.finish();
  return aggregateReply(reader.takeEvents());
}

/** Reads a whole chat completion: as a stream of one chunk, so that a body and a stream cannot mean different things. */
import type { JsonObject } from "../../../protocols/json-value.ts";
import { foldReply } from "../../fold-reply.ts";
import type { Reply } from "../../reply.ts";
import { ChunkReader } from "../stream/read-stream.ts";

/** @throws InvalidReply when the body has no choice, or a choice is broken */
export function readReply(body: JsonObject): Reply {
  return foldReply(new ChunkReader().readBody(body));
}

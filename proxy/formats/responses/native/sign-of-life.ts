/**
 * Sends a sign of life to a client of a responses stream: an event with data, since a comment does not restart the
 * timers of its clients (docs/design/agents.md 2).
 *
 * The official SDKs restrict it. The first event must be `response.created`, and all later ones must belong to the
 * response with that id (openai 7): so it opens only a stream that the gateway writes, and comments bridge the wait for
 * a provider's own. `response.in_progress` replaces everything collected so far (openai 6): so from the first item on
 * it is `keepalive`, which the API itself sends and all clients ignore.
 */

import type { ChatCall, StreamFilter } from "#proxy/formats/format";
import type { StreamOpening } from "#proxy/formats/stream/stream-opening";
import type { JsonObject } from "#proxy/json/json-value";
import { encodeEvent } from "#proxy/sse/encoder";
import { ResponsesStreamFilter } from "./stream-filter.ts";

const comment = Buffer.from(": keep-alive\n\n");

export function signOfLife(call: ChatCall, opening: StreamOpening, filter?: StreamFilter): Buffer {
  if (filter instanceof ResponsesStreamFilter && filter.hasStarted)
    return filter.signOfLife(() => opened(call, opening));
  if (!opening.isOurs) return comment;
  const response = opened(call, opening);
  const types = opening.isNumbered ? ["response.in_progress"] : ["response.created", "response.in_progress"];
  return Buffer.concat(
    types.map((type) => {
      const sequence_number = opening.sequence;
      opening.sequence += 1;
      return encodeEvent(type, JSON.stringify({ type, sequence_number, response }));
    }),
  );
}

/** A response of which nothing is known but who asked for it: the members that strict clients want. */
export function opened({ model }: Pick<ChatCall, "model">, opening: StreamOpening): JsonObject {
  return {
    id: opening.idWith("resp_"),
    object: "response",
    created_at: opening.nowSeconds,
    status: "in_progress",
    error: null,
    incomplete_details: null,
    instructions: null,
    model,
    output: [],
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    temperature: null,
    top_p: null,
    metadata: {},
    usage: null,
  };
}

/**
 * Replays a whole response as a stream (docs/design/responses.md 6.1 to 6.3).
 *
 * `response.created` and `in_progress` show it empty; each item is announced, streamed in the events of its kind
 * (`item-events.ts`) and done; the event that ends the stream shows the response as it is. Numbers count all events
 * without a gap, output indexes count the items.
 */

import type { ReplayContext } from "#proxy/formats/aggregate/aggregation";
import { type MutableObject, without } from "#proxy/formats/aggregate/members";
import { Frames, itemMembers } from "#proxy/formats/responses/translate/stream/write/frames";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import { announced, emitItemEvents } from "./item-events.ts";

/** How ids of items begin, by their type; of any other type they begin with `item_`. */
const idPrefixes: Readonly<Record<string, string>> = {
  message: "msg_",
  reasoning: "rs_",
  function_call: "fc_",
  custom_tool_call: "ctc_",
  web_search_call: "ws_",
  file_search_call: "fs_",
  code_interpreter_call: "ci_",
  image_generation_call: "ig_",
  mcp_call: "mcp_",
  mcp_list_tools: "mcpl_",
};

/** @throws InvalidReply for a response without output, and for one that has not ended */
export function* replayReply(response: JsonObject, { newId }: ReplayContext): Generator<string, void> {
  const { status, output } = response;
  if (!Array.isArray(output)) throw new InvalidReply("the response has no output");
  if (status === "queued" || status === "in_progress") throw new InvalidReply("the response has not ended");
  const items = output.map((item) => withId(item, newId));
  const frames = new Frames();
  const begun = JSON.stringify(begunResponse(response));
  frames.emit("response.created", `"response":${begun}`);
  frames.emit("response.in_progress", `"response":${begun}`);
  for (const item of items) {
    const index = frames.added(announced(item));
    emitItemEvents(item, itemMembers(String(item["id"]), index), frames);
    frames.done(index, item);
    yield frames.consume();
  }
  const isIncomplete = status === "incomplete" || isObject(response["incomplete_details"]);
  const whole = JSON.stringify({ ...response, output: items });
  frames.emit(isIncomplete ? "response.incomplete" : "response.completed", `"response":${whole}`);
  yield frames.consume();
}

/** Events name their item, so that it must have an id. */
function withId(item: unknown, newId: ReplayContext["newId"]): JsonObject {
  if (!isObject(item)) throw new InvalidReply("an item is not an object");
  const { id, type } = item;
  if (typeof id === "string" && id !== "") return item;
  const known = typeof type === "string" && Object.hasOwn(idPrefixes, type) ? idPrefixes[type] : undefined;
  return { ...item, id: newId(known ?? "item_") };
}

/** What a beginning cannot know yet, where the response says it. */
const unknownYet: JsonObject = { completed_at: null, error: null, incomplete_details: null };

function begunResponse(response: JsonObject): JsonObject {
  const begun: MutableObject = { ...without(response, "output_text"), status: "in_progress", output: [], usage: null };
  for (const name of Object.keys(unknownYet)) if (Object.hasOwn(response, name)) begun[name] = unknownYet[name];
  return begun;
}

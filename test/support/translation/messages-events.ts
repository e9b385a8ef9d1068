/** Events of a messages stream, as small as they may be. */
import type { JsonObject } from "#proxy/json/json-value";

export const usage = { input_tokens: 25, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 };
export const begin = { type: "message_start", message: { id: "msg_1", model: "c", content: [], usage } };
export const last = { type: "message_stop" };

export function ending(reason: string, more: JsonObject = {}): JsonObject {
  return {
    type: "message_delta",
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 12 },
    ...more,
  };
}
export function block(index: number, content: JsonObject, ...deltas: JsonObject[]): JsonObject[] {
  return [
    { type: "content_block_start", index, content_block: content },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

/** A piece of a call's arguments. */
export const json = (text: string) => ({ type: "input_json_delta", partial_json: text });

import assert from "node:assert/strict";
import { end, start, stopped, textPart } from "#test/support/translation/reply-events";
import { framesOf, outputOf, writeStream } from "#test/support/translation/responses-exchange";
import { golden } from "#test/support/translation/responses-golden-reply";

describe("responses: stream writer, announcements and ids", () => {
  it("pitfall 47: numbers every event without a gap", () => {
    const numbers = framesOf(writeStream(golden)).map((frame) => frame["sequence_number"]);
    assert.deepEqual(numbers, [...numbers.keys()]);
  });

  it("pitfall 47: has what strict clients decode in every response, whatever the call said", () => {
    const responses = framesOf(writeStream(golden)).flatMap((frame) => frame["response"] ?? []);
    assert.equal(responses.length, 3);
    for (const response of responses) {
      const { text, tools, tool_choice, parallel_tool_calls } = Object(response);
      assert.deepEqual([text.format, tools, tool_choice, parallel_tool_calls], [{ type: "text" }, [], "auto", true]);
    }
    const { usage } = Object(responses.at(-1));
    assert.equal(typeof usage.input_tokens_details.cached_tokens, "number");
    assert.equal(typeof usage.output_tokens_details.reasoning_tokens, "number");
  });

  it("pitfall 46: an item is announced before anything of it is said", () => {
    const announced = new Set<unknown>();
    for (const frame of framesOf(writeStream(golden))) {
      if (frame["type"] === "response.output_item.added") announced.add(Object(frame["item"]).id);
      if (frame["item_id"] !== undefined) assert.ok(announced.has(frame["item_id"]));
    }
  });

  it("pitfall 48: a part is announced before its text, and ended after it", () => {
    const seen = framesOf(writeStream([start, ...textPart(0, "a"), stopped, end])).map(({ type }) => type);
    assert.deepEqual(seen, [
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
  });

  it("pitfall 49: no index is used again", () => {
    const indexes = framesOf(writeStream(golden)).flatMap((frame) =>
      frame["type"] === "response.output_item.added" ? [frame["output_index"]] : [],
    );
    assert.equal(new Set(indexes).size, indexes.length);
  });

  it("pitfall 148: indexes are dense from 0", () => {
    const added = framesOf(writeStream(golden)).filter(({ type }) => type === "response.output_item.added");
    assert.deepEqual(
      added.map((frame) => frame["output_index"]),
      [0, 1, 2, 3],
    );
  });

  it("pitfall 50: the end of a text has all of it", () => {
    const ended = framesOf(writeStream(golden)).find(({ type }) => type === "response.output_text.done");
    assert.equal(ended?.["text"], "Hi");
  });

  it("pitfall 147: every item has an id, and every event of it the same one", () => {
    const ids = new Map<unknown, unknown>();
    for (const frame of framesOf(writeStream(golden))) {
      const item = Object(frame["item"]);
      if (frame["type"] === "response.output_item.added") ids.set(frame["output_index"], item.id);
      if (frame["item_id"] !== undefined) assert.equal(frame["item_id"], ids.get(frame["output_index"]));
    }
    assert.equal(ids.size, 4);
  });

  it("pitfall 51: finished items say so, and have their annotations", () => {
    const [, message, ...calls] = outputOf(golden);
    assert.deepEqual(
      [message, ...calls].map((item) => item?.["status"]),
      ["completed", "completed", "completed"],
    );
    assert.deepEqual(Object(message?.["content"])[0].annotations, []);
  });

  it("pitfall 55: the final response holds every finished item as it was", () => {
    const frames = framesOf(writeStream(golden));
    const done = frames.filter(({ type }) => type === "response.output_item.done").map((frame) => frame["item"]);
    assert.deepEqual(Object(frames.at(-1)?.["response"]).output, done);
  });

  it("pitfall 32: times are whole seconds", () => {
    assert.equal(Object(framesOf(writeStream(golden))[0]?.["response"]).created_at, 1_790_000_000);
  });
});

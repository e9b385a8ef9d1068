import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { messagesClient as clientFormat } from "#proxy/formats/messages/native/client-format";
import { messagesUpstream as format } from "#proxy/formats/messages/native/upstream-format";
import { dataEvents, namedEvents, runFilter } from "#test/support/calls/run-filter";
import { callOf } from "#test/support/digest/stream-call";

const call = callOf(format);
const start = { type: "message_start", message: { id: "msg_1", usage: { input_tokens: 25, output_tokens: 1 } } };
const block = { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } };
const end = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 12 } };
const stop = { type: "message_stop" };
const ping = { type: "ping" };

function meterOf() {
  return format.createStreamFilter(call, 1_024 * 1_024);
}

describe("messages: stream filter", () => {
  it("passes a stream, pings included, and reads cumulative usage", () => {
    const filter = meterOf();
    const events = namedEvents(start, block, ping, delta, delta, end, stop);
    assert.equal(runFilter(filter, [events]), events);
    assert.equal(filter.isComplete, true);
    assert.deepEqual([filter.usage?.input, filter.usage?.output], [25, 12]);
    assert.equal(filter.produced().text, "hihi");
  });

  it("does not complete without message_stop", () => {
    const filter = meterOf();
    runFilter(filter, [namedEvents(start, block, delta, end)]);
    assert.equal(filter.isComplete, false);
  });

  it("drops a second start of the same message", () =>
    assert.equal(runFilter(meterOf(), [namedEvents(start, start, block, stop)]), namedEvents(start, block, stop)));

  it("stops where two messages are spliced together", () => {
    const filter = meterOf();
    const other = { ...start, message: { id: "msg_2" } };
    assert.equal(
      runFilter(filter, [namedEvents(start, block, delta, other, delta, stop)]),
      namedEvents(start, block, delta),
    );
    assert.match(filter.violation ?? "", /event 4: expected the message that has begun/);
    assert.equal(filter.isComplete, false);
  });

  it("gives events their names where a vendor left them out", () =>
    assert.equal(
      runFilter(meterOf(), [dataEvents(start, block, delta, stop)]),
      namedEvents(start, block, delta, stop),
    ));

  it("reports an error that is the first event, so that another target can be tried", () => {
    const filter = meterOf();
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    assert.equal(runFilter(filter, [namedEvents(error)]), "");
    assert.equal(filter.error?.kind, "overloaded");
    assert.equal(filter.hasContent, false);
  });

  it("does not take a server tool's error for the stream's", () => {
    const filter = meterOf();
    const result = {
      type: "content_block_start",
      index: 0,
      content_block: { type: "web_search_tool_result", content: { type: "error", error_code: "new_code" } },
    };
    const events = namedEvents(start, block, delta, result, stop);
    assert.equal(runFilter(filter, [events]), events);
    assert.equal(filter.error, undefined);
  });

  it("renders an error event and no message_stop", () => {
    const bytes = clientFormat.renderStreamError(
      new GatewayError("upstream_timeout", "M"),
      { requestId: "r" },
      meterOf(),
      call,
    );
    assert.equal(
      bytes.toString(),
      namedEvents({ type: "error", error: { type: "timeout_error", message: "M" }, request_id: "r" } as {
        type: string;
      }),
    );
  });
});

describe("messages: readReply", () => {
  for (const row of [
    {
      name: "a message",
      body: { type: "message", content: [{ type: "text", text: "hi" }], usage: { input_tokens: 1, output_tokens: 2 } },
      kind: undefined,
    },
    {
      name: "a refusal without content",
      body: { type: "message", content: [], usage: { input_tokens: 1, output_tokens: 2 } },
      kind: undefined,
    },
    {
      name: "an error of status 200",
      body: { type: "error", error: { type: "overloaded_error", message: "m" } },
      kind: "overloaded",
    },
  ]) {
    it(`reads ${row.name}`, () =>
      assert.equal(format.readReply(Buffer.from(JSON.stringify(row.body))).error?.kind, row.kind));
  }
});

import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { responsesClient as clientFormat } from "#proxy/formats/responses/native/client-format";
import { responsesUpstream as format } from "#proxy/formats/responses/native/upstream-format";
import { dataEvents, namedEvents, runFilter } from "#test/support/calls/run-filter";
import { callOf } from "#test/support/digest/stream-call";

const call = callOf(format);
const item = { id: "msg_1", type: "message", status: "completed", role: "assistant", content: [] };
const usage = { input_tokens: 3, output_tokens: 2 };
const created = {
  type: "response.created",
  sequence_number: 0,
  response: { id: "resp_1", object: "response", status: "in_progress", output: [], usage: null, error: null },
};
const delta = {
  type: "response.output_text.delta",
  sequence_number: 1,
  item_id: "msg_1",
  output_index: 0,
  delta: "hi",
};
const itemDone = { type: "response.output_item.done", sequence_number: 2, output_index: 0, item };
const completed = {
  type: "response.completed",
  sequence_number: 3,
  response: { id: "resp_1", status: "completed", output: [item], usage },
};
const incomplete = { type: "response.incomplete", response: { id: "resp_1", status: "incomplete", output: [], usage } };
const failed = {
  type: "response.failed",
  sequence_number: 3,
  response: { id: "resp_1", status: "failed", error: { code: "rate_limit_exceeded", message: "m" }, usage },
};

function meterOf() {
  return format.createStreamFilter(call, 1_024 * 1_024);
}

describe("responses: stream filter", () => {
  for (const row of [
    { name: "completed", last: completed },
    { name: "incomplete", last: incomplete },
  ]) {
    it(`completes with response.${row.name} and reads its usage`, () => {
      const filter = meterOf();
      const events = namedEvents(created, delta, row.last);
      assert.equal(runFilter(filter, [events]), events);
      assert.equal(filter.isComplete, true);
      assert.equal(filter.usage?.output, 2);
    });
  }

  it("does not complete without a terminal event", () => {
    const filter = meterOf();
    runFilter(filter, [namedEvents(created, delta)]);
    assert.equal(filter.isComplete, false);
  });

  it("numbers the events of an upstream that does not, and the error that ends them", () => {
    const filter = meterOf();
    const bare = ({ sequence_number, ...event }: { type: string; sequence_number?: number }) => event;
    const sent = runFilter(filter, [namedEvents(bare(created), bare(delta), bare(itemDone))]);
    assert.deepEqual(
      [...sent.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => number),
      ["0", "1", "2"],
    );
    assert.match(sent, /^event: response\.created\ndata: \{"sequence_number":0,"type":"response\.created",/);
    const context = { requestId: "req_1" };
    const end = clientFormat
      .renderStreamError(new GatewayError("upstream_error", "m"), context, filter, call)
      .toString();
    assert.match(end, /"sequence_number":3[\s\S]*"sequence_number":4/);
  });

  it("passes nothing behind the terminal event, not even a relay's [DONE]", () => {
    const events = namedEvents(created, delta, completed);
    assert.equal(runFilter(meterOf(), [events + dataEvents("[DONE]")]), events);
  });

  it("gives events their names where a relay left them out", () => {
    const passed = runFilter(meterOf(), [dataEvents(created, delta, completed)]);
    assert.equal(passed, namedEvents(created, delta, completed));
  });

  for (const row of [
    { name: "response.failed", event: failed, kind: "rate_limit", usage: 2 },
    {
      name: "the nested error event",
      event: { type: "error", error: { type: "server_error", message: "m" } },
      kind: "upstream_5xx",
      usage: undefined,
    },
    {
      name: "the flat error event",
      event: { type: "error", code: "insufficient_quota", message: "m" },
      kind: "channel_quota",
      usage: undefined,
    },
  ]) {
    it(`holds ${row.name} back as an error`, () => {
      const filter = meterOf();
      assert.equal(
        runFilter(filter, [namedEvents(created, delta), namedEvents(row.event)]),
        namedEvents(created, delta),
      );
      assert.equal(filter.error?.kind, row.kind);
      assert.equal(filter.usage?.output, row.usage);
      assert.equal(filter.isComplete, false);
    });
  }

  it("ends a failed stream with error and response.failed, numbers going on", () => {
    const filter = meterOf();
    runFilter(filter, [namedEvents(created, delta, itemDone, failed)]);
    const bytes = clientFormat.renderStreamError(
      new GatewayError("upstream_error", "M"),
      { requestId: "r" },
      filter,
      call,
    );
    const [first, second] = bytes
      .toString()
      .trimEnd()
      .split("\n\n")
      .map((event) => {
        const [name = "", data = ""] = event.split("\n");
        return { name, data: JSON.parse(data.slice("data: ".length)) };
      });
    assert.equal(first?.name, "event: error");
    assert.deepEqual(first?.data, {
      type: "error",
      sequence_number: 3,
      code: "upstream_error",
      message: "M",
      param: null,
      error: { message: "M", type: "server_error", param: null, code: "upstream_error" },
    });
    assert.equal(second?.name, "event: response.failed");
    assert.equal(second?.data.sequence_number, 4);
    assert.deepEqual(second?.data.response, {
      ...created.response,
      status: "failed",
      error: { code: "server_error", message: "M" },
      output: [item],
      usage,
    });
  });
});

describe("responses: readReply", () => {
  for (const row of [
    {
      name: "a response",
      body: { status: "completed", output: [{ type: "message", content: [{ text: "hi" }] }], usage, error: null },
      kind: undefined,
    },
    {
      name: "a failed response of status 200",
      body: { status: "failed", output: [], error: { code: "server_error", message: "m" } },
      kind: "upstream_5xx",
    },
    {
      name: "an error without output",
      body: { error: { type: "invalid_request_error", message: "m" } },
      kind: "bad_request",
    },
  ]) {
    it(`reads ${row.name}`, () =>
      assert.equal(format.readReply(Buffer.from(JSON.stringify(row.body))).error?.kind, row.kind));
  }
});

import assert from "node:assert/strict";
import { readReply } from "#proxy/formats/responses/translate/reply/read-reply";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { InvalidReply } from "#proxy/neutral/reply";
import {
  added,
  blocksOf,
  call,
  completed,
  created,
  delta,
  done,
  factsOf,
  message,
  said,
  streamOf,
} from "#test/support/translation/responses-events";
import { readStream } from "#test/support/translation/responses-exchange";

describe("responses: stream reader", () => {
  for (const row of [
    {
      name: "joins the deltas of a text",
      events: [added(0, message), delta(0, "a"), delta(0, "b"), done(0, said("ab")), completed()],
      want: ["text ab"],
    },
    {
      name: "adds what the deltas left out",
      events: [added(0, message), delta(0, "a"), done(0, said("abc")), completed()],
      want: ["text abc"],
    },
    {
      name: "takes an item that came without any delta",
      events: [done(0, said("abc")), completed()],
      want: ["text abc"],
    },
    { name: "takes items from the final response alone", events: [completed([said("abc")])], want: ["text abc"] },
    {
      name: "finishes what was left open by the final response",
      events: [added(0, message), delta(0, "a"), completed([said("abc")])],
      want: ["text abc"],
    },
    {
      name: "keeps what came when the final response is empty",
      events: [added(0, message), delta(0, "a"), completed([])],
      want: ["text a"],
    },
    {
      name: "takes text of a message that nobody announced",
      events: [delta(0, "a"), completed([])],
      want: ["text a"],
    },
    {
      name: "counts items of a relay that numbers them from one",
      events: [
        added(1, message),
        delta(1, "a"),
        done(1, said("a")),
        completed([said("a"), { ...call, arguments: "{}" }]),
      ],
      want: ["text a", "call call_1 f {}"],
    },
    {
      name: "pitfall 52: an item is known by its index, whatever its id is now",
      events: [
        added(0, message),
        { ...delta(0, "a"), item_id: "x" },
        { ...delta(0, "b"), item_id: "y" },
        done(0, { ...said("ab"), id: "z" }),
        completed(),
      ],
      want: ["text ab"],
    },
    {
      name: "pitfall 28: a call without arguments has an empty object",
      events: [added(0, call), delta(0, "", "function_call_arguments"), done(0, call), completed()],
      want: ["call call_1 f {}"],
    },
    {
      name: "takes a call's arguments from its end",
      events: [added(0, call), done(0, { ...call, arguments: '{"x":1}' }), completed()],
      want: ['call call_1 f {"x":1}'],
    },
    {
      name: "pitfall 29: waits for a name that comes with the end",
      events: [
        added(0, { ...call, name: "" }),
        delta(0, "{}", "function_call_arguments"),
        done(0, { ...call, arguments: "{}" }),
        completed(),
      ],
      want: ["call call_1 f {}"],
    },
    {
      name: "pitfall 85: several calls wrapped into one are several",
      events: [
        added(0, { ...call, name: "multi_tool_use.parallel" }),
        done(0, {
          ...call,
          name: "multi_tool_use.parallel",
          arguments: JSON.stringify({
            tool_uses: [
              { recipient_name: "functions.f", parameters: { x: 1 } },
              { recipient_name: "functions.g", parameters: {} },
            ],
          }),
        }),
        completed(),
      ],
      want: ['call call_1_0 f {"x":1}', "call call_1_1 g {}"],
    },
    {
      name: "keeps two calls apart that are open together",
      events: [
        added(0, call),
        added(1, { ...call, call_id: "call_2", name: "g" }),
        delta(1, "{}", "function_call_arguments"),
        delta(0, '{"x":1}', "function_call_arguments"),
        done(1, { ...call, call_id: "call_2", name: "g", arguments: "{}" }),
        done(0, { ...call, arguments: '{"x":1}' }),
        completed(),
      ],
      want: ['call call_1 f {"x":1}', "call call_2 g {}"],
    },
    {
      name: "parts summaries with an empty line",
      events: [
        added(0, { type: "reasoning", id: "rs_1", summary: [] }),
        { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta: "a" },
        { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 1, delta: "b" },
        done(0, {
          type: "reasoning",
          id: "rs_1",
          summary: [
            { type: "summary_text", text: "a" },
            { type: "summary_text", text: "b" },
          ],
        }),
        completed(),
      ],
      want: ["reasoning a\n\nb"],
    },
    {
      name: "takes thoughts or their summaries, whichever came first",
      events: [
        added(0, { type: "reasoning", id: "rs_1", summary: [] }),
        { type: "response.reasoning_text.delta", output_index: 0, content_index: 0, delta: "thought" },
        { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta: "summary" },
        completed([]),
      ],
      want: ["reasoning thought"],
    },
    {
      name: "takes response.done for completed, and events it does not know for nothing",
      events: [
        { type: "response.compaction.compacting" },
        done(0, said("a")),
        { type: "response.done", response: { status: "completed" } },
      ],
      want: ["text a"],
    },
  ]) {
    it(row.name, () => assert.deepEqual(factsOf(blocksOf(...row.events)), row.want));
  }

  it("does not let a reply wait for the end of the thoughts before it", () => {
    const thoughts = { type: "reasoning", id: "rs_1", summary: [] };
    const events = readStream(
      streamOf([
        created,
        added(0, thoughts),
        delta(0, "T", "reasoning_text"),
        added(1, message),
        delta(1, "a"),
        done(1, said("a")),
        done(0, { ...thoughts, encrypted_content: "ENC", content: [{ type: "reasoning_text", text: "T" }] }),
        completed(),
      ]),
    );
    assert.deepEqual(factsOf(aggregateReply(events).candidates[0]?.blocks ?? []), [
      "reasoning T",
      "text a",
      "reasoning ",
    ]);
    assert.deepEqual(
      events.slice(1, 5).map(({ type }) => type),
      ["open", "delta", "close", "open"],
    );
  });

  it("gives a state before the close of its part", () => {
    const item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "ENC" };
    const events = readStream(streamOf([created, added(0, item), done(0, item), completed()]));
    assert.deepEqual(
      events.map(({ type }) => type),
      ["start", "open", "state", "close", "finish", "end"],
    );
  });

  it("pitfall 53: reads usage and the reason of an incomplete response", () => {
    const usage = { input_tokens: 7, output_tokens: 3, total_tokens: 10 };
    const events = streamOf([
      created,
      done(0, said("a")),
      {
        type: "response.incomplete",
        response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, output: [], usage },
      },
    ]);
    const { candidates, usage: read } = aggregateReply(readStream(events));
    assert.equal(candidates[0]?.finish.reason, "length");
    assert.equal(read?.input, 7);
    assert.equal(read?.output, 3);
  });

  for (const row of [
    { name: "without a status", response: { incomplete_details: { reason: "max_output_tokens" } }, want: "length" },
    {
      name: "with the status of the beginning",
      response: { status: "in_progress", incomplete_details: { reason: "content_filter" } },
      want: "content-filter",
    },
    { name: "that does not say why", response: { status: "completed" }, want: "length" },
  ]) {
    it(`an incomplete response ${row.name} is never whole`, () => {
      const end = { type: "response.incomplete", response: { output: [], ...row.response } };
      const [candidate] = aggregateReply(readStream(streamOf([created, done(0, said("Half an ans")), end]))).candidates;
      assert.equal(candidate?.finish.reason, row.want);
    });
  }

  it("keeps the half arguments of a call that the length cut", () => {
    const half = { ...call, arguments: '{"x"' };
    const end = {
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, output: [half] },
    };
    const { candidates } = aggregateReply(readStream(streamOf([created, added(0, call), done(0, half), end])));
    assert.deepEqual(factsOf(candidates[0]?.blocks ?? []), ['call call_1 f {"x"']);
    assert.equal(candidates[0]?.finish.reason, "length");
  });

  for (const row of [
    { name: "pitfall 14: refuses an event that is no JSON", bytes: "event: x\ndata: {oops\n\n" },
    { name: "refuses a stream without an end", bytes: streamOf([created, done(0, said("a"))]).toString() },
    {
      name: "refuses a failed response",
      bytes: streamOf([created, { type: "response.failed", response: {} }]).toString(),
    },
    {
      name: "refuses a response that ends with an error",
      bytes: streamOf([
        created,
        { type: "response.completed", response: { status: "completed", output: [], error: { code: "server_error" } } },
      ]).toString(),
    },
    {
      name: "pitfall 40: refuses another response spliced in",
      bytes: streamOf([
        created,
        added(0, message),
        delta(0, "a"),
        { ...created, response: { id: "resp_2" } },
      ]).toString(),
    },
    {
      name: "refuses two items at one place",
      bytes: streamOf([created, added(0, message), added(0, call)]).toString(),
    },
    {
      name: "refuses arguments for nobody",
      bytes: streamOf([created, delta(0, "{}", "function_call_arguments")]).toString(),
    },
    {
      name: "refuses text for a call",
      bytes: streamOf([created, added(0, call), delta(0, "a")]).toString(),
    },
    {
      name: "refuses more text for an item that is done",
      bytes: streamOf([created, added(0, message), delta(0, "a"), done(0, said("a")), delta(0, "b")]).toString(),
    },
    {
      name: "pitfall 150: refuses a finished call whose arguments are no JSON",
      bytes: streamOf([created, added(0, call), done(0, { ...call, arguments: '{"x"' }), completed()]).toString(),
    },
    {
      name: "refuses an index that is none",
      bytes: streamOf([created, { ...added(0, message), output_index: -1 }]).toString(),
    },
  ]) {
    it(row.name, () => assert.throws(() => readStream(Buffer.from(row.bytes)), InvalidReply));
  }
});

describe("responses: readReply", () => {
  for (const row of [
    { name: "pitfall 54: refuses a body without output", body: { status: "failed", error: { code: "x" } } },
    { name: "refuses a failed response", body: { status: "failed", output: [] } },
    { name: "refuses a cancelled response", body: { status: "cancelled", output: [] } },
    { name: "refuses a response that is not over", body: { status: "in_progress", output: [], error: null } },
    { name: "refuses a response that has not begun", body: { status: "queued", output: [], error: null } },
    {
      name: "refuses a call garbled by the model",
      body: { status: "completed", output: [{ ...call, arguments: "{" }] },
    },
  ]) {
    it(row.name, () => assert.throws(() => readReply(row.body), InvalidReply));
  }

  for (const row of [
    { name: "pitfall 126: completed is stop", body: { status: "completed", output: [] }, want: "stop" },
    { name: "pitfall 126: a call is tool-calls", body: { status: "completed", output: [call] }, want: "tool-calls" },
    { name: "pitfall 126: an unknown status is no crash", body: { status: "dreaming", output: [] }, want: "stop" },
    {
      name: "pitfall 126: a refusal",
      body: { status: "completed", output: [{ ...message, content: [{ type: "refusal", refusal: "no" }] }] },
      want: "refusal",
    },
    {
      name: "pitfall 126: a filter",
      body: { status: "incomplete", incomplete_details: { reason: "content_filter" }, output: [] },
      want: "content-filter",
    },
    {
      name: "pitfall 126: an unknown reason",
      body: { status: "incomplete", incomplete_details: { reason: "steered" }, output: [] },
      want: "other",
    },
    {
      name: "pitfall 126: cut calls stay cut",
      body: { status: "incomplete", incomplete_details: { reason: "max_tokens" }, output: [call] },
      want: "length",
    },
    {
      name: "a reason counts without its status",
      body: { incomplete_details: { reason: "max_output_tokens" }, output: [] },
      want: "length",
    },
    {
      name: "a reason counts beside the status of the beginning",
      body: { status: "in_progress", incomplete_details: { reason: "content_filter" }, output: [] },
      want: "content-filter",
    },
    {
      name: "an incomplete reply without a reason was cut",
      body: { status: "incomplete", incomplete_details: null, output: [] },
      want: "length",
    },
    {
      name: "an empty reason is none",
      body: { status: "completed", incomplete_details: { reason: null }, output: [] },
      want: "stop",
    },
  ]) {
    it(row.name, () => assert.equal(readReply(row.body).candidates[0]?.finish.reason, row.want));
  }

  it("reads sources, pictures and code", () => {
    const { candidates } = readReply({
      status: "completed",
      output: [
        {
          ...message,
          content: [
            {
              type: "output_text",
              text: "see",
              annotations: [
                { type: "url_citation", url: "https://a.example/", title: "A", start_index: 0, end_index: 3 },
                { type: "file_citation", file_id: "f", index: 0 },
              ],
            },
          ],
        },
        { type: "image_generation_call", id: "ig", result: "AAAA", output_format: "webp" },
        { type: "code_interpreter_call", id: "ci", code: "1+1", outputs: [{ type: "logs", logs: "2" }] },
        { type: "mcp_list_tools", id: "m" },
      ],
    });
    assert.deepEqual(candidates[0]?.blocks, [
      {
        kind: "text",
        text: "see",
        citations: [{ url: "https://a.example/", title: "A", start: 0, end: 3 }],
        logprobs: [],
        states: [],
      },
      { kind: "media", mime: "image/webp", base64: "AAAA" },
      { kind: "hosted", tool: "code", type: "code_interpreter_call", code: "1+1", output: "2" },
      { kind: "hosted", tool: "other", type: "mcp_list_tools" },
    ]);
  });
});

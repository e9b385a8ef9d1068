import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { chatCompletionsClient as clientFormat } from "#proxy/formats/chat-completions/native/client-format";
import { createStreamFilter } from "#proxy/formats/chat-completions/native/stream-filter";
import { chatCompletionsUpstream as format } from "#proxy/formats/chat-completions/native/upstream-format";
import { dataEvents, runFilter } from "#test/support/calls/run-filter";
import { callOf } from "#test/support/digest/stream-call";

const cap = 1_024 * 1_024;
const role =
  '{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}';
const text =
  '{"id":"c","choices":[{"index":0,"delta":{"content":"hi \\"usage\\":null"},"finish_reason":null}],"usage":null}';
const finish = '{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}';
const usage = '{"id":"c","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}';
const whole = [role, text, finish, usage, "[DONE]"];

function choice(index: number, content: string | undefined, reason: string | null = null, own = ""): string {
  return `{"choices":[{"index":${index},"delta":${JSON.stringify({ content })},"finish_reason":${JSON.stringify(reason)}}]${own}}`;
}
const ownUsage = ',"usage":{"prompt_tokens":3,"completion_tokens":2}';
const toolCall =
  '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]},"finish_reason":null}]}';

function bare(event: string): string {
  return event.replace(',"usage":null}', "}");
}

describe("chat completions: stream filter", () => {
  it("passes everything to a client that asked for usage", () => {
    const filter = createStreamFilter(true, cap);
    assert.equal(runFilter(filter, [dataEvents(...whole)]), dataEvents(...whole));
    assert.equal(filter.isComplete, true);
    assert.equal(filter.usage?.input, 3);
    assert.equal(filter.usage?.output, 2);
  });

  for (const row of [
    { name: "in one chunk", chunks: [dataEvents(...whole)] },
    { name: "event by event", chunks: whole.map((event) => dataEvents(event)) },
    { name: "byte by byte", chunks: [...dataEvents(...whole)] },
  ]) {
    it(`shows no trace of usage to a client that did not ask, ${row.name}`, () => {
      const filter = createStreamFilter(false, cap);
      assert.equal(runFilter(filter, row.chunks), dataEvents(bare(role), bare(text), bare(finish), "[DONE]"));
      assert.equal(filter.usage?.output, 2);
      assert.equal(filter.isComplete, true);
    });
  }

  it("takes usage out of a finish chunk and keeps its other bytes", () => {
    const merged =
      '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}], "x":1.0, "usage":{"prompt_tokens":3,"completion_tokens":2}}';
    const filter = createStreamFilter(false, cap);
    assert.equal(
      runFilter(filter, [dataEvents(merged)]),
      dataEvents('{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}], "x":1.0}', "[DONE]"),
    );
  });

  for (const row of [
    { name: "half an emoji", member: '"content":"\\ud83d"' },
    { name: "a member twice", member: '"content":"a","content":"a"' },
  ]) {
    it(`hides usage from an event with ${row.name}, which our strict reader would refuse`, () => {
      const event = `{"choices":[{"delta":{${row.member}},"finish_reason":null}],"a":1,"a":1,"usage":{"prompt_tokens":1,"completion_tokens":1}}`;
      const passed = runFilter(createStreamFilter(false, cap), [dataEvents(event)]);
      assert.match(passed, /"content"/);
      assert.doesNotMatch(passed, /usage/);
    });
  }

  it("takes the last usage of several and never adds", () => {
    const later = usage.replace('"completion_tokens":2', '"completion_tokens":9');
    const filter = createStreamFilter(true, cap);
    runFilter(filter, [dataEvents(text, usage, later, finish, "[DONE]")]);
    assert.equal(filter.usage?.output, 9);
  });

  for (const row of [
    { name: "no finish and no [DONE]", events: [role, text], complete: false },
    { name: "[DONE] but no finish", events: [role, text, "[DONE]"], complete: false },
    { name: "a finish but no [DONE]", events: [role, text, finish], complete: false },
    { name: "a finish and usage apart, but no [DONE]", events: [role, text, finish, usage], complete: false },
    {
      name: "usage in the finish chunk, as vendors without [DONE] do",
      events: [text, finish.replace("null}", '{"prompt_tokens":1,"completion_tokens":1}}')],
      complete: true,
    },
    {
      name: "a finish reason spaced oddly",
      events: [text, '{"choices":[{"finish_reason" :  "stop","delta":{}}]}', "[DONE]"],
      complete: true,
    },
    {
      name: "spaces after colons",
      events: [
        '{"choices": [{"delta": {"content": "a"}, "finish_reason": null}]}',
        '{"choices": [{"delta": {}, "finish_reason": "stop"}]}',
        "[DONE]",
      ],
      complete: true,
    },
    {
      name: "one of two candidates unfinished",
      events: [choice(0, "a"), choice(1, "b"), choice(0, undefined, "stop"), usage, "[DONE]"],
      complete: false,
    },
    {
      name: "the first of two candidates unfinished",
      events: [choice(1, "b"), choice(0, "a"), choice(1, undefined, "stop"), usage, "[DONE]"],
      complete: false,
    },
    {
      name: "candidate 11 beside 1 unfinished",
      events: [choice(1, "a"), choice(11, "b"), choice(1, undefined, "stop"), usage, "[DONE]"],
      complete: false,
    },
    {
      name: "one of two candidates unfinished and spaces after colons",
      events: [choice(0, "a"), choice(1, "b"), choice(0, undefined, "stop"), usage, "[DONE]"].map((event) =>
        event.replaceAll('":', '": '),
      ),
      complete: false,
    },
    {
      name: "one of two candidates unfinished and no [DONE]",
      events: [choice(0, "a", null, ownUsage), choice(1, "b", null, ownUsage), choice(0, undefined, "stop", ownUsage)],
      complete: false,
    },
    {
      name: "both candidates finished",
      events: [
        choice(0, "a"),
        choice(1, "b"),
        choice(1, undefined, "length"),
        choice(0, "c"),
        choice(0, undefined, "stop"),
        usage,
        "[DONE]",
      ],
      complete: true,
    },
    {
      name: "its only candidate counted from 1 and calling tools",
      events: [
        choice(1, "a"),
        toolCall.replace('"index":0', '"index":1'),
        choice(1, undefined, "tool_calls"),
        "[DONE]",
      ],
      complete: true,
    },
    {
      name: "several tool calls of one candidate",
      events: [choice(0, "a"), toolCall, choice(0, undefined, "tool_calls"), "[DONE]"],
      complete: true,
    },
    {
      name: "chunks that are counted instead of candidates",
      events: [
        ...Array.from({ length: 200 }, (_, index) => choice(index, "a")),
        choice(200, undefined, "stop"),
        "[DONE]",
      ],
      complete: true,
    },
  ]) {
    it(`${row.complete ? "completes" : "does not complete"} a stream with ${row.name}`, () => {
      const filter = createStreamFilter(true, cap);
      const passed = runFilter(
        filter,
        row.events.map((event) => dataEvents(event)),
      );
      assert.equal(filter.isComplete, row.complete);
      assert.equal(passed.includes("[DONE]"), row.complete, "a terminator only where the stream is complete");
    });
  }

  it("does not complete a cut candidate whatever the network's cuts, for a client that sees no usage", () => {
    const events = dataEvents(choice(0, "a"), choice(1, "b"), choice(0, undefined, "stop"), usage, "[DONE]");
    for (const chunks of [[events], [...events]]) {
      const filter = createStreamFilter(false, cap);
      assert.doesNotMatch(runFilter(filter, chunks), /DONE/);
      assert.equal(filter.isComplete, false);
    }
  });

  it("passes nothing behind [DONE]", () => {
    const filter = createStreamFilter(true, cap);
    assert.equal(runFilter(filter, [dataEvents(...whole, "[DONE]", text)]), dataEvents(...whole));
  });

  for (const row of [
    { name: "an error chunk", event: 'data: {"error":{"message":"m","code":503}}\n\n', kind: "overloaded" },
    {
      name: "an event named error",
      event: 'event: error\ndata: {"error":{"message":"m","type":"invalid_request_error"}}\n\n',
      kind: "bad_request",
    },
    {
      name: "an error beside choices",
      event: 'data: {"error":{"message":"m","code":429},"choices":[{"delta":{},"finish_reason":"error"}]}\n\n',
      kind: "rate_limit",
    },
  ]) {
    it(`holds ${row.name} back, and all that follows, but reads usage on`, () => {
      const filter = createStreamFilter(true, cap);
      assert.equal(runFilter(filter, [dataEvents(text), row.event, dataEvents(usage, "[DONE]")]), dataEvents(text));
      assert.equal(filter.error?.kind, row.kind);
      assert.equal(filter.isComplete, false);
      assert.equal(filter.usage?.output, 2);
    });
  }

  it("takes a null error for none", () => {
    const filter = createStreamFilter(true, cap);
    runFilter(filter, [dataEvents('{"error":null,"choices":[]}', ...whole)]);
    assert.equal(filter.error, undefined);
  });

  it("returns the very memory of a chunk that needs no edit", () => {
    const filter = createStreamFilter(true, cap);
    filter.push(Buffer.from(dataEvents(text)));
    const chunk = Buffer.from(dataEvents(text));
    assert.equal(filter.push(chunk)[0], chunk);
  });

  it("knows when tokens were produced, and which text", () => {
    const filter = createStreamFilter(true, cap);
    filter.push(Buffer.from(dataEvents(role)));
    assert.equal(filter.hasContent, false);
    const call = {
      choices: [{ delta: { tool_calls: [{ index: 0, function: { name: "f", arguments: '{"a":1}' } }] } }],
    };
    filter.push(Buffer.from(dataEvents(text, call)));
    assert.equal(filter.hasContent, true);
    assert.equal(filter.produced().text, 'hi "usage":nullf{"a":1}');
  });

  it("refuses an event over the cap", () => {
    const filter = createStreamFilter(true, 64);
    assert.deepEqual(filter.push(Buffer.from(`data: ${"x".repeat(100)}`)), []);
    assert.match(filter.violation ?? "", /event 1: expected at most 64 bytes, got more/);
  });

  it("refuses bytes that are not UTF-8", () => {
    const filter = createStreamFilter(true, cap);
    assert.deepEqual(filter.push(Buffer.from([0x64, 0xff, 0x0a, 0x0a])), []);
    assert.match(filter.violation ?? "", /UTF-8/);
  });

  for (const row of [
    { name: "cut JSON", data: '{"choices":[' },
    { name: "two JSON texts", data: "{} {}" },
  ]) {
    it(`refuses an event of ${row.name}`, () => {
      const filter = createStreamFilter(true, cap);
      assert.equal(runFilter(filter, [dataEvents(row.data)]), "");
      assert.match(filter.violation ?? "", /JSON/);
    });
  }

  it("counts comments as signs of life", () => {
    const filter = createStreamFilter(true, cap);
    filter.push(Buffer.from(": ping\n\n"));
    filter.push(Buffer.from("data: {"));
    assert.equal(filter.events, 1);
  });

  it("renders an error that SDKs throw, without [DONE]", () => {
    const error = new GatewayError("upstream_error", "M");
    const bytes = clientFormat.renderStreamError(
      error,
      { requestId: "r" },
      createStreamFilter(true, cap),
      callOf(format),
    );
    assert.equal(
      bytes.toString(),
      dataEvents({ error: { message: "M", type: "server_error", param: null, code: "upstream_error" } }),
    );
  });
});

describe("chat completions: readReply", () => {
  for (const row of [
    {
      name: "a reply",
      body: { choices: [{ message: { content: "hi" } }], usage: { prompt_tokens: 1, completion_tokens: 2 } },
      kind: undefined,
      output: 2,
      text: "hi",
    },
    {
      name: "a reply without usage",
      body: { choices: [{ message: { content: "hi" } }] },
      kind: undefined,
      output: undefined,
      text: "hi",
    },
    {
      name: "an error of status 200",
      body: { error: { message: "m", type: "rate_limit_error" } },
      kind: "rate_limit",
      output: undefined,
      text: "",
    },
    { name: "something else", body: { ok: true }, kind: "upstream_5xx", output: undefined, text: "" },
  ]) {
    it(`reads ${row.name}`, () => {
      const reading = format.readReply(Buffer.from(JSON.stringify(row.body)));
      assert.equal(reading.error?.kind, row.kind);
      assert.equal(reading.usage?.output, row.output);
      assert.equal(reading.produced().text, row.text);
    });
  }

  it("refuses what is not JSON", () =>
    assert.throws(() => format.readReply(Buffer.from("<html>")), { code: "upstream_error" }));
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { chatCompletionsUpstreamTranslator } from "#proxy/formats/chat-completions/translate/upstream-translator";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { InvalidReply } from "#proxy/neutral/reply";
import { chunk, growing, opening, read } from "#test/support/translation/chat-chunks";
import { readChunks } from "#test/support/translation/chat-exchange";

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

function refused(...chunks: unknown[]): string {
  try {
    readChunks(chunks);
  } catch (error) {
    assert.ok(error instanceof InvalidReply, String(error));
    return error.message;
  }
  return assert.fail("nothing was refused");
}

describe("chat completions stream reader: the end", () => {
  for (const row of [
    { native: "stop", want: "stop" },
    { native: "length", want: "length" },
    { native: "content_filter", want: "content-filter" },
    { native: "eos", want: "stop" },
    { native: "end_turn", want: "stop" },
    { native: "stop_sequence", want: "stop-sequence" },
    { native: "MAX_TOKENS", want: "length" },
    { native: "model_length", want: "length" },
    { native: "tool_calls", want: "stop" },
    { native: "SAFETY", want: "content-filter" },
    { native: "something_new", want: "other" },
    { native: "constructor", want: "other" },
  ]) {
    it(`pitfall 126: takes ${row.native} for ${row.want}`, () => {
      assert.deepEqual(read(chunk({ content: "a" }), chunk({}, row.native)).at(-2), `finish ${row.want}`);
    });
  }

  it("waits for the terminator: vendors repeat the reason, and text may come with it", () => {
    assert.deepEqual(
      read(chunk({ content: "a" }, "length"), chunk({ content: "b" }, "length"), chunk({}, "length")).slice(1),
      ["open 0 text", "0: a", "0: b", "close 0", "finish length", "end"],
    );
  });

  for (const row of [
    { reasons: ["length", "stop"], want: "length" },
    { reasons: ["content_filter", "stop"], want: "content-filter" },
    { reasons: ["length", "something_new"], want: "length" },
    { reasons: ["stop", "length"], want: "length" },
    { reasons: ["length", "content_filter"], want: "content-filter" },
    { reasons: ["stop", "stop_sequence"], want: "stop-sequence" },
  ]) {
    it(`a reply that was cut stays cut: ${row.reasons.join(", then ")} is ${row.want}`, () => {
      const chunks = row.reasons.map((reason) => chunk({}, reason));
      assert.deepEqual(read(chunk({ content: "a" }), ...chunks).at(-2), `finish ${row.want}`);
    });
  }

  it("pitfall 116: usage on every chunk comes through as it is: the last one counts", () => {
    const events = readChunks([
      chunk({ content: "a" }, null, { usage: { ...usage, completion_tokens: 1 } }),
      chunk({ content: "b" }, "stop", { usage: { ...usage, completion_tokens: 2 } }),
    ]);
    assert.equal(aggregateReply(events).usage?.output, 2);
  });

  it("pitfall 22: finds usage beside choices that are null or empty, and where Groq put it", () => {
    for (const last of [
      { choices: null, usage },
      { choices: [], usage },
      { choices: [], x_groq: { usage } },
    ]) {
      assert.ok(read(chunk({ content: "a" }, "stop"), { id: "c1", ...last }).includes("usage 3/2"));
    }
  });

  it("ignores what comes behind the terminator", () => {
    const reader = chatCompletionsUpstreamTranslator.createStreamReader();
    reader.read({ name: undefined, data: JSON.stringify(chunk({ content: "a" }, "stop")) });
    assert.equal(reader.read({ name: undefined, data: "[DONE]" }).at(-1)?.type, "end");
    assert.deepEqual(reader.read({ name: undefined, data: "[DONE]" }), []);
    assert.deepEqual(reader.read({ name: undefined, data: JSON.stringify(chunk({ content: "b" })) }), []);
    assert.deepEqual(reader.end(), []);
  });

  it("pitfall 24: tolerates an empty role and null content", () => {
    assert.deepEqual(
      read(chunk({ role: "", content: null }), chunk({ role: "assistant", content: "a" }, "stop"))[1],
      "open 0 text",
    );
  });
});

describe("chat completions stream reader: broken streams", () => {
  for (const row of [
    { name: "pitfall 8: no finish reason", chunks: [chunk({ content: "a" })] },
    {
      name: "a choice among several that never finished",
      chunks: [{ id: "c", choices: [{ index: 1, delta: { content: "a" }, finish_reason: "stop" }] }],
    },
    { name: "no choice at all", chunks: [{ id: "c", choices: [], usage }] },
    { name: "a choice index that is none", chunks: [{ id: "c", choices: [{ index: -1, delta: {} }] }] },
    { name: "a choice index beyond any client's", chunks: [{ id: "c", choices: [{ index: 1e9, delta: {} }] }] },
    {
      name: "pitfall 150: arguments that are no JSON",
      chunks: [chunk(opening(0, "a", "f", "{x")), chunk({}, "tool_calls")],
    },
    { name: "a call without a name", chunks: [chunk(growing(0, "{}")), chunk({}, "tool_calls")] },
    {
      name: "arguments that go on behind their end",
      chunks: [chunk(opening(0, "a", "f", '{"x":1}')), chunk(opening(1, "b", "g")), chunk(growing(0, "2"))],
    },
    {
      name: "pitfall 40: a second reply behind the first",
      chunks: [chunk({ content: "a" }, "stop"), { ...chunk({ content: "b" }, "stop"), id: "c2" }],
    },
    { name: "a provider that gave up", chunks: [chunk({ content: "a" }, "error")] },
    {
      name: "a provider that gave up, whatever a relay says behind it",
      chunks: [chunk({ content: "a" }, "error"), chunk({}, "stop")],
    },
    {
      name: "a provider that gave up behind its limit",
      chunks: [chunk({ content: "a" }, "length"), chunk({}, "abort")],
    },
    {
      name: "more calls than any client takes",
      chunks: [...Array(129).keys()].map((index) => chunk(opening(index, `c${index}`, "f"))),
    },
  ]) {
    it(`refuses ${row.name}`, () => assert.ok(refused(...row.chunks)));
  }

  for (const data of ["{", "<html>", "null", "[]", "1", '"x"']) {
    it(`refuses the event ${JSON.stringify(data)}`, () => {
      assert.throws(
        () => chatCompletionsUpstreamTranslator.createStreamReader().read({ name: undefined, data }),
        InvalidReply,
      );
    });
  }

  it("refuses arguments that are nested beyond all sense", () => {
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const data = `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":${deep}}}]}}]}`;
    assert.throws(
      () => chatCompletionsUpstreamTranslator.createStreamReader().read({ name: undefined, data }),
      InvalidReply,
    );
  });

  it("takes an event without data for a sign of life", () => {
    assert.deepEqual(chatCompletionsUpstreamTranslator.createStreamReader().read({ name: undefined, data: " " }), []);
  });

  it("refuses arguments without end", () => {
    const reader = chatCompletionsUpstreamTranslator.createStreamReader();
    const long = JSON.stringify(chunk(growing(0, "x".repeat(1024 * 1024))));
    reader.read({ name: undefined, data: JSON.stringify(chunk(opening(0, "a", "f"))) });
    assert.throws(() => {
      for (let round = 0; round < 20; round += 1) reader.read({ name: undefined, data: long });
    }, InvalidReply);
  });

  it("throws nothing but InvalidReply, whatever JSON comes", () => {
    const names = [
      "id",
      "choices",
      "index",
      "delta",
      "message",
      "content",
      "tool_calls",
      "function",
      "name",
      "arguments",
      "finish_reason",
    ];
    const more = [
      "type",
      "text",
      "thinking",
      "audio",
      "images",
      "image_url",
      "annotations",
      "url_citation",
      "logprobs",
      "usage",
      "citations",
    ];
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { depthSize: "medium" },
        fc.constantFrom<unknown>(null, true, 0, 1, -1, 1.5, "", "x", "stop", "{}", "text"),
        fc.array(tie("json"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names, ...more, "__proto__"), tie("json"), { maxKeys: 5 }),
      ),
    }));
    const choice = fc.record({
      index: fc.constantFrom<unknown>(0, 1, undefined),
      delta: json,
      finish_reason: json,
      logprobs: json,
    });
    const chunks = fc.array(
      fc.record({
        id: fc.constantFrom("a", "b"),
        choices: fc.array(choice, { maxLength: 2 }),
        usage: json,
        citations: json,
      }),
    );
    fc.assert(
      fc.property(chunks, (values) => {
        try {
          readChunks(values);
          for (const value of values) chatCompletionsUpstreamTranslator.readReply(value);
        } catch (error) {
          assert.ok(error instanceof InvalidReply, String(error));
        }
      }),
      { numRuns: 500 },
    );
  });
});

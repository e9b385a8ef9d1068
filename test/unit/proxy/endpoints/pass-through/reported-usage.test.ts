import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { UsageWatch } from "#proxy/endpoints/pass-through/reported-usage";
import { inputTokens, outputTokens } from "#proxy/settle/usage";

/** Input and output tokens of a reply that came cut at these places; undefined: it reported none. */
function countsOf(contentType: string, body: string, cuts: readonly number[] = []): [number, number] | undefined {
  const watch = new UsageWatch(contentType);
  const bytes = Buffer.from(body);
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    const to = Math.max(from, Math.min(cut, bytes.length));
    watch.push(Buffer.from(bytes.subarray(from, to)));
    from = to;
  }
  watch.push(Buffer.from(bytes.subarray(from)));
  watch.end();
  return watch.usage && [inputTokens(watch.usage), outputTokens(watch.usage)];
}

const chat = JSON.stringify({ data: [1, 2], usage: { prompt_tokens: 7, completion_tokens: 3 } });
const sse = "text/event-stream; charset=utf-8";
const messageEvents = [
  'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":7,"cache_read_input_tokens":2,"output_tokens":1}}}\n\n',
  ": ping\n\n",
  'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":3}}\n\n',
].join("");
const long = "y".repeat(200_000);

describe("UsageWatch", () => {
  for (const [name, type, body, want] of [
    ["JSON without usage", "application/json", "{}", undefined],
    ["text that is none", "text/plain", 'say "usage": 5', undefined],
    ["JSON that is cut", "application/json", '{"usage":{"prompt_tokens":7', undefined],
    ["a list", "application/json", '["usage"]', undefined],
    ["chat", "application/json", chat, [7, 3]],
    ["a long reply with usage at its end", "application/json", JSON.stringify({ long, ...JSON.parse(chat) }), [7, 3]],
    [
      "a long reply with nested usage at its end",
      "application/json",
      JSON.stringify({
        long,
        usage: { prompt_tokens: 7, prompt_tokens_details: { cached_tokens: 2 }, completion_tokens: 3 },
      }),
      [7, 3],
    ],
    ["a long text that quotes one", "application/json", JSON.stringify({ long, text: chat }), undefined],
    ["embeddings", "application/json", '{"usage":{"prompt_tokens":7,"total_tokens":7}}', [7, 0]],
    [
      "a message",
      "application/json",
      '{"type":"message","usage":{"input_tokens":7,"cache_read_input_tokens":2,"output_tokens":3}}',
      [9, 3],
    ],
    ["a response", "application/json", '{"object":"response","usage":{"input_tokens":7,"output_tokens":3}}', [7, 3]],
    ["contents", "application/json", '{"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":3}}', [7, 3]],
    [
      "contents in a list of parts",
      "application/json",
      '[{"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":1}},\n{"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":3}}]',
      [7, 3],
    ],
    [
      "contents in a long list of parts",
      "application/json",
      JSON.stringify([{ long }, { usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3 } }]),
      [7, 3],
    ],
    ["chat in lines", "application/x-ndjson", `{"x":1}\r\n${chat}\n`, [7, 3]],
    ["events of chat", sse, `data: {"x":1}\n\ndata: ${chat}\n\ndata: [DONE]\n\n`, [7, 3]],
    ["events of a message", sse, messageEvents, [9, 3]],
    [
      "events of a response",
      sse,
      'data: {"type":"response.completed","response":{"object":"response","usage":{"input_tokens":7,"output_tokens":3}}}\n\n',
      [7, 3],
    ],
    [
      "events of contents",
      sse,
      'data: {"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":1}}\r\n\r\ndata: {"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":3}}\r\n\r\n',
      [7, 3],
    ],
    [
      "a long event of a response, with one behind it",
      sse,
      `data: ${JSON.stringify({ type: "response.completed", response: { object: "response", long, usage: { input_tokens: 7, output_tokens: 3 } } })}\n\ndata: [DONE]\n\n`,
      [7, 3],
    ],
    [
      "two long events of chat",
      sse,
      `data: ${JSON.stringify({ long, usage: null })}\n\ndata: ${JSON.stringify({ long, usage: JSON.parse(chat).usage })}\n\n`,
      [7, 3],
    ],
    [
      "a long response",
      "application/json",
      JSON.stringify({ object: "response", long, usage: { input_tokens: 7, output_tokens: 3 } }),
      [7, 3],
    ],
    ["an event that never ends", sse, `data: ${long}`, undefined],
  ] as const) {
    it(`of ${name}: ${want ?? "nothing"}`, () => {
      assert.deepEqual(countsOf(type, body), want);
      assert.deepEqual(countsOf(type, body, [1, 30, 31, 60, 190_000]), want);
    });
  }

  it("reads events the same wherever they are cut, and never throws", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(messageEvents.length)), (cuts) => {
        assert.deepEqual(countsOf(sse, messageEvents, cuts), [9, 3]);
      }),
    );
    fc.assert(
      fc.property(fc.string(), fc.boolean(), (text, isStream) => {
        countsOf(isStream ? sse : "application/json", `{"usage":${text}}\n\n`);
      }),
    );
  });

  it("takes no time over a long reply whose end is made of braces", () => {
    const body = `{"x":"${"y".repeat(70_000)}","usage":{"a":[${"{},".repeat(21_000)}`;
    const startedMs = performance.now();
    assert.equal(countsOf("application/json", body), undefined);
    assert.ok(performance.now() - startedMs < 500);
  });

  it("is not misled by braces inside of texts", () => {
    const usage = '{"note":"a } \\" {","prompt_tokens":7,"completion_tokens":3}';
    assert.deepEqual(countsOf("application/json", `{"x":"${long}","usage":${usage}}`), [7, 3]);
  });
});

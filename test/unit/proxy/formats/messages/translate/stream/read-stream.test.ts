import assert from "node:assert/strict";
import fc from "fast-check";
import { messagesUpstreamTranslator } from "#proxy/formats/messages/translate/upstream-translator";
import type { JsonObject } from "#proxy/json/json-value";
import { begin, block, ending, json, last, usage } from "#test/support/translation/messages-events";
import { invalidityOf, readEvents } from "#test/support/translation/messages-exchange";

const said = (text: string) => ({ type: "text_delta", text });
const use = (more: JsonObject = {}) => ({ type: "tool_use", id: "a", name: "f", input: {}, ...more });

/** Each event in a word: what opened, what came, what closed; usage and the start left out. */
function sketch(events: readonly JsonObject[]): string[] {
  return readEvents(events).flatMap((event) => {
    switch (event.type) {
      case "open":
        return [
          `open ${event.part} ${event.block.kind}${event.block.kind === "call" ? ` ${event.block.id} ${event.block.name}` : ""}`,
        ];
      case "delta":
        return [`${event.part} ${event.text}`];
      case "state":
        return [`${event.part} ${JSON.stringify(event.state)}`];
      case "citation":
        return [`${event.part} ${event.citation.url} ${event.citation.title ?? "-"}`];
      case "close":
        return [`close ${event.part}`];
      case "finish":
        return [event.finish.reason];
      case "end":
        return [event.type];
      default:
        return [];
    }
  });
}

function within(...events: JsonObject[]): string[] {
  return sketch([begin, ...events, ending("end_turn"), last]);
}

describe("messages: stream reader", () => {
  for (const row of [
    {
      name: "reads text",
      events: block(0, { type: "text", text: "" }, said("a"), said("b")),
      want: ["open 0 text", "0 a", "0 b", "close 0", "stop", "end"],
    },
    {
      name: "keeps text that stands in the start of its block",
      events: block(0, { type: "text", text: "a" }, said("b")),
      want: ["open 0 text", "0 a", "0 b", "close 0", "stop", "end"],
    },
    {
      name: "pitfall 39: keeps several texts in their order",
      events: [...block(0, { type: "text", text: "" }, said("a")), ...block(1, { type: "text", text: "" }, said("b"))],
      want: ["open 0 text", "0 a", "close 0", "open 1 text", "1 b", "close 1", "stop", "end"],
    },
    {
      name: "pitfall 44: tells a signature that came in pieces once, with the text it signs",
      events: block(
        0,
        { type: "thinking", thinking: "", signature: "" },
        { type: "thinking_delta", thinking: "T" },
        { type: "signature_delta", signature: "SI" },
        { type: "signature_delta", signature: "G" },
      ),
      want: ["open 0 reasoning", "0 T", '0 {"kind":"thinking","text":"T","signature":"SIG"}', "close 0", "stop", "end"],
    },
    {
      name: "reads thinking without a signature, and thinking that is redacted",
      events: [
        ...block(0, { type: "thinking", thinking: "T" }),
        ...block(1, { type: "redacted_thinking", data: "RED" }),
      ],
      want: [
        "open 0 reasoning",
        "0 T",
        "close 0",
        "open 1 reasoning",
        '1 {"kind":"redacted-thinking","data":"RED"}',
        "close 1",
        "stop",
        "end",
      ],
    },
    {
      name: "pitfall 27: takes the pieces of the arguments and not the empty input before them",
      events: block(0, use(), json(""), json('{"a"'), json(":1}")),
      want: ["open 0 call a f", '0 {"a"', "0 :1}", "close 0", "tool-calls", "end"],
    },
    {
      name: "pitfall 28: gives a call without arguments an empty object",
      events: block(0, use(), json("")),
      want: ["open 0 call a f", "0 {}", "close 0", "tool-calls", "end"],
    },
    {
      name: "takes the input of the start when no pieces follow",
      events: block(0, use({ input: { a: 1 } })),
      want: ["open 0 call a f", '0 {"a":1}', "close 0", "tool-calls", "end"],
    },
    {
      name: "takes an input that is the text of an object",
      events: block(0, use({ input: '{"a":1}' })),
      want: ["open 0 call a f", '0 {"a":1}', "close 0", "tool-calls", "end"],
    },
    {
      name: "reads sources with an address and no others",
      events: block(
        0,
        { type: "text", text: "", citations: [] },
        {
          type: "citations_delta",
          citation: { type: "web_search_result_location", url: "u", title: "t", cited_text: "c" },
        },
        { type: "citations_delta", citation: { type: "search_result_location", source: "s", title: null } },
        { type: "citations_delta", citation: { type: "char_location", document_title: "facts.txt" } },
        said("a"),
      ),
      want: ["open 0 text", "0 u t", "0 s -", "0 a", "close 0", "stop", "end"],
    },
    {
      name: "keeps pings of the upstream to itself",
      events: [{ type: "ping" }],
      want: ["stop", "end"],
    },
    {
      name: "pitfall 41: takes blocks and events that nobody knows for something of the provider's own",
      events: [{ type: "hologram_start" }, ...block(0, { type: "hologram", light: 1 }, { type: "light_delta" })],
      want: ["open 0 hosted", "close 0", "stop", "end"],
    },
    {
      name: "closes a block that was never stopped",
      events: [{ type: "content_block_start", index: 0, content_block: { type: "text", text: "a" } }],
      want: ["open 0 text", "0 a", "close 0", "stop", "end"],
    },
    {
      name: "closes a block whose place another one takes",
      events: [
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "a" } },
        ...block(0, { type: "text", text: "b" }),
      ],
      want: ["open 0 text", "0 a", "close 0", "open 1 text", "1 b", "close 1", "stop", "end"],
    },
  ]) {
    it(row.name, () => assert.deepEqual(within(...row.events), row.want));
  }

  it("keeps digits of an input that stands in the start", () => {
    const reader = messagesUpstreamTranslator.createStreamReader();
    const input = '{"id":12345678901234567890}';
    const block = `{"type":"tool_use","id":"a","name":"f","input":${input}}`;
    const start = `{"type":"message_start","message":{"id":"msg_1","content":[${block}]}}`;
    const begun = `{"type":"content_block_start","index":0,"content_block":${block}}`;
    const stop = '{"type":"content_block_stop","index":0}';
    const events = [start, begun, stop].flatMap((data) => reader.read({ name: undefined, data }));
    const said = events.flatMap((event) => (event.type === "delta" ? [event.text] : []));
    assert.deepEqual(said, [input, input]);
  });

  it("pitfall 40: ignores a second start of the same message and refuses another one", () => {
    assert.deepEqual(sketch([begin, begin, ending("end_turn"), last]), ["stop", "end"]);
    const other = { ...begin, message: { ...begin.message, id: "msg_2" } };
    assert.match(invalidityOf(() => sketch([begin, other])) ?? "", /spliced/);
  });

  it("pitfall 17: reads events by their type when they have no name, and by their name when they have no type", () => {
    const reader = messagesUpstreamTranslator.createStreamReader();
    const data = JSON.stringify({ message: begin.message });
    assert.equal(reader.read({ name: "message_start", data })[0]?.type, "start");
    assert.deepEqual(reader.read({ name: "ping", data: "{}" }), []);
  });

  it("begins with the id, the model and the tier", () => {
    const message = { ...begin.message, usage: { ...usage, service_tier: "standard" } };
    assert.deepEqual(readEvents([{ ...begin, message }, ending("end_turn"), last])[0], {
      type: "start",
      id: "msg_1",
      model: "c",
      serviceTier: "standard",
    });
  });

  it("reads content that stands in the start of the message", () => {
    const message = { ...begin.message, content: [{ type: "text", text: "a" }, use({ input: { x: 1 } })] };
    assert.deepEqual(sketch([{ ...begin, message }, ending("tool_use"), last]), [
      "open 0 text",
      "0 a",
      "close 0",
      "open 1 call a f",
      '1 {"x":1}',
      "close 1",
      "tool-calls",
      "end",
    ]);
  });

  describe("usage", () => {
    function usages(...events: JsonObject[]): unknown[] {
      return readEvents([...events, last]).flatMap((event) =>
        event.type === "usage" ? [[event.usage.input, event.usage.cacheRead, event.usage.output]] : [],
      );
    }
    it("pitfall 116: is the last that was told, never a sum", () => {
      assert.deepEqual(usages(begin, ending("end_turn"), ending("end_turn")), [
        [25, 0, 1],
        [25, 0, 12],
        [25, 0, 12],
      ]);
    });
    it("pitfall 117: takes prompt tokens that the end restates", () => {
      const restated = { usage: { input_tokens: 40, cache_read_input_tokens: 5, output_tokens: 12 } };
      assert.deepEqual(usages(begin, ending("end_turn", restated)).at(-1), [40, 5, 12]);
    });
    it("pitfall 118: keeps a good number when the end says zero or nothing, and takes its output", () => {
      const zero = { usage: { input_tokens: 0, output_tokens: 12 } };
      assert.deepEqual(usages(begin, ending("end_turn", zero)).at(-1), [25, 0, 12]);
      assert.deepEqual(usages(begin, ending("end_turn")).at(-1), [25, 0, 12]);
    });
  });

  const open = { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
  for (const row of [
    { name: "content before its message", events: [open], want: /before the start/ },
    { name: "an end before its message", events: [ending("end_turn")], want: /before the start/ },
    {
      name: "a delta for a block that is not open",
      events: [begin, { type: "content_block_delta", index: 0, delta: said("a") }],
      want: /not open/,
    },
    {
      name: "a block without content",
      events: [begin, { type: "content_block_start", index: 0 }],
      want: /without content/,
    },
    { name: "a block behind the end", events: [begin, ending("end_turn"), open], want: /after the end/ },
    { name: "a call without a name", events: [begin, ...block(0, use({ name: "" }))], want: /no name/ },
    { name: "an end without a reason", events: [begin, last], want: /without a stop reason/ },
    {
      name: "an end that never came",
      events: [begin, ...block(0, { type: "text", text: "a" })],
      want: /without a stop reason/,
    },
    { name: "an error in place of a reply", events: [begin, { type: "error", error: {} }], want: /error/ },
    {
      name: "blocks without end",
      events: [begin, ...Array.from({ length: 65 }, (_, index) => ({ ...open, index }))],
      want: /too many/,
    },
    {
      name: "pitfall 150: arguments that are no JSON in a reply that claims to be whole",
      events: [begin, ...block(0, use(), json('{"a')), ending("tool_use"), last],
      want: /arguments/,
    },
  ]) {
    it(row.name.startsWith("pitfall") ? row.name : `refuses ${row.name}`, () =>
      assert.match(invalidityOf(() => sketch(row.events)) ?? "accepted", row.want),
    );
  }

  it("lets arguments be cut where the reply says that it was", () => {
    const events = [begin, ...block(0, use(), json('{"a')), ending("max_tokens"), last];
    assert.deepEqual(sketch(events), ["open 0 call a f", '0 {"a', "close 0", "length", "end"]);
  });

  it("says nothing behind the end", () => {
    const reader = messagesUpstreamTranslator.createStreamReader();
    for (const event of [begin, ending("end_turn"), last])
      reader.read({ name: undefined, data: JSON.stringify(event) });
    for (const data of ["[DONE]", JSON.stringify(open), "not JSON"])
      assert.deepEqual(reader.read({ name: undefined, data }), []);
    assert.deepEqual(reader.end(), []);
  });

  it("accepts a body that ends behind the reason without the last event", () => {
    assert.deepEqual(sketch([begin, ...block(0, { type: "text", text: "a" }), ending("end_turn")]).slice(-2), [
      "stop",
      "end",
    ]);
  });

  it("reads any JSON as events or InvalidReply", () => {
    const content = fc.oneof(
      fc.jsonValue(),
      fc.record({
        type: fc.constantFrom(
          "text",
          "thinking",
          "redacted_thinking",
          "tool_use",
          "server_tool_use",
          "web_search_tool_result",
          "x",
        ),
        name: fc.jsonValue(),
        text: fc.jsonValue(),
        input: fc.jsonValue(),
        content: fc.jsonValue(),
        citations: fc.jsonValue(),
      }),
    );
    const event = fc.record(
      {
        type: fc.constantFrom(
          "message_start",
          "content_block_start",
          "content_block_delta",
          "content_block_stop",
          "message_delta",
          "message_stop",
          "ping",
          "x",
        ),
        index: fc.nat(2),
        message: fc.jsonValue(),
        content_block: content,
        delta: fc.oneof(
          fc.jsonValue(),
          fc.record({ text: fc.jsonValue(), partial_json: fc.jsonValue(), stop_reason: fc.jsonValue() }),
        ),
        usage: fc.jsonValue(),
      },
      { requiredKeys: ["type"] },
    );
    fc.assert(
      fc.property(fc.array(event), (events) => {
        invalidityOf(() => readEvents([begin, ...events.map((given) => ({ ...given }))]));
        invalidityOf(() => readEvents(events.map((given) => ({ ...given }))));
      }),
    );
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(content), (message, blocks) => {
        invalidityOf(() =>
          messagesUpstreamTranslator.readReply({ ...Object(message), content: blocks, stop_reason: "end_turn" }),
        );
      }),
    );
  });
});

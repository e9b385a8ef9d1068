import assert from "node:assert/strict";
import { chatCompletionsUpstreamTranslator } from "#proxy/formats/chat-completions/translate/upstream-translator";
import { chunk, growing, opening, piece, read, words } from "#test/support/translation/chat-chunks";

describe("chat completions stream reader: calls", () => {
  const tail = ["close 0", "finish tool-calls", "end"];

  for (const row of [
    {
      name: "in the usual pieces",
      chunks: [
        chunk(opening(0, "a", "f")),
        chunk(growing(0, '{"x"')),
        chunk(growing(0, ":1}")),
        chunk({}, "tool_calls"),
      ],
      want: ["open 0 call a f", '0: {"x"', "0: :1}", ...tail],
    },
    {
      name: "pitfall 29: whose name comes a chunk after its id",
      chunks: [
        chunk(piece(0, { id: "a", type: "function" })),
        chunk(piece(0, { function: { name: "f", arguments: "{}" } })),
        chunk({}, "tool_calls"),
      ],
      want: ["open 0 call a f", "0: {}", ...tail],
    },
    {
      name: "pitfall 23: without a type",
      chunks: [chunk(piece(0, { id: "a", function: { name: "f", arguments: '{"x":1}' } })), chunk({}, "tool_calls")],
      want: ["open 0 call a f", '0: {"x":1}', ...tail],
    },
    {
      name: "pitfall 28: with no arguments at all",
      chunks: [chunk(opening(0, "a", "f")), chunk(growing(0, "")), chunk({}, "tool_calls")],
      want: ["open 0 call a f", "0: {}", ...tail],
    },
    {
      name: "pitfall 27: with {} before the real arguments",
      chunks: [chunk(opening(0, "a", "f", "{}")), chunk(growing(0, '{"a":1}')), chunk({}, "tool_calls")],
      want: ["open 0 call a f", '0: {"a":1}', ...tail],
    },
    {
      name: "pitfall 37: with empty content between the pieces",
      chunks: [
        chunk(opening(0, "a", "f")),
        chunk(growing(0, '{"x"')),
        chunk({ content: "" }),
        chunk(growing(0, ":1}")),
        chunk({ content: null }, "tool_calls"),
      ],
      want: ["open 0 call a f", '0: {"x"', "0: :1}", ...tail],
    },
    {
      name: "pitfall 36: although the reason is stop",
      chunks: [chunk(opening(0, "a", "f", '{"x":1}')), chunk({}, "stop")],
      want: ["open 0 call a f", '0: {"x":1}', ...tail],
    },
    {
      name: "with id and name on every piece",
      chunks: [chunk(opening(0, "a", "f", '{"x"')), chunk(opening(0, "a", "f", ":1}")), chunk({}, "tool_calls")],
      want: ["open 0 call a f", '0: {"x"', "0: :1}", ...tail],
    },
    {
      name: "with an empty name behind the first piece (Mistral)",
      chunks: [chunk(opening(0, "a", "f")), chunk(opening(0, undefined, "", '{"x":1}')), chunk({}, "tool_calls")],
      want: ["open 0 call a f", '0: {"x":1}', ...tail],
    },
    {
      name: "counted from one",
      chunks: [chunk(opening(1, "a", "f")), chunk(growing(1, '{"x":1}')), chunk({}, "tool_calls")],
      want: ["open 0 call a f", '0: {"x":1}', ...tail],
    },
    {
      name: "without an index: the last one grows",
      chunks: [chunk(opening(undefined, "a", "f")), chunk(growing(undefined, '{"x":1}')), chunk({}, "tool_calls")],
      want: ["open 0 call a f", '0: {"x":1}', ...tail],
    },
    {
      name: "without any id",
      chunks: [chunk(opening(0, undefined, "f", '{"x":1}')), chunk({}, "tool_calls")],
      want: ["open 0 call undefined f", '0: {"x":1}', ...tail],
    },
    {
      name: "without an id and without arguments",
      chunks: [chunk(opening(0, undefined, "f")), chunk({}, "tool_calls")],
      want: ["open 0 call undefined f", "0: {}", ...tail],
    },
    {
      name: "with arguments as an object, digits kept",
      chunks: [chunk(piece(0, { id: "a", function: { name: "f", arguments: { x: 1 } } })), chunk({}, "tool_calls")],
      want: ["open 0 call a f", '0: {"x":1}', ...tail],
    },
    {
      name: "of a custom tool",
      chunks: [
        chunk(piece(0, { id: "a", type: "custom", custom: { name: "sql", input: "" } })),
        chunk(piece(0, { custom: { input: "select" } })),
        chunk({}, "tool_calls"),
      ],
      want: ["open 0 call a sql", "0: select", ...tail],
    },
    {
      name: "of the older form",
      chunks: [
        chunk({ function_call: { name: "f", arguments: "" } }),
        chunk({ function_call: { arguments: '{"x":1}' } }),
        chunk({}, "function_call"),
      ],
      want: ["open 0 call undefined f", '0: {"x":1}', ...tail],
    },
    {
      name: "pitfall 133: with the signature that Google puts beside them",
      chunks: [
        chunk(
          piece(0, {
            id: "a",
            function: { name: "f", arguments: '{"x":1}' },
            extra_content: { google: { thought_signature: "S" } },
          }),
        ),
        chunk({}, "tool_calls"),
      ],
      want: ["open 0 call a f", "state 0 thought-signature", '0: {"x":1}', ...tail],
    },
  ]) {
    it(`reads a call ${row.name}`, () => assert.deepEqual(read(...row.chunks).slice(1), row.want));
  }

  it("pitfall 31: an empty list of calls beside text is no call", () => {
    assert.deepEqual(read(chunk({ content: "a", tool_calls: [] }), chunk({}, "stop")).slice(1), [
      "open 0 text",
      "0: a",
      "close 0",
      "finish stop",
      "end",
    ]);
  });

  it("keeps digits of arguments given as an object", () => {
    const reader = chatCompletionsUpstreamTranslator.createStreamReader();
    const data =
      '{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"n":12345678901234567890}}}]},"finish_reason":"tool_calls"}]}';
    assert.ok(words(reader.read({ name: undefined, data })).includes('0: {"n":12345678901234567890}'));
  });

  it("closes the text before a call, and a whole call before the next one", () => {
    assert.deepEqual(
      read(
        chunk({ content: "t" }),
        chunk(opening(0, "a", "f", '{"x":1}')),
        chunk(opening(1, "b", "g", '{"y":2}')),
        chunk({}, "tool_calls"),
      ).slice(1),
      [
        "open 0 text",
        "0: t",
        "close 0",
        "open 1 call a f",
        '1: {"x":1}',
        "close 1",
        "open 2 call b g",
        '2: {"y":2}',
        "close 2",
        "finish tool-calls",
        "end",
      ],
    );
  });

  it("pitfall 43: keeps calls open together whose pieces come in turns", () => {
    assert.deepEqual(
      read(
        chunk(opening(0, "a", "f")),
        chunk(opening(1, "b", "g")),
        chunk(growing(0, '{"x"')),
        chunk(growing(1, '{"y"')),
        chunk(growing(0, ":1}")),
        chunk(growing(1, ":2}")),
        chunk({}, "tool_calls"),
      ).slice(1),
      [
        "open 0 call a f",
        "open 1 call b g",
        '0: {"x"',
        '1: {"y"',
        "0: :1}",
        "1: :2}",
        "close 0",
        "close 1",
        "finish tool-calls",
        "end",
      ],
    );
  });

  it("takes another id at the index of a whole call for another call", () => {
    const calls = read(
      chunk(opening(0, "a", "f", '{"x":1}')),
      chunk(opening(0, "b", "f", '{"x":2}')),
      chunk({}, "tool_calls"),
    );
    assert.deepEqual(
      calls.filter((word) => word.startsWith("open")),
      ["open 0 call a f", "open 1 call b f"],
    );
  });

  it("takes a second name without index and id behind a whole call for another call", () => {
    const calls = read(
      chunk(opening(undefined, undefined, "f", '{"x":1}')),
      chunk(opening(undefined, undefined, "g", '{"x":2}')),
      chunk({}, "stop"),
    );
    assert.deepEqual(
      calls.filter((word) => word.startsWith("open")),
      ["open 0 call undefined f", "open 1 call undefined g"],
    );
  });

  for (const row of [
    {
      name: "whole calls of one index without ids",
      pieces: [opening(0, undefined, "f", '{"x":1}'), opening(0, undefined, "f", '{"x":2}')],
    },
    { name: "calls without arguments of one index", pieces: [opening(0, "a", "f"), opening(0, "b", "f")] },
    {
      name: "calls without index, id and arguments",
      pieces: [opening(undefined, undefined, "f"), opening(undefined, undefined, "g")],
    },
    {
      name: "calls of one index that send {} and nothing else",
      pieces: [opening(0, "a", "f", "{}"), opening(0, "b", "g", "{}")],
    },
  ]) {
    it(`tells apart ${row.name}`, () => {
      const opened = read(...row.pieces.map((delta) => chunk(delta)), chunk({}, "tool_calls")).filter((word) =>
        word.startsWith("open"),
      );
      assert.equal(opened.length, 2);
    });
  }

  it("takes a name that is repeated before the arguments for the same call", () => {
    const pieces = [
      opening(undefined, undefined, "f"),
      opening(undefined, undefined, "f", '{"x"'),
      opening(undefined, undefined, "f", ":1}"),
    ];
    assert.deepEqual(read(...pieces.map((delta) => chunk(delta)), chunk({}, "tool_calls")).slice(1, 4), [
      "open 0 call undefined f",
      '0: {"x"',
      "0: :1}",
    ]);
  });

  it("keeps a signature that comes behind the beginning of its call", () => {
    const late = piece(0, { extra_content: { google: { thought_signature: "S" } } });
    const words = read(chunk(opening(0, "a", "f", '{"x":1}')), chunk(late), chunk({}, "tool_calls"));
    assert.deepEqual(words.slice(1, 5), ["open 0 call a f", '0: {"x":1}', "state 0 thought-signature", "close 0"]);
  });

  it("ignores an id that a relay changes in the middle of the arguments", () => {
    const calls = read(
      chunk(opening(0, "a", "f", '{"x"')),
      chunk(piece(0, { id: "z", function: { arguments: ":1}" } })),
      chunk({}, "tool_calls"),
    );
    assert.deepEqual(calls.slice(1, 4), ["open 0 call a f", '0: {"x"', "0: :1}"]);
  });

  it("leaves arguments as they are where the reply was cut for its length", () => {
    assert.deepEqual(read(chunk(opening(0, "a", "f", '{"x')), chunk({}, "length")).slice(1), [
      "open 0 call a f",
      '0: {"x',
      "close 0",
      "finish length",
      "end",
    ]);
  });

  it("drops a call of which nothing came", () => {
    assert.deepEqual(read(chunk(piece(0, {})), chunk({ content: "a" }, "stop")).slice(1), [
      "open 0 text",
      "0: a",
      "close 0",
      "finish stop",
      "end",
    ]);
  });
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { argumentsObject, jsonText, parseJsonText } from "#proxy/json/json-text";
import { formats, sendTo } from "#test/support/translation/pure-translation";

describe("jsonText", () => {
  for (const row of [
    { name: "half of a pair becomes the replacement character", value: "a\ud83d", want: String.raw`"a\ufffd"` },
    { name: "the other half as well", value: "\ude00b", want: String.raw`"\ufffdb"` },
    { name: "a whole pair stays", value: "😀", want: '"😀"' },
    { name: "the text of an escape stays text", value: String.raw`\ud83d`, want: String.raw`"\\ud83d"` },
    { name: "behind a backslash half a pair is still half", value: "\\\ud83d", want: String.raw`"\\\ufffd"` },
    { name: "in names too", value: { "\udead": 1 }, want: String.raw`{"\ufffd":1}` },
  ]) {
    it(row.name, () => assert.equal(jsonText(row.value), row.want));
  }
  it("is what JSON.stringify says of well-formed text, and always well-formed", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        assert.equal(JSON.parse(jsonText([text]))[0], text.toWellFormed());
      }),
    );
  });
});

describe("arguments with half of a surrogate pair", () => {
  const args = String.raw`{"x":"a\ud83d"}`;
  const body = {
    model: "m",
    messages: [
      { role: "user", content: "x" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: args } }],
      },
      { role: "tool", tool_call_id: "a", content: String.raw`{"r":"\ude00"}` },
    ],
    tools: [{ type: "function", function: { name: "f" } }],
  };
  for (const to of formats.filter((format) => format !== "ChatCompletions")) {
    it(`do not end a conversation with an upstream of ${to}`, () => {
      const sent = sendTo(to, "ChatCompletions", body);
      assert.ok("body" in sent, JSON.stringify(sent));
    });
  }
  it("are an object", () => assert.deepEqual(argumentsObject(args), { x: "a\ud83d" }));
});

describe("numbers beyond those of JSON.parse", () => {
  for (const text of ['{"a":1e400}', '{"a":-1E+999}', '{"a":123456789012345678901}', '{"a":1e+300}', '{"a":0.5}']) {
    it(`stay what they are: ${text}`, () =>
      assert.equal(JSON.stringify(parseJsonText(text)).toLowerCase(), text.toLowerCase()));
  }
});

import assert from "node:assert/strict";
import type { JsonObject } from "#proxy/json/json-value";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { InvalidReply, type Reply } from "#proxy/neutral/reply";
import { readFrames } from "#test/unit/proxy/formats/generate-content/translate/replay";

const stop = { candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }] };

function frame(...parts: readonly JsonObject[]): JsonObject {
  return { candidates: [{ content: { role: "model", parts } }] };
}

function blocksOf(...frames: readonly JsonObject[]): Reply["candidates"][number]["blocks"] {
  return aggregateReply(readFrames([...frames, stop])).candidates[0]?.blocks ?? [];
}

describe("the stream reader of generateContent: streamed arguments", () => {
  const start = frame({ functionCall: { name: "f", willContinue: true }, thoughtSignature: "S" });
  const piece = (...partialArgs: readonly JsonObject[]): JsonObject =>
    frame({ functionCall: { partialArgs, willContinue: true } });
  const end = frame({ functionCall: {} });
  const argumentsOf = (...frames: readonly JsonObject[]): unknown => {
    const [block] = blocksOf(start, ...frames, end);
    return block?.kind === "call" ? block.arguments : undefined;
  };

  for (const row of [
    {
      name: "texts grow piece by piece",
      pieces: [
        { jsonPath: "$.city", stringValue: "Par", willContinue: true },
        { jsonPath: "$.city", stringValue: "is" },
      ],
      want: '{"city":"Paris"}',
    },
    {
      name: "values of every kind",
      pieces: [
        { jsonPath: "$.n", numberValue: 0 },
        { jsonPath: "$.b", boolValue: false },
        { jsonPath: "$.z", nullValue: "NULL_VALUE" },
      ],
      want: '{"n":0,"b":false,"z":null}',
    },
    {
      name: "places inside of objects and lists, however they are spelled",
      pieces: [
        { jsonPath: "$.a[0].b", stringValue: "x" },
        { jsonPath: "$['a'][1]", numberValue: 2 },
        { jsonPath: '$["c d"].e', boolValue: true },
      ],
      want: '{"a":[{"b":"x"},2],"c d":{"e":true}}',
    },
    { name: "nothing", pieces: [], want: "{}" },
  ]) {
    it(`puts together ${row.name}`, () => assert.equal(argumentsOf(...row.pieces.map((one) => piece(one))), row.want));
  }

  for (const path of [
    "$.__proto__.x",
    "$.a.constructor",
    "$['prototype']",
    "$.a[5]",
    "a",
    "$",
    "$.a[-1]",
    `$${".a".repeat(70)}`,
  ]) {
    it(`pitfall 86: refuses the path ${path.slice(0, 20)} and touches no prototype`, () => {
      assert.throws(() => argumentsOf(piece({ jsonPath: path, stringValue: "polluted" })), InvalidReply);
      assert.equal(Reflect.get({}, "x"), undefined);
    });
  }

  it("reads one call after another, each to its end", () => {
    const blocks = blocksOf(
      start,
      piece({ jsonPath: "$.a", stringValue: "1" }),
      end,
      start,
      piece({ jsonPath: "$.a", stringValue: "2" }),
      end,
    );
    assert.deepEqual(
      blocks.map((block) => block.kind === "call" && block.arguments),
      ['{"a":"1"}', '{"a":"2"}'],
    );
  });

  const half = [start, piece({ jsonPath: "$.a", stringValue: "1" }, { jsonPath: "$.b", stringValue: "2" })];

  it("refuses a reply that claims to be whole before its call is", () => {
    assert.throws(() => blocksOf(...half), new InvalidReply("a tool call was never completed"));
  });

  for (const { name, part } of [
    { name: "another call", part: { functionCall: { name: "g", args: { a: 1 } } } },
    { name: "another that is streamed", part: { functionCall: { name: "g", willContinue: true } } },
    { name: "a text", part: { text: "Done." } },
    { name: "a signature", part: { text: "", thoughtSignature: "T" } },
    { name: "code", part: { executableCode: { language: "PYTHON", code: "1" } } },
    { name: "a picture", part: { inlineData: { mimeType: "image/png", data: "AAAA" } } },
  ]) {
    it(`refuses half a call behind which ${name} stands`, () => {
      assert.throws(() => blocksOf(...half, frame(part), end), new InvalidReply("a tool call was never completed"));
    });
  }

  it("passes over an empty text in the middle of a call", () => {
    const [block] = blocksOf(...half, frame({ text: "" }), end);
    assert.equal(block?.kind === "call" && block.arguments, '{"a":"1","b":"2"}');
  });

  it("says half a call as half a one where the reply was cut off", () => {
    const cut = { candidates: [{ content: { parts: [] }, finishReason: "MAX_TOKENS" }] };
    const [candidate] = aggregateReply(readFrames([...half, cut])).candidates;
    const [block] = candidate?.blocks ?? [];
    assert.deepEqual(
      [candidate?.finish.reason, block?.kind === "call" && block.arguments],
      ["length", '{"a":"1","b":"2"'],
    );
  });

  it("refuses a piece without a call", () => {
    assert.throws(() => blocksOf(piece({ jsonPath: "$.a", stringValue: "1" })), InvalidReply);
  });
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { JsonCursor } from "#proxy/json/json-cursor";

/** Reads any JSON by the cursor alone. */
function read(cursor: JsonCursor): unknown {
  if (cursor.isObject()) {
    const members: [string, unknown][] = [];
    cursor.object((name) => members.push([name, read(cursor)]));
    return Object.fromEntries(members);
  }
  if (cursor.isArray()) {
    const items: unknown[] = [];
    cursor.array(() => items.push(read(cursor)));
    return items;
  }
  return cursor.json();
}

function cursorOf(text: string): JsonCursor {
  return new JsonCursor(Buffer.from(text));
}

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

describe("JsonCursor", () => {
  it("reads what JSON.parse reads, however it is spaced", () => {
    fc.assert(
      fc.property(json, fc.constantFrom(undefined, 1, "\t"), (value, spaces) => {
        const cursor = cursorOf(` ${JSON.stringify(value, null, spaces)}\n`);
        assert.deepEqual(read(cursor), value);
        cursor.end();
      }),
    );
  });

  it("skips exactly one value", () => {
    fc.assert(
      fc.property(json, json, (first, second) => {
        const cursor = cursorOf(JSON.stringify([first, second]));
        const found: string[] = [];
        cursor.array(() => {
          const { start, end } = cursor.skip();
          found.push(cursor.bytes.toString("utf8", start, end));
        });
        assert.deepEqual(found, [JSON.stringify(first), JSON.stringify(second)]);
      }),
    );
  });

  it("never reads a text that is cut anywhere as if it were whole", () => {
    fc.assert(
      fc.property(json, fc.nat(), (value, at) => {
        const text = JSON.stringify({ value, more: [1, "]", { a: "}" }] });
        const cut = cursorOf(text.slice(0, at % text.length));
        assert.throws(() => {
          read(cut);
          cut.end();
        }, SyntaxError);
      }),
    );
  });

  it("throws nothing but SyntaxError for bytes of any kind", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const cursor = new JsonCursor(Buffer.from(bytes));
        try {
          cursor.skip();
          cursor.end();
        } catch (error) {
          assert.ok(error instanceof SyntaxError);
        }
      }),
    );
  });

  it("ends a list of numbers at its bracket", () => {
    const cursor = cursorOf("[1.5e-3, -2 ] , 7");
    assert.equal(cursor.isNumbers(), true);
    assert.deepEqual(cursor.skipFloats(), { start: 0, end: 13 });
  });

  for (const [text, want] of [
    ["[1]", true],
    [" [ -1]", true],
    ["[]", false],
    ['["1"]', false],
    ["[[1]]", false],
    ["1", false],
  ] as const) {
    it(`says ${want} of ${text} as a list of numbers`, () => assert.equal(cursorOf(text).isNumbers(), want));
  }

  for (const [text, want] of [
    ["0", 0],
    ["2047", 2_047],
    ["-1", undefined],
    ["1.5", undefined],
    ['"1"', undefined],
    ["90071992547409920", undefined],
  ] as const) {
    it(`counts ${text} as ${want}`, () => assert.equal(cursorOf(text).count(), want));
  }

  it("goes through many levels without a deep stack", () => {
    const cursor = cursorOf("[".repeat(200_000) + "]".repeat(200_000));
    assert.equal(cursor.skip().end, 400_000);
  });
});

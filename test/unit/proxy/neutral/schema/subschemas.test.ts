import assert from "node:assert/strict";
import { parseJsonText } from "#proxy/json/json-text";
import { isObject } from "#proxy/json/json-value";
import { isSchemaNode, setOwn, subschemas } from "#proxy/neutral/schema/subschemas";
import { toGoogleSchema } from "#proxy/neutral/schema/to-google-schema";

describe("isSchemaNode()", () => {
  it("takes objects, and no number that is kept as its source text", () => {
    const numbers = parseJsonText('{"large":12345678901234567890,"small":1}');
    assert.ok(isObject(numbers) && isObject(numbers["large"]));
    assert.equal(isSchemaNode(numbers["large"]), false);
    assert.equal(isSchemaNode(numbers), true);
    assert.equal(isSchemaNode(Object.freeze({ rawJSON: "1" })), true);
    for (const value of [null, true, [], "x"]) assert.equal(isSchemaNode(value), false);
  });

  it("keeps such a number's digits where it is a limit", () => {
    const schema = parseJsonText('{"type":"integer","minimum":12345678901234567890}');
    assert.ok(isObject(schema));
    assert.equal(JSON.stringify(toGoogleSchema(schema)), '{"type":"INTEGER","minimum":12345678901234567890}');
  });
});

describe("subschemas()", () => {
  it("finds schemas behind keywords, and none in values that are the user's", () => {
    const [a, b, c, d] = [{ title: "a" }, { title: "b" }, { title: "c" }, { title: "d" }];
    const schema = {
      properties: { items: a, default: b },
      items: [c],
      anyOf: [d, true],
      default: a,
      enum: [b],
      const: c,
    };
    assert.deepEqual(subschemas(schema), [c, d, a, b]);
  });

  it("takes lists and maps longer than one call's arguments", () => {
    const many = Array.from({ length: 200_000 }, () => ({}));
    const schema = { items: many, anyOf: many, properties: { ...many } };
    assert.equal(subschemas(schema).length, 600_000);
  });
});

describe("setOwn()", () => {
  it("takes __proto__ for a name", () => {
    const target = {};
    setOwn(target, "__proto__", { polluted: true });
    assert.ok(Object.hasOwn(target, "__proto__"));
    assert.equal(Reflect.get(target, "polluted"), undefined);
  });
});

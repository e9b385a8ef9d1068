import assert from "node:assert/strict";
import fc from "fast-check";
import { parseImages } from "#proxy/endpoints/images/replies/parse-images";

const long = "QUJD".repeat(100);

describe("parseImages", () => {
  it("leaves out the bytes of pictures and nothing else", () => {
    const value = {
      created: 1,
      data: [{ b64_json: long, revised_prompt: 'a "b64_json": "cat"' }, { b64_json: long }],
      size: "1x1",
    };
    const kept = long.slice(0, 64);
    const want = { ...value, data: [{ ...value.data[0], b64_json: kept }, { b64_json: kept }] };
    assert.deepEqual(parseImages(Buffer.from(JSON.stringify(value))), want);
    assert.deepEqual(parseImages(Buffer.from(JSON.stringify(value, undefined, 2))), want);
  });

  for (const text of ["", "{", `{"data":[{"b64_json":"${long}`, `{"b64_json":"${long}"`, `{"b64_json":"${long}"}}`]) {
    it(`takes no part of JSON for the whole: ${text.slice(0, 30)} of ${text.length}`, () => {
      assert.equal(parseImages(Buffer.from(text)), undefined);
    });
  }

  it("tells every other value as it is", () => {
    const value = fc.record({
      b64_json: fc.oneof(fc.string({ maxLength: 60 }), fc.constant(1)),
      other: fc.jsonValue(),
    });
    fc.assert(
      fc.property(fc.array(value), (data) => {
        const text = JSON.stringify({ data });
        if (data.some(({ b64_json }) => JSON.stringify(b64_json).length > 64)) return;
        assert.deepEqual(parseImages(Buffer.from(text)), JSON.parse(text));
      }),
    );
  });
});

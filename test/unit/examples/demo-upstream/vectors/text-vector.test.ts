/** Near texts have near vectors, and every vector has length one. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { likeness, usualDimensions, vectorOfText, vectorOfTokens } from "#examples/demo-upstream/vectors/text-vector";

function alike(left: string, right: string): number {
  return likeness(vectorOfText(left, usualDimensions), vectorOfText(right, usualDimensions));
}

describe("vectorOfText()", () => {
  for (const row of [
    { text: "the cat sat on the mat", near: "cats sit on mats", far: "quarterly revenue grew" },
    { text: "How do I rotate a key?", near: "rotating keys", far: "a picture of a lighthouse" },
    { text: "Invoices are due in May", near: "the invoice of may", far: "swimming in lakes" },
  ])
    it(`finds "${row.near}" nearer to "${row.text}" than "${row.far}"`, () => {
      assert.ok(alike(row.text, row.near) > alike(row.text, row.far) + 0.1);
    });

  it("does not tell capitals and marks apart", () => {
    assert.ok(alike("Hello, World!", "hello world") > 0.999);
  });

  it("has length one and is the same each time, whatever the text (property)", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), fc.integer({ min: 1, max: 64 }), (text, dimensions) => {
        const vector = vectorOfText(text, dimensions);
        assert.equal(vector.length, dimensions);
        assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-5);
        assert.deepEqual(vector, vectorOfText(text, dimensions));
      }),
    );
  });

  it("places token lists that share tokens near each other", () => {
    const vector = (...tokens: number[]) => vectorOfTokens(tokens, usualDimensions);
    assert.ok(likeness(vector(1, 2, 3), vector(1, 2, 4)) > likeness(vector(1, 2, 3), vector(7, 8, 9)) + 0.2);
  });
});

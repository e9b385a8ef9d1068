import assert from "node:assert/strict";
import fc from "fast-check";
import { promptText } from "../../../../proxy/settle/prompt-text.ts";

function textOf(body: unknown): string {
  return promptText(Buffer.from(JSON.stringify(body)));
}

const data = "QUJD".repeat(128);

describe("promptText()", () => {
  for (const row of [
    { name: "has nothing of an empty body", body: {}, want: "" },
    {
      name: "takes strings in their order",
      body: { a: "one", b: ["two", { c: "three" }], d: "four" },
      want: "one\ntwo\nthree\nfour",
    },
    { name: "leaves numbers, truth values and null", body: { a: 1, b: true, c: null, d: "x" }, want: "x" },
    { name: "leaves names of members", body: { long_member_name: "x" }, want: "x" },
    { name: "leaves long strings without a space: encoded data", body: { a: data, b: "x" }, want: "x" },
    { name: "takes the longest string that may be a word", body: { a: data.slice(1) }, want: data.slice(1) },
    { name: "takes long text with spaces", body: { a: `${data} ${data}` }, want: `${data} ${data}` },
    { name: "reads escapes", body: { a: "é\n\u{1f600}" }, want: "é\n\u{1f600}" },
  ]) {
    it(row.name, () => assert.equal(textOf(row.body), row.want));
  }

  it("stops soon after two million characters", () => {
    const line = `${"word ".repeat(200)}.`;
    const length = textOf({ messages: Array.from({ length: 10_000 }, () => line) }).length;
    assert.ok(length >= 2 * 1024 * 1024 && length < 2.1 * 1024 * 1024, `${length} characters`);
  });

  it("reads a list of more members than a call may have arguments", () => {
    assert.equal(textOf({ a: "before", list: Array.from({ length: 500_000 }, () => 1), z: "after" }), "before\nafter");
  });

  it("has every short string of any body, and never throws", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = textOf({ value });
        const visit = (each: unknown): void => {
          if (typeof each === "string") assert.ok(text.includes(each));
          else if (typeof each === "object" && each !== null) for (const member of Object.values(each)) visit(member);
        };
        // As the body carries it: a lone surrogate does not survive UTF-8.
        visit(JSON.parse(Buffer.from(JSON.stringify(value)).toString("utf8")));
      }),
    );
  });
});

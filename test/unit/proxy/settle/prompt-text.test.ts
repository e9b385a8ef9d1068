import assert from "node:assert/strict";
import fc from "fast-check";
import { readPrompt } from "#proxy/settle/prompt-text";

function textOf(body: unknown): string {
  return readPrompt(Buffer.from(JSON.stringify(body))).text;
}

const data = "QUJD".repeat(128);
const chinese = "今天的天气非常好，我们去公园散步吧。".repeat(50);
const lines = "word\n".repeat(200);
const posing = `data:text/plain;base64,${data}`;

describe("the text of a prompt", () => {
  for (const row of [
    { name: "has nothing of an empty body", body: {}, want: "" },
    {
      name: "takes strings in their order",
      body: { a: "one", b: ["two", { c: "three" }], d: "four" },
      want: "one\ntwo\nthree\nfour",
    },
    { name: "leaves numbers, truth values and null", body: { a: 1, b: true, c: null, d: "x" }, want: "x" },
    { name: "leaves names of members", body: { long_member_name: "x" }, want: "x" },
    { name: "leaves encoded data", body: { data, b: "x", file_data: data, c: { b64_json: data } }, want: "x" },
    {
      name: "leaves addresses that hold data",
      body: { image_url: { url: `data:image/png;base64,${data}` }, b: "x" },
      want: "x",
    },
    { name: "leaves signatures and sealed thoughts", body: { a: [{ signature: data, text: "x" }] }, want: "x" },
    { name: "takes short values of data as words", body: { data: "QUJD" }, want: "QUJD" },
    { name: "takes long text with spaces", body: { a: `${data} ${data}` }, want: `${data} ${data}` },
    { name: "takes long text without a space", body: { a: chinese }, want: chinese },
    { name: "takes long text without a space where data may stand", body: { data: chinese }, want: chinese },
    { name: "takes long text of lines", body: { content: lines }, want: lines },
    { name: "takes text that poses as an address with data", body: { text: posing }, want: posing },
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

describe("readPrompt()", () => {
  const mebi = 1024 * 1024;
  for (const row of [
    { name: "has all of a short prompt as text", texts: ["one", "two"], length: 7, beyond: 0 },
    {
      name: "has the rest of a long text as its length",
      texts: ["a".repeat(5 * mebi)],
      length: 2 * mebi,
      beyond: 3 * mebi,
    },
    {
      name: "has later texts as their length in UTF-8",
      texts: ["a".repeat(2 * mebi), "é".repeat(10), "好".repeat(1_000)],
      length: 2 * mebi,
      beyond: 3_020,
    },
  ]) {
    it(row.name, () => {
      const { text, bytesBeyond } = readPrompt(Buffer.from(JSON.stringify({ messages: row.texts })));
      assert.equal(text.length, row.length);
      assert.equal(bytesBeyond, row.beyond);
    });
  }
});

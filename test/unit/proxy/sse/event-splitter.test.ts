import assert from "node:assert/strict";
import fc from "fast-check";
import { EventSplitter } from "#proxy/sse/event-splitter";

function blocksOf(pieces: readonly string[]): { blocks: string[]; rest: string } {
  const splitter = new EventSplitter(1_024);
  const blocks = pieces
    .map((piece) => splitter.push(Buffer.from(piece))?.toString() ?? "")
    .filter((block) => block !== "");
  return { blocks, rest: splitter.takeRest()?.toString() ?? "" };
}

describe("EventSplitter", () => {
  for (const row of [
    { name: "releases a chunk that is one event", pieces: ["data: a\n\n"], blocks: ["data: a\n\n"], rest: "" },
    {
      name: "releases several events of a chunk together",
      pieces: ["data: a\n\ndata: b\n\n"],
      blocks: ["data: a\n\ndata: b\n\n"],
      rest: "",
    },
    { name: "holds an event until its blank line", pieces: ["data: a\n", "\n"], blocks: ["data: a\n\n"], rest: "" },
    {
      name: "releases what is whole and holds the rest",
      pieces: ["data: a\n\nda", "ta: b\n\n"],
      blocks: ["data: a\n\n", "data: b\n\n"],
      rest: "",
    },
    { name: "knows CRLF", pieces: ["data: a\r\n\r\n"], blocks: ["data: a\r\n\r\n"], rest: "" },
    { name: "knows CR", pieces: ["data: a\r\rdata: b"], blocks: ["data: a\r\r"], rest: "data: b" },
    {
      name: "knows LF and CRLF in one blank line",
      pieces: ["data: a\n\r\ndata"],
      blocks: ["data: a\n\r\n"],
      rest: "data",
    },
    {
      name: "knows CRLF and LF in one blank line",
      pieces: ["data: a\r\n\ndata"],
      blocks: ["data: a\r\n\n"],
      rest: "data",
    },
    {
      name: "does not take CRLF for two line ends",
      pieces: ["data: a\r\ndata: b\r\n"],
      blocks: [],
      rest: "data: a\r\ndata: b\r\n",
    },
    {
      name: "does not take CR and LF of two chunks for a blank line",
      pieces: ["data: a\r", "\ndata: b\n\n"],
      blocks: ["data: a\r\ndata: b\n\n"],
      rest: "",
    },
    { name: "gives an event without its blank line as rest", pieces: ["data: a"], blocks: [], rest: "data: a" },
  ]) {
    it(row.name, () => assert.deepEqual(blocksOf(row.pieces), { blocks: row.blocks, rest: row.rest }));
  }

  it("returns the very memory of a chunk that is whole events", () => {
    const chunk = Buffer.from("data: a\n\n");
    assert.equal(new EventSplitter(1_024).push(chunk), chunk);
  });

  it("says when an event exceeds the cap", () => {
    const splitter = new EventSplitter(8);
    splitter.push(Buffer.from("data: 12"));
    assert.equal(splitter.isOverflowing, false);
    splitter.push(Buffer.from("3"));
    assert.equal(splitter.isOverflowing, true);
  });

  it("loses, adds and reorders no byte, and ends every block with a blank line", () => {
    const text = fc
      .array(fc.constantFrom("d", "\n", "\r", "\r\n", "\n\n", "é"), { maxLength: 60 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 9 }), { maxLength: 60 }), (written, sizes) => {
        const bytes = Buffer.from(written);
        const splitter = new EventSplitter(1_024);
        const out: Buffer[] = [];
        let position = 0;
        for (const size of [...sizes, bytes.length]) {
          const block = splitter.push(Buffer.from(bytes.subarray(position, position + size)));
          position = Math.min(bytes.length, position + size);
          if (block === undefined) continue;
          assert.match(block.toString("latin1"), /(?:\n\n|\r\r|\n\r|\r\n\r\n|\r\n\n|\n\r\n|\r\r\n)$/);
          out.push(block);
        }
        const rest = splitter.takeRest();
        assert.equal(Buffer.concat([...out, ...(rest === undefined ? [] : [rest])]).toString(), written);
      }),
    );
  });
});

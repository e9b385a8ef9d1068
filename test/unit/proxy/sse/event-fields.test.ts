import assert from "node:assert/strict";
import { encodeEvent } from "#proxy/sse/encoder";
import { readEventFields, splitEvents } from "#proxy/sse/event-fields";

describe("readEventFields", () => {
  for (const row of [
    { name: "takes one space after the colon away", event: "data: a\n\n", data: "a" },
    { name: "reads data without a space", event: "data:a\n\n", data: "a" },
    { name: "keeps a second space", event: "data:  a\n\n", data: " a" },
    { name: "joins data lines", event: "data: a\ndata: b\r\ndata: c\r\r", data: "a\nb\nc" },
    { name: "reads the event's name", event: "event: error\ndata: {}\n\n", data: "{}", eventName: "error" },
    { name: "skips comments", event: ": ping\n\n" },
    { name: "skips a byte order mark", event: "\ufeffdata: a\n\n", data: "a" },
    { name: "reads a field without a colon as empty", event: "data\n\n", data: "" },
    { name: "keeps lines that are no field", event: '{\n"a": 1}\n\n', stray: '{\n"a": 1}' },
    { name: "ignores id and retry", event: "id: 1\nretry: 5\ndata: a\n\n", data: "a" },
  ]) {
    it(row.name, () =>
      assert.deepEqual(readEventFields(Buffer.from(row.event)), {
        name: row.eventName,
        data: row.data,
        stray: row.stray,
      }),
    );
  }
});

describe("splitEvents", () => {
  for (const row of [
    { name: "cuts at blank lines", block: "data: a\n\ndata: b\n\n", events: ["data: a\n\n", "data: b\n\n"] },
    {
      name: "knows all line ends",
      block: "a\r\n\r\nb\r\rc\n\r\nd\n\n",
      events: ["a\r\n\r\n", "b\r\r", "c\n\r\n", "d\n\n"],
    },
    {
      name: "keeps further blank lines with the event before",
      block: "a\n\n\n\nb\n\n",
      events: ["a\n\n\n\n", "b\n\n"],
    },
    { name: "keeps leading blank lines with the event behind", block: "\na\n\n", events: ["\na\n\n"] },
    { name: "keeps lines of one event together", block: "event: x\ndata: a\n\n", events: ["event: x\ndata: a\n\n"] },
  ]) {
    it(row.name, () => assert.deepEqual(splitEvents(Buffer.from(row.block)).map(String), row.events));
  }
});

describe("encodeEvent", () => {
  it("writes what readEventFields reads", () => {
    assert.deepEqual(readEventFields(encodeEvent("x", '{"a":1}')), { name: "x", data: '{"a":1}', stray: undefined });
    assert.equal(encodeEvent(undefined, "{}").toString(), "data: {}\n\n");
  });
});

import assert from "node:assert/strict";
import { RetainedEvents } from "#proxy/formats/stream/retained-events";

describe("RetainedEvents", () => {
  let visited: unknown[];
  let retained: RetainedEvents;

  beforeEach(() => {
    visited = [];
    retained = new RetainedEvents((event) => visited.push(event));
  });

  it("shows each event once, in order, and passes over what is no object", () => {
    retained.add(Buffer.from('data: {"a":1}\n\ndata: [DONE]\n\ndata: 7\n\n'));
    retained.add(Buffer.from('event: x\ndata:  {"a":2}\n\n: ping\n\n'));
    retained.read();
    retained.read();
    assert.deepEqual(visited, [{ a: 1 }, { a: 2 }]);
  });

  it("goes on behind a few broken events", () => {
    retained.add(Buffer.from('data: {"a":\n\ndata: {"a":1}\n\n'));
    retained.read();
    assert.deepEqual(visited, [{ a: 1 }]);
  });

  it("looks into no more of a stream that is rubbish, whatever comes", () => {
    for (let index = 0; index < 200; index += 1) retained.add(Buffer.from("data: {\n\n"));
    retained.read();
    retained.add(Buffer.from('data: {"a":1}\n\n'));
    retained.read();
    assert.deepEqual(visited, []);
  });
});

import assert from "node:assert/strict";
import { Readable } from "node:stream";
import fc from "fast-check";
import { ApiError } from "#operator/kubernetes/api/api-error";
import { type WatchEvent, watchEvents } from "#operator/kubernetes/watch/watch-events";

const added = (name: string) => ({
  type: "ADDED",
  object: { metadata: { name, resourceVersion: "7" }, note: "ä€😀\n" },
});
const bookmark = (annotations?: object) => ({
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: "9", ...(annotations && { annotations }) } },
});
const line = (value: unknown) => `${JSON.stringify(value)}\n`;

async function read(pieces: readonly (string | Buffer)[], idleMs = 5_000): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  const stream = Readable.from(
    pieces.map((piece) => Buffer.from(piece)),
    { objectMode: true },
  );
  for await (const event of watchEvents(stream, { idleMs })) events.push(event);
  return events;
}

describe("watch events", () => {
  it("are the same however the bytes are cut", async () => {
    const text = Buffer.from(line(added("a")) + line(bookmark()) + line(added("b")));
    const whole = await read([text]);
    assert.deepEqual(
      whole.map((event) => (event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.name)),
      ["a", "9", "b"],
    );
    for (let at = 0; at <= text.length; at += 1) {
      assert.deepEqual(await read([text.subarray(0, at), text.subarray(at)]), whole, `cut at ${at}`);
    }
    const cuts = fc.uniqueArray(fc.integer({ min: 0, max: text.length }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(cuts, async (offsets) => {
        const ends = [...offsets.sort((one, other) => one - other), text.length];
        const pieces = ends.map((end, index) => text.subarray(ends[index - 1] ?? 0, end));
        assert.deepEqual(await read(pieces), whole);
      }),
    );
  });

  it("tell the end of a streaming list from any other bookmark", async () => {
    const [plain, end] = await read([line(bookmark()), line(bookmark({ "k8s.io/initial-events-end": "true" }))]);
    assert.equal(plain?.type === "BOOKMARK" && plain.isInitialEnd, false);
    assert.equal(end?.type === "BOOKMARK" && end.isInitialEnd, true);
  });

  for (const row of [
    { name: "a line without its end", text: line(added("a")).trimEnd(), code: "unreadable" },
    { name: "half a line", text: '{"type":"ADDED","obj', code: "unreadable" },
    { name: "no JSON", text: "<html>\n", code: "unreadable" },
    { name: "an object without a name", text: line({ type: "ADDED", object: { metadata: {} } }), code: "unreadable" },
    {
      name: "an object without a version",
      text: line({ type: "ADDED", object: { metadata: { name: "a" } } }),
      code: "unreadable",
    },
    { name: "an unknown type", text: line({ type: "MOVED", object: {} }), code: "unreadable" },
    { name: "an array", text: "[]\n", code: "unreadable" },
    { name: "a line without an end in sight", text: "x".repeat(17 * 1024 * 1024), code: "unreadable" },
    {
      name: "an ERROR event",
      text: line({ type: "ERROR", object: { code: 410, reason: "Expired", message: "too old" } }),
      code: "refused",
    },
  ]) {
    it(`end with an error at ${row.name}, and what came before counts`, async () => {
      const seen: string[] = [];
      const stream = Readable.from([Buffer.from(line(added("first"))), Buffer.from(row.text)], { objectMode: true });
      const reading = (async () => {
        for await (const event of watchEvents(stream, { idleMs: 5_000 })) seen.push(event.type);
      })();
      await assert.rejects(reading, (error: unknown) => {
        assert.ok(error instanceof ApiError);
        assert.equal(error.code, row.code);
        assert.equal(error.isEvent, row.code === "refused");
        return true;
      });
      assert.deepEqual(seen, ["ADDED"]);
      assert.equal(stream.destroyed, true);
    });
  }

  it("never quote the bytes that could not be read: they may be a Secret", async () => {
    const reading = read(['{"type":"ADDED","object":{"data":"canary-0123456789"\n']);
    await assert.rejects(reading, (error: unknown) => error instanceof Error && !error.message.includes("canary"));
  });
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { CollectedReply } from "#proxy/upstream/reply/collected-reply";

/** Collects pieces out of one memory that is written over after each, as a connection does. */
function collect(reply: CollectedReply, pieces: readonly Buffer[]): void {
  const shared = Buffer.alloc(64);
  for (const piece of pieces) {
    piece.copy(shared);
    const own = reply.copy(shared.subarray(0, piece.length));
    shared.fill(0);
    if (reply.count(own)) reply.keep(own);
  }
}

const pieces = fc.array(
  fc.uint8Array({ minLength: 1, maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
  {
    maxLength: 12,
  },
);

describe("CollectedReply", () => {
  for (const row of [
    { name: "of a length that its head says", headers: (bytes: number) => ["Content-Length", String(bytes)] },
    { name: "of unknown length", headers: () => [] },
    {
      name: "that is encoded",
      headers: (bytes: number) => ["content-length", String(bytes), "content-encoding", "br"],
    },
    { name: "that is longer than its head says", headers: () => ["content-length", "70"] },
    { name: "that is shorter than its head says", headers: () => ["content-length", "100000"] },
    { name: "of a length that nobody believes", headers: () => ["content-length", "900000000000"] },
  ]) {
    it(`holds every byte of a body ${row.name}`, () => {
      fc.assert(
        fc.property(pieces, (cut) => {
          const whole = Buffer.concat(cut);
          const reply = CollectedReply.of(row.headers(whole.length), 1_000_000);
          collect(reply, cut);
          assert.deepEqual(reply.body(), whole);
          assert.equal(reply.bytes, whole.length);
        }),
      );
    });
  }

  it("copies a body of known length once: what it holds is what it gives", () => {
    const reply = CollectedReply.of(["content-length", "6"], 100);
    const first = reply.copy(Buffer.from("abc"));
    reply.keep(first);
    reply.keep(reply.copy(Buffer.from("def")));
    const body = reply.body();
    assert.equal(body.toString(), "abcdef");
    assert.equal(body.buffer, first.buffer);
  });

  it("keeps no more than it may", () => {
    const reply = CollectedReply.of(["content-length", "6"], 4);
    assert.equal(reply.count(reply.copy(Buffer.from("abc"))), true);
    assert.equal(reply.count(reply.copy(Buffer.from("def"))), false);
    assert.equal(reply.isOversized, true);
  });

  it("gives nothing once it was told to forget", () => {
    const reply = CollectedReply.of(["content-length", "6"], 100);
    reply.keep(reply.copy(Buffer.from("abc")));
    reply.forget();
    assert.equal(reply.body().length, 0);
  });
});

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { Pool } from "undici";
import { nothingProduced } from "#proxy/formats/stream/produced";
import { InFlightBytes } from "#proxy/http/in-flight-bytes";
import { defaultLimits } from "#proxy/limits";
import type { AttemptOptions } from "#proxy/upstream/attempt-options";
import { RepeatedAttempt } from "#proxy/upstream/repeated-attempt";
import type { PartedReply, ReplyReader } from "#proxy/upstream/reply/reply-reader";
import { attemptOptions } from "#test/support/attempt-options";
import { FakeUpstream } from "#test/support/fake-upstream";
import { waitFor, within } from "#test/support/wait-for";

/** Joins texts, and notes which of them it read and missed. */
class Texts implements PartedReply {
  readonly read: string[] = [];
  readonly missed: number[] = [];

  readPart(_: number, body: Buffer) {
    const text = body.toString();
    if (text === "bug") throw new TypeError("a bug of the reader");
    this.read.push(text);
    return this.reading();
  }

  missPart(position: number): void {
    this.missed.push(position);
  }

  reading() {
    return { usage: undefined, error: undefined, produced: () => nothingProduced };
  }

  translate() {
    return { body: Buffer.from(this.read.join("")), lost: [] };
  }

  stream() {
    return [Buffer.from(this.read.join(""))];
  }
}

const wholeReader: ReplyReader = {
  contentType: "application/json",
  isBridged: true,
  readReply: () => assert.fail("each reply is a part"),
  bridge: () => assert.fail("each reply is a part"),
};

describe("RepeatedAttempt", () => {
  let upstream: FakeUpstream;
  let pool: Pool;

  beforeEach(async () => {
    upstream = await FakeUpstream.start();
    pool = new Pool(upstream.origin);
  });
  afterEach(async () => {
    await pool.destroy();
    await upstream.close();
  });

  function attemptOf(count: number, reply: PartedReply, changes: Partial<AttemptOptions> = {}): RepeatedAttempt {
    const options = { ...attemptOptions(upstream.origin, pool, wholeReader), ...changes };
    const further = Array(count - 1).fill(options.request);
    return new RepeatedAttempt(options, { further, atOnceMax: 4, reply });
  }

  it("reads each part once, and holds what is counted until it is released", async () => {
    upstream.replyWith((_, index) => ({ body: String(index).repeat(200_000) }));
    const inFlightBytes = new InFlightBytes(defaultLimits.inFlightBytesMax);
    let sent = 0;
    const texts = new Texts();
    const attempt = attemptOf(5, texts, { inFlightBytes, onRequest: () => void (sent += 1) });
    const outcome = await within(10_000, "the outcome", attempt.run());
    assert.equal(outcome.kind, "reply");
    assert.deepEqual([texts.read.length, sent, texts.missed], [5, 5, []]);
    // Its parts and the response, of which 128 KiB are free.
    assert.equal(inFlightBytes.bytes, 2 * 5 * 200_000 - 128 * 1024);
    attempt.release();
    assert.equal(inFlightBytes.bytes, 0);
  });

  it("ends where there is no room for its parts, and keeps none", async () => {
    upstream.replyWith({ body: "x".repeat(200_000) });
    const inFlightBytes = new InFlightBytes(500_000);
    const texts = new Texts();
    const attempt = attemptOf(20, texts, { inFlightBytes });
    const outcome = await within(10_000, "the outcome", attempt.run());
    assert.ok(outcome.kind === "stopped" && outcome.reason === "overloaded" && outcome.isSent);
    assert.ok(upstream.requests.length < 20);
    attempt.release();
    assert.equal(inFlightBytes.bytes, 0);
  });

  it("aborts the others when a bug meets one part", async () => {
    upstream.replyWith((_, index) =>
      index === 0 ? { body: "a" } : index === 3 ? { body: "bug" } : { body: "never", stallAt: 1 },
    );
    await assert.rejects(within(4_000, "the end", attemptOf(9, new Texts()).run()), { name: "TypeError" });
    await waitFor("the others' end", () =>
      upstream.requests.every((each) => (each.abortedAtMs ?? each.finishedAtMs) !== undefined),
    );
    assert.ok(upstream.requests.length <= 5);
  });

  it("tells which requests were under way when it was stopped", async () => {
    upstream.replyWith((_, index) => (index < 2 ? { body: "a" } : { body: "never", stallAt: 1 }));
    const texts = new Texts();
    const attempt = attemptOf(9, texts);
    const outcome = attempt.run();
    await waitFor("all that run", () => upstream.requests.length === 6);
    attempt.stop("client-left");
    const { kind } = await within(4_000, "the end", outcome);
    assert.equal(kind, "stopped");
    assert.deepEqual([texts.read.length, texts.missed.toSorted()], [2, [2, 3, 4, 5]]);
  });
});

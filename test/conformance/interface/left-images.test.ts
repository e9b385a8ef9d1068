/** What a call for pictures costs whose client leaves before they are there: what its upstream had been asked for. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import { content } from "#test/support/conformance/google-pictures";
import {
  completedEvent,
  eventStream,
  type ImageRig,
  imagesReply,
  leaveCall,
  partialEvent,
  startImageRig,
} from "#test/support/conformance/image-rig";
import { waitFor, within } from "#test/support/wait-for";

const path = "/v1/images/generations";

describe("pictures whose client leaves", () => {
  let rig: ImageRig;

  before(async () => {
    rig = await startImageRig();
  });
  afterEach(() => {
    rig.google.forget();
    rig.upstream.forget();
  });
  after(() => rig?.close());

  // Nobody knows the size, so the pictures of `painter` cost the dearest entry.
  const asked = { prompt: "a cat", n: 2 };
  const whole = { body: imagesReply(2), stallAt: 20 };
  const events = partialEvent(0) + completedEvent();
  for (const row of [
    { name: "all that was asked for", call: { ...asked, model: "painter" }, reply: whole, cost: 1_000_000_000n },
    {
      name: "all that was asked for, where nothing has been streamed",
      call: { ...asked, model: "painter", stream: true },
      reply: { headers: eventStream, body: events, stallAt: 10 },
      cost: 1_000_000_000n,
    },
    {
      name: "the picture that was begun",
      isHeard: true,
      call: { ...asked, model: "painter", stream: true },
      reply: { headers: eventStream, body: events, stallAt: partialEvent(0).length },
      cost: 250_000_000n,
    },
    {
      name: "the tokens of all that was asked for",
      call: { ...asked, model: "by-picture-token", size: "1024x1024", quality: "low", partial_images: 1 },
      reply: whole,
      cost: 2n * (272n + 100n) * 10_000n,
    },
  ]) {
    it(`closes the upstream when the client leaves, and charges ${row.name}`, async () => {
      rig.upstream.replyWith(row.reply);
      const calls = rig.gateway.records.length;
      await leaveCall(rig, path, row.call, async (heard) => {
        await waitFor("the call upstream", () => rig.upstream.requests[0]);
        if (row.isHeard === true) await within(5_000, "the first event", heard);
      });
      await waitFor("the upstream's end", () => rig.upstream.requests[0]?.abortedAtMs);
      const record = await waitFor("the record", () => rig.gateway.records[calls]);
      assert.deepEqual([record.costNanos, record.isEstimated], [row.cost, true]);
    });
  }

  it("calls Google no more, and charges what was made and what was under way", async () => {
    rig.google.replyWith((_, index) =>
      index < 2 ? { body: content("cGlj") } : { body: content("cGlj"), stallAt: 10 },
    );
    const calls = rig.gateway.records.length;
    await leaveCall(rig, path, { model: "nano-image", prompt: "a cat", n: 20, size: "1024x1024" }, () =>
      waitFor("all that run", () => rig.google.requests[5] ?? rig.google.requests[4]),
    );
    const record = await waitFor("the record", () => rig.gateway.records[calls]);
    const sent = rig.google.requests.length;
    assert.deepEqual([record.costNanos, record.isEstimated], [BigInt(sent) * 125_000_000n, true]);
    await waitFor("the upstream's end", () =>
      rig.google.requests.every((each) => (each.abortedAtMs ?? each.finishedAtMs) !== undefined) ? true : undefined,
    );
    assert.ok(rig.google.requests.length <= 6);
  });

  for (const n of [1, 3]) {
    it(`charges the tokens of Google's first picture of ${n}, while it is made`, async () => {
      rig.google.replyWith({ body: content("cGlj"), stallAt: 10 });
      const calls = rig.gateway.records.length;
      const body = { model: "nano-by-picture-token", prompt: "a cat", n, quality: "low", size: "1024x1024" };
      await leaveCall(rig, path, body, () => waitFor("the request", () => rig.google.requests[0]));
      const record = await waitFor("the record", () => rig.gateway.records[calls]);
      assert.deepEqual([record.costNanos, record.isEstimated], [1_290n * 10_000n, true]);
    });
  }
});

import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { audioBytesPerSecond, audioTokens, ConversationSize } from "#proxy/endpoints/realtime/usage/conversation-size";
import { type MessageSize, nothingAdded } from "#proxy/endpoints/realtime/usage/message-size";
import { zeroUsage } from "#proxy/settle/usage";
import type { Fleet } from "#proxy/snapshot/types.gen";
import { wireRoute } from "#test/support/wire-objects";

const fleet: Fleet = {
  kind: "fleet",
  name: "fleet",
  requireAccount: false,
  unboundedOutput: "Reserve",
  inputEstimate: "Estimate",
  defaultOutputReserve: 4_096,
  revocation: "Finish",
  egressAllowCIDRs: [],
};

/** Base64 text of so many seconds. */
const spoken = (seconds: number, bytesPerSecond: number): number => (seconds * bytesPerSecond * 4) / 3;

describe("the size of a conversation", () => {
  for (const [format, bytes] of [
    ["audio/pcm", 48_000],
    ["pcm16", 48_000],
    ["audio/pcmu", 8_000],
    ["audio/pcma", 8_000],
    ["g711_ulaw", 8_000],
    [undefined, 48_000],
  ] as const) {
    it(`counts ${format}: 10 tokens for a second that is heard, 20 for one that is said`, () => {
      const rate = audioBytesPerSecond(format);
      assert.equal(rate, bytes);
      assert.equal(audioTokens(spoken(3, rate), rate, false), 30);
      assert.equal(audioTokens(spoken(3, rate), rate, true), 60);
    });
  }

  const priced = wireRoute("talk", {
    price: { input: "1000000", output: "2000000", audioInput: "10000000", audioOutput: "20000000" },
  });

  const text = (textBytes: number): MessageSize => ({ ...nothingAdded, textBytes });
  const said = { ...zeroUsage, input: 100, cacheRead: 20, audioInput: 50, output: 10, audioOutput: 40 };

  it("reserves what was added, and the output that its dearest kind costs", () => {
    const size = new ConversationSize();
    size.add(text(300));
    size.addAudio(spoken(5, 48_000));
    size.add({ ...nothingAdded, images: 2 });
    const amounts = size.estimate(100, priced, fleet);
    assert.deepEqual([amounts.inputTokens, amounts.outputTokens, amounts.requests], [116n + 50n + 3_200n, 100n, 1n]);
    assert.equal(amounts.costNanos, 116n * 1_000n + 50n * 10_000n + 3_200n * 1_000n + 100n * 20_000n);
  });

  it("goes on from the upstream's own numbers after a response", () => {
    const size = new ConversationSize();
    size.add(text(30_000));
    size.updateSession(new Map([["instructions", 3_000]]));
    size.responded(said, size.mark());
    assert.deepEqual(size.input(false), { ...zeroUsage, input: 130 + 16, audioInput: 90 });
  });

  it("keeps what came while the response ran: it did not read it", () => {
    const size = new ConversationSize();
    size.add(text(30_000));
    const mark = size.mark();
    size.add(text(300));
    size.addAudio(spoken(5, 48_000));
    size.add({ ...nothingAdded, images: 1 });
    size.responded(said, mark);
    assert.deepEqual(size.input(false), { ...zeroUsage, input: 130 + 16 + 100, audioInput: 140, imageInput: 1_600 });
  });

  it("replaces of a session what an update names, and keeps the rest", () => {
    const size = new ConversationSize();
    size.updateSession(new Map([["instructions", 3_000]]));
    size.updateSession(new Map([["tools", 600]]));
    assert.equal(size.input(false).input, 1_200 + 16);
    size.updateSession(new Map([["instructions", 300]]));
    assert.equal(size.input(false).input, 300 + 16);
  });

  it("counts for a response what it alone reads, and forgets it", () => {
    const size = new ConversationSize();
    assert.equal(size.input(false, text(300)).input, 116);
    assert.equal(size.input(false).input, 16);
  });

  it("reserves the smaller of the model's most and the default where nothing is capped", () => {
    const size = new ConversationSize();
    assert.equal(size.estimate(undefined, priced, fleet).outputTokens, 4_096n);
    const small = wireRoute("talk", { info: { maxOutputTokens: 1_000 } });
    assert.equal(size.estimate(undefined, small, fleet).outputTokens, 1_000n);
  });

  it("gives a transcription the audio since the one before it", () => {
    const size = new ConversationSize();
    size.addAudio(spoken(2, 48_000));
    assert.equal(size.takeAudioTokens(), 20);
    assert.equal(size.takeAudioTokens(), 0);
    assert.equal(size.input(false).audioInput, 20);
  });
});

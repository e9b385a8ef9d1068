/** What our reader of frames takes for a message, `ws` takes for the same, wherever the bytes are cut. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { FrameReader } from "#proxy/web-socket/frame-reader";
import { type FrameOptions, frame } from "#test/support/realtime/raw-frames";
import { type ReaderOptions, readByWs, type Told } from "#test/support/realtime/ws-receiver";

const messageBytesMax = 2_000;

function read(chunks: readonly Buffer[], { isServer, messageBytesMax: most }: ReaderOptions): Told {
  const told: string[] = [];
  const reader = new FrameReader(
    { isMasked: isServer, messageBytesMax: most },
    {
      onMessage: (payload, _frame, isBinary) =>
        told.push(`${isBinary ? "binary" : "text"} ${payload.toString("latin1")}`),
      onPing: (payload) => told.push(`ping ${payload.toString("latin1")}`),
      onClose: (code, reason) => told.push(`close ${code} ${reason}`),
      onViolation: (code) => told.push(`violation ${code}`),
    },
  );
  for (const chunk of chunks) reader.push(chunk);
  return told;
}

function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...places].map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  return [...sorted, bytes.length].map((end, index) => bytes.subarray(sorted[index - 1] ?? 0, end));
}

const payloads = fc.oneof(
  fc
    .constantFrom("", '{"type":"a"}', "é", "x".repeat(125), "x".repeat(126), "x".repeat(1_990), "x".repeat(2_001))
    .map((text) => Buffer.from(text)),
  fc
    .constantFrom([0xff], [0xe2, 0x82], [0xac], [3], [3, 0xe8], [3, 0xed], [3, 0xe8, 0xff], [0x0f, 0xa0, 0x61])
    .map((bytes) => Buffer.from(bytes)),
);
const often = <Value>(usual: Value, ...rare: Value[]): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(usual, ...rare) });

interface Sent {
  readonly payload: Buffer;
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly reserved: number;
  readonly hasRightMask: boolean;
  readonly lies: bigint;
}

const frames = fc.array(
  fc.record<Sent>({
    payload: payloads,
    opcode: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(1, 0) },
      { weight: 2, arbitrary: fc.constantFrom(2, 8, 9, 10) },
      { weight: 1, arbitrary: fc.nat(15) },
    ),
    isFinal: fc.boolean(),
    reserved: often(0, 1, 2, 4),
    hasRightMask: often(true, false),
    lies: often(0n, 1n, 5n, 2n ** 32n, 2n ** 53n, 2n ** 63n),
  }),
  { minLength: 1, maxLength: 6 },
);

function bytesOf(sent: readonly Sent[], isServer: boolean): Buffer {
  return Buffer.concat(
    sent.map(({ payload, opcode, isFinal, reserved, hasRightMask, lies }) => {
      const options: FrameOptions = { opcode, isFinal, reserved, isMasked: hasRightMask === isServer };
      return frame(payload, lies === 0n ? options : { ...options, declared: BigInt(payload.length) + lies });
    }),
  );
}

describe("FrameReader", function () {
  this.timeout(60_000);

  for (const isServer of [true, false])
    it(`reads what a ${isServer ? "client" : "server"} sends as ws does, at every cut`, async () => {
      const options = { isServer, messageBytesMax };
      await fc.assert(
        fc.asyncProperty(frames, fc.array(fc.nat(), { maxLength: 5 }), async (sent, places) => {
          const bytes = bytesOf(sent, isServer);
          const wanted = await readByWs([bytes], options);
          assert.deepEqual(read([bytes], options), wanted, "whole");
          assert.deepEqual(read(cutAt(bytes, places), options), wanted, "cut");
          const single = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
          assert.deepEqual(read(single, options), wanted, "byte for byte");
        }),
        { numRuns: 400 },
      );
    });

  it("hands on the bytes of a message that came in one frame, and of no other", () => {
    const whole = frame('{"type":"a"}');
    const [first, last] = [frame("{", { isFinal: false }), frame("}", { opcode: 0 })];
    const bytes = Buffer.concat([whole, frame("", { opcode: 9 }), first, last, whole]);
    for (const chunks of [[bytes], cutAt(bytes, [3, 30])]) {
      const told: (Buffer | undefined)[] = [];
      const reader = new FrameReader(
        { isMasked: true, messageBytesMax },
        {
          onMessage: (_payload, own) => told.push(own),
          onPing: () => undefined,
          onClose: () => undefined,
          onViolation: () => assert.fail("a violation"),
        },
      );
      for (const chunk of chunks) reader.push(chunk);
      assert.deepEqual(told, [whole, undefined, whole]);
      assert.equal(reader.heldBytes, 0);
    }
  });

  it("holds what has come, and nothing of what a length promises", () => {
    const reader = new FrameReader(
      { isMasked: true, messageBytesMax: 1024 ** 3 },
      {
        onMessage: () => undefined,
        onPing: () => undefined,
        onClose: () => undefined,
        onViolation: () => assert.fail("a violation"),
      },
    );
    const before = process.memoryUsage().arrayBuffers;
    reader.push(frame("x", { declared: 1024n ** 3n }));
    assert.equal(reader.heldBytes, frame("x", { declared: 1024n ** 3n }).length);
    assert.ok(process.memoryUsage().arrayBuffers - before < 1024 ** 2);
  });
});

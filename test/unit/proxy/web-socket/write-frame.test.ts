/** Frames that we write are read by `ws` as what they are. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { opcodes } from "#proxy/web-socket/opcodes";
import { writeClose, writeFrame } from "#proxy/web-socket/write-frame";
import { readByWs } from "#test/support/realtime/ws-receiver";

const messageBytesMax = 100_000;

describe("writeFrame()", () => {
  for (const isMasked of [true, false])
    for (const length of [0, 1, 125, 126, 65_535, 65_536])
      it(`writes ${length} bytes ${isMasked ? "with" : "without"} a mask, as bytes and as text`, async () => {
        const text = "é".repeat(length >> 1) + "x".repeat(length & 1);
        const options = { isServer: isMasked, messageBytesMax };
        for (const payload of [text, Buffer.from(text)]) {
          const told = await readByWs([writeFrame(opcodes.text, payload, isMasked)], options);
          assert.deepEqual(told, [`text ${Buffer.from(text).toString("latin1")}`]);
        }
      });

  it("masks each frame by bytes of its own", () => {
    const masks = Array.from({ length: 20 }, () => writeFrame(opcodes.text, "a", true).subarray(2, 6).toString("hex"));
    assert.equal(new Set(masks).size, masks.length);
  });
});

describe("writeClose()", () => {
  for (const [name, code, reason, told] of [
    ["a code and a reason", 4123, "enough", "close 4123 enough"],
    ["no code", undefined, "", "close 1005 "],
    ["a reason that is too long, cut between two letters", 1000, "é".repeat(100), `close 1000 ${"é".repeat(61)}`],
  ] as const)
    it(`says ${name}`, async () => {
      const options = { isServer: false, messageBytesMax };
      assert.deepEqual(await readByWs([writeClose(code, reason, false)], options), [told]);
    });
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { SoundEventFilter } from "#proxy/endpoints/speech/sound-event-filter";
import { SoundFilter } from "#proxy/endpoints/speech/sound-filter";
import { asBytes, asEvents, SoundMeter } from "#proxy/endpoints/speech/sound-stream";
import type { StreamFilter } from "#proxy/formats/format";
import { wavOf } from "#test/support/sounds";

const eventBytesMax = 1024 * 1024;
const usage = { input_tokens: 3, output_tokens: 5, total_tokens: 8 };

/** What passes of bytes that arrive in pieces of these lengths. */
function passed(filter: StreamFilter, bytes: Buffer, lengths: readonly number[]): Buffer {
  const out: Buffer[] = [];
  let at = 0;
  for (const length of lengths) {
    out.push(...filter.push(bytes.subarray(at, at + length)));
    at += length;
  }
  out.push(...filter.push(bytes.subarray(at)), ...filter.end());
  return Buffer.concat(out);
}

function eventsOf(pieces: readonly Buffer[]): Buffer {
  const deltas = pieces.map((piece) => ({ type: "speech.audio.delta", audio: piece.toString("base64") }));
  const events = [...deltas, { type: "speech.audio.done", usage }];
  return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
}

function unwrapped(stream: Buffer): Buffer {
  const data = stream
    .toString()
    .split("\n")
    .filter((line) => line.startsWith("data: "));
  return Buffer.concat(data.map((line) => Buffer.from(JSON.parse(line.slice(6)).audio ?? "", "base64")));
}

const sound = fc
  .uint8Array({ minLength: 40, maxLength: 400 })
  .map((bytes) => Buffer.concat([Buffer.from("RIFF\0"), bytes]));
const lengths = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 12 });

describe("filters of sound", () => {
  it("pass bytes as they are, in whatever pieces they come", () => {
    fc.assert(
      fc.property(sound, lengths, (bytes, cuts) => {
        const filter = new SoundFilter(asBytes, new SoundMeter(true));
        assert.ok(passed(filter, bytes, cuts).equals(bytes));
        assert.deepEqual([filter.isComplete, filter.violation, filter.soundBytes], [true, undefined, bytes.length]);
      }),
    );
  });

  it("wrap bytes in events, and unwrap them, in whatever pieces they come", () => {
    fc.assert(
      fc.property(sound, lengths, lengths, (bytes, cuts, otherCuts) => {
        const wrapping = new SoundFilter(asEvents, new SoundMeter(false));
        const events = passed(wrapping, bytes, cuts);
        assert.ok(unwrapped(events).equals(bytes));
        const reading = { eventBytesMax, isUnwrapped: true, isMeasured: false };
        const unwrapping = new SoundEventFilter(new SoundMeter(false), reading);
        assert.ok(passed(unwrapping, events, otherCuts).equals(bytes));
        assert.equal(unwrapping.isComplete, true);
      }),
    );
  });

  it("pass events as they are, with their usage and the sound in them", () => {
    fc.assert(
      fc.property(sound, fc.nat(39), lengths, fc.boolean(), (bytes, cut, cuts, isMeasured) => {
        const events = eventsOf([bytes.subarray(0, cut), bytes.subarray(cut)]);
        const filter = new SoundEventFilter(new SoundMeter(true), { eventBytesMax, isUnwrapped: false, isMeasured });
        assert.ok(passed(filter, events, cuts).equals(events));
        assert.deepEqual([filter.isComplete, filter.usage?.input, filter.usage?.audioOutput], [true, 3, 5]);
        if (isMeasured) assert.equal(filter.soundBytes, bytes.length);
        else assert.ok(filter.soundBytes >= bytes.length && filter.soundBytes <= bytes.length + 200);
      }),
    );
  });

  it("let no text pass as sound, and call nothing whole that has not ended or not begun", () => {
    for (const text of ['{"error":{"message":"no"}}', "<html><body>no</body>", "Internal Server Error", "short"]) {
      const filter = new SoundFilter(asBytes, new SoundMeter(false));
      assert.equal(passed(filter, Buffer.from(text), [1, 2, 3]).length, 0);
      assert.deepEqual([filter.isComplete, typeof filter.violation], [false, "string"]);
    }
    const open = new SoundFilter(asBytes, new SoundMeter(false));
    open.push(Buffer.alloc(100));
    assert.equal(open.isComplete, false);
    const empty = new SoundFilter(asEvents, new SoundMeter(false));
    assert.deepEqual([empty.end(), empty.isComplete], [[], false]);
    const cut = new SoundEventFilter(new SoundMeter(false), { eventBytesMax, isUnwrapped: true, isMeasured: false });
    cut.push(eventsOf([Buffer.alloc(9)]).subarray(0, 40));
    cut.end();
    assert.equal(cut.isComplete, false);
  });

  it("measure a sound and keep nothing of it, and only count it where nobody asks", () => {
    const file = wavOf(2);
    const meter = new SoundMeter(true);
    for (let at = 0; at < file.length; at += 1_000) meter.add(file.subarray(at, at + 1_000));
    assert.deepEqual([meter.heldBytes, meter.bytes, meter.measured()], [0, file.length, 2_000]);
    const careless = new SoundMeter(false);
    careless.add(file);
    careless.addUnseen(100);
    assert.deepEqual([careless.bytes, careless.measured()], [file.length + 100, undefined]);
  });
});

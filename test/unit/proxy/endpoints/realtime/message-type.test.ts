import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { plainAudioLength, typeAtStart } from "#proxy/endpoints/realtime/messages/message-type";

describe("typeAtStart", () => {
  for (const [text, type] of [
    ['{"type":"response.done","a":1}', "response.done"],
    ['{"type": "response.done"}', "response.done"],
    ['{ "type":"response.done"}', undefined],
    ['{"event_id":"1","type":"response.done"}', undefined],
    ['{"type":"response\\u002edone"}', undefined],
    [`{"type":"${"x".repeat(101)}"}`, undefined],
    ['{"type":"never ended', undefined],
    ['{"type":', undefined],
    ["", undefined],
  ] as const) {
    it(`reads ${type ?? "nothing"} of ${text.slice(0, 40)}`, () => assert.equal(typeAtStart(Buffer.from(text)), type));
  }

  it("reads what a parser reads of every event that begins with its type", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z._]{1,60}$/), fc.jsonValue(), (type, data) => {
        assert.equal(typeAtStart(Buffer.from(JSON.stringify({ type, data }))), type);
      }),
    );
  });
});

describe("plainAudioLength", () => {
  const append = "input_audio_buffer.append";
  for (const [text, length] of [
    [`{"type":"${append}","audio":"AAAA"}`, 4],
    [`{"type": "${append}", "audio": "AAAA"}`, 4],
    [`{"type":"${append}","audio":""}`, 0],
    [`{"audio":"AAAA","type":"${append}"}`, undefined],
    [`{"type":"${append}","audio":"AAAA","event_id":"1"}`, undefined],
    [`{"type":"${append}","audio":"AAAA","type":"response.create"}`, undefined],
    [`{"type":"${append}","audio":"AA\\u0041A"}`, undefined],
    [`{"type":"${append}","audio":"AAAA"} `, undefined],
    [`{"type":"${append}","audio":"}`, undefined],
    [`{"type":"${append}","audio":null}`, undefined],
    ['{"type":"response.create"}', undefined],
    ["", undefined],
  ] as const) {
    it(`${length === undefined ? "leaves to the scanner" : "recognises"} ${text.slice(0, 80)}`, () =>
      assert.equal(plainAudioLength(Buffer.from(text)), length));
  }

  it("never takes a message that a parser reads as another one", () => {
    const piece = fc.constantFrom('"', "\\", ",", "type", "audio", ":", "AAAA", "}", "{", append, "response.create");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const text = `{"type":"${append}","audio":"${pieces.join("")}"}`;
        const length = plainAudioLength(Buffer.from(text));
        if (length === undefined) return;
        const parsed: unknown = JSON.parse(text);
        assert.deepEqual(parsed, { type: append, audio: pieces.join("") });
        assert.equal(length, pieces.join("").length);
      }),
      { numRuns: 2_000 },
    );
  });
});

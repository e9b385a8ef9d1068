import assert from "node:assert/strict";
import { readSignature } from "#proxy/formats/generate-content/translate/thought-signature";
import type { ReplyEvent } from "#proxy/neutral/reply";
import { callPart, end, start, stopped, textPart } from "#test/support/translation/reply-events";
import { contextOf, framesOf, streamOf, unseal } from "#test/unit/proxy/formats/generate-content/translate/replay";

describe("the stream writer of generateContent: state of other providers", () => {
  const thinking = { kind: "thinking", text: "T", signature: "SIG" } as const;
  const redacted = { kind: "redacted-thinking", data: "R" } as const;
  const state = (part: number, of: typeof thinking | typeof redacted): ReplyEvent => ({
    type: "state",
    candidate: 0,
    part,
    state: of,
  });
  const reasoning = textPart(0, "T", "reasoning");
  const thought = [...reasoning.slice(0, 2), state(0, thinking), ...reasoning.slice(2)];
  const sealedIn = (part: unknown): unknown => {
    const [carried] = readSignature(Object(part)["thoughtSignature"]);
    return carried?.type === "sealed" ? unseal(carried.envelope) : carried;
  };

  it("goes onto the first call that follows", () => {
    const events = [start, ...thought, ...callPart(1, "a", "f"), ...callPart(2, "b", "g"), stopped, end];
    const parts = framesOf(streamOf(events, contextOf())).map((one) => Object(one["candidates"])[0].content.parts[0]);
    assert.deepEqual(parts.map(sealedIn), [[thinking], undefined, undefined]);
  });

  it("pitfall 129: goes onto an empty text at the end, never onto text", () => {
    const at = { candidate: 0, part: 2 };
    const hidden: ReplyEvent[] = [
      { type: "open", ...at, block: { kind: "reasoning" } },
      state(2, redacted),
      { type: "close", ...at },
    ];
    const events = [start, ...thought, ...textPart(1, "Hi"), ...hidden, stopped, end];
    const parts = framesOf(streamOf(events, contextOf())).map((one) => Object(one["candidates"])[0].content.parts[0]);
    assert.deepEqual(
      parts.map(({ text }) => text),
      ["Hi", ""],
    );
    assert.deepEqual(parts.map(sealedIn), [undefined, [thinking, redacted]]);
  });

  it("is base64, as clients decode it", () => {
    const [first] = framesOf(streamOf([start, ...thought, ...callPart(1, "a", "f"), stopped, end], contextOf()));
    const signature = Object(first)["candidates"][0].content.parts[0].thoughtSignature;
    assert.match(signature, /^dGcxL[A-Za-z0-9+/]+={0,2}$/);
  });
});

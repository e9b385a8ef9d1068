import assert from "node:assert/strict";
import fc from "fast-check";
import { generateContentUpstreamTranslator } from "#proxy/formats/generate-content/translate/upstream-translator";
import { InvalidReply, type ReplyEvent } from "#proxy/neutral/reply";
import { readFrames } from "#test/unit/proxy/formats/generate-content/translate/replay";

const stop = { candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }] };

describe("the stream reader of generateContent: what is no reply", () => {
  for (const row of [
    { name: "text that is no JSON", data: "{" },
    { name: "a list", data: "[]" },
    { name: "a candidate from nowhere", data: '{"candidates":[{"index":-1}]}' },
    { name: "a candidate beyond all others", data: '{"candidates":[{"index":1e9}]}' },
    {
      name: "a call without a name",
      data: '{"candidates":[{"content":{"parts":[{"functionCall":{"args":{"a":1}}}]}}]}',
    },
    {
      name: "arguments that are a text",
      data: '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":"x"}}]}}]}',
    },
    {
      name: "a file without data",
      data: '{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png"}}]}}]}',
    },
  ]) {
    it(`refuses ${row.name}`, () => {
      assert.throws(
        () => generateContentUpstreamTranslator.createStreamReader().read({ name: undefined, data: row.data }),
        InvalidReply,
      );
    });
  }

  it("leaves other formats' terminator out", () => {
    assert.deepEqual(
      generateContentUpstreamTranslator.createStreamReader().read({ name: undefined, data: "[DONE]" }),
      [],
    );
  });

  it("never throws anything else, and tells a legal story of every JSON", () => {
    const names = fc.constantFrom(
      ...[
        "candidates",
        "content",
        "parts",
        "text",
        "thought",
        "thoughtSignature",
        "functionCall",
        "name",
        "args",
        "partialArgs",
      ],
      ...[
        "jsonPath",
        "stringValue",
        "willContinue",
        "inlineData",
        "data",
        "finishReason",
        "usageMetadata",
        "promptFeedback",
      ],
      ...[
        "blockReason",
        "groundingMetadata",
        "groundingChunks",
        "web",
        "uri",
        "index",
        "executableCode",
        "logprobsResult",
      ],
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 7 },
        fc.constantFrom<unknown>("STOP", "x", "$.a", "", 0, 1, true, null),
        fc.dictionary(names, tie("value"), { maxKeys: 5, noNullPrototype: false }),
        fc.array(tie("value"), { maxLength: 3 }),
      ),
    }));
    const part = fc.oneof(
      fc.dictionary(names, value, { maxKeys: 3, noNullPrototype: false }),
      fc.record(
        { text: fc.string(), thought: fc.boolean(), thoughtSignature: fc.constantFrom("", "S") },
        { requiredKeys: ["text"] },
      ),
      fc.record({ functionCall: fc.record({ name: fc.constantFrom("f", "g"), willContinue: fc.boolean() }) }),
    );
    const candidate = fc.record(
      {
        content: fc.record({ parts: fc.array(part, { maxLength: 4 }) }),
        finishReason: fc.constantFrom("STOP", "MAX_TOKENS"),
        index: fc.constantFrom(0, 1),
      },
      { requiredKeys: ["content"] },
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(value, fc.record({ candidates: fc.array(candidate, { maxLength: 2 }) })), { maxLength: 5 }),
        (frames) => {
          try {
            assertLegal(readFrames([...frames, stop]));
          } catch (error) {
            if (!(error instanceof InvalidReply)) throw error;
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

/** The promises of `reply.ts`. */
function assertLegal(events: readonly ReplyEvent[]): void {
  assert.equal(events[0]?.type, "start");
  assert.equal(events.at(-1)?.type, "end");
  const open = new Map<string, string>();
  const counts = new Map<number, number>();
  const finished = new Set<number>();
  for (const event of events.slice(1, -1)) {
    if (event.type === "usage") continue;
    assert.ok("candidate" in event && !finished.has(event.candidate), "a candidate goes on behind its finish");
    if (event.type === "finish") {
      assert.ok(![...open.keys()].some((key) => key.startsWith(`${event.candidate}/`)), "a part is open at the finish");
      finished.add(event.candidate);
      continue;
    }
    const key = `${event.candidate}/${event.part}`;
    if (event.type === "open") {
      assert.equal(event.part, counts.get(event.candidate) ?? 0);
      counts.set(event.candidate, event.part + 1);
      open.set(key, "");
    } else assert.ok(open.has(key), `${event.type} of a part that is not open`);
    if (event.type === "delta") assert.notEqual(event.text, "");
    if (event.type === "close") open.delete(key);
  }
  assert.equal(open.size, 0);
}

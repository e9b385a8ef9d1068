import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { generateContentClientTranslator } from "#proxy/formats/generate-content/translate/client-translator";
import type { Conversation } from "#proxy/neutral/conversation";
import type { ReplyEvent } from "#proxy/neutral/reply";
import { zeroUsage } from "#proxy/settle/usage";
import { checkGrammar } from "#test/support/digest/grammar";
import { callPart, end, start, stopped, textPart } from "#test/support/translation/reply-events";
import { contextOf, framesOf, streamOf } from "#test/unit/proxy/formats/generate-content/translate/replay";

const shown: Partial<Conversation> = { reasoning: { mode: "on", show: true } };

const usage = { ...zeroUsage, input: 10, cacheRead: 90, cacheWrite: 5, output: 17, reasoning: 20 };

function frame(...parts: readonly unknown[]): unknown {
  return { candidates: [{ content: { role: "model", parts }, index: 0 }], modelVersion: "m", responseId: "id1" };
}

const golden: readonly ReplyEvent[] = [
  start,
  ...textPart(0, "T", "reasoning"),
  ...textPart(1, "Hi"),
  ...callPart(2, "call_a", "f", "{}"),
  ...callPart(3, "call_b", "g", '{"x"', ":1}"),
  { type: "usage", usage },
  { type: "finish", candidate: 0, finish: { reason: "tool-calls" } },
  end,
];

const lastFrame = {
  candidates: [{ content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP", index: 0 }],
  usageMetadata: {
    promptTokenCount: 105,
    cachedContentTokenCount: 90,
    candidatesTokenCount: 17,
    thoughtsTokenCount: 20,
    totalTokenCount: 142,
  },
  modelVersion: "m",
  responseId: "id1",
};

const goldenFrames = [
  frame({ text: "T", thought: true }),
  frame({ text: "Hi" }),
  frame({ functionCall: { id: "call_a", name: "f", args: {} } }),
  frame({ functionCall: { id: "call_b", name: "g", args: { x: 1 } } }),
  lastFrame,
];

describe("the stream writer of generateContent", () => {
  it("G3: writes a frame for every piece, and one at the end with all that waited", () => {
    const text = streamOf(golden, contextOf(shown));
    assert.deepEqual(framesOf(text), goldenFrames);
    assert.deepEqual(checkGrammar("gemini", Buffer.from(text)), []);
  });

  it("pitfall 16: writes a JSON array whose first element goes out at once", () => {
    const writer = generateContentClientTranslator.createStreamWriter(contextOf(shown, "array"));
    const pieces = golden.map((event) => writer.write(event));
    assert.deepEqual(JSON.parse(pieces.join("")), goldenFrames);
    const [first] = pieces.filter((piece) => piece !== "");
    assert.deepEqual(JSON.parse(`${first}]`), [goldenFrames[0]]);
  });

  it("pitfall 15: writes no event lines, no terminator, and a blank line at the end", () => {
    const text = streamOf(golden, contextOf(shown));
    assert.ok(!/^(?:event|id):/m.test(text) && !text.includes("[DONE]") && text.endsWith("\r\n\r\n"));
  });

  it("pitfall 18: puts a part and a role into every frame", () => {
    const blocked: ReplyEvent[] = [start, { type: "usage", usage }, stopped, end];
    for (const written of [
      ...framesOf(streamOf(golden, contextOf(shown))),
      ...framesOf(streamOf(blocked, contextOf())),
    ]) {
      const [candidate] = Object(written["candidates"]);
      assert.equal(candidate.content.role, "model");
      assert.ok(candidate.content.parts.length > 0);
    }
  });

  it("shows thinking only to clients that want to see it", () => {
    assert.deepEqual(framesOf(streamOf(golden, contextOf())), goldenFrames.slice(1));
  });

  it("writes a refusal as text", () => {
    const [first] = framesOf(streamOf([start, ...textPart(0, "No.", "refusal"), stopped, end], contextOf()));
    assert.deepEqual(first, frame({ text: "No." }));
  });

  it("gives a call without id one", () => {
    const [first] = framesOf(streamOf([start, ...callPart(0, undefined, "f"), stopped, end], contextOf()));
    assert.deepEqual(first, frame({ functionCall: { id: "call_id2", name: "f", args: {} } }));
  });

  it("keeps calls apart whose arguments come in turns", () => {
    const [a, b] = [callPart(0, "a", "f", '{"x":1}'), callPart(1, "b", "g", '{"y":2}')];
    for (const order of [
      [a[0], b[0], b[1], a[1], a[2], b[2]],
      [a[0], b[0], b[1], b[2], a[1], a[2]],
    ]) {
      const mixed = order.filter((event) => event !== undefined);
      const told: unknown[] = framesOf(streamOf([start, ...mixed, stopped, end], contextOf())).flatMap(
        (one) => Object(one["candidates"])[0].content.parts,
      );
      assert.deepEqual(told, [
        { functionCall: { id: "a", name: "f", args: { x: 1 } } },
        { functionCall: { id: "b", name: "g", args: { y: 2 } } },
        { text: "" },
      ]);
    }
  });

  it("puts arguments that were cut off behind a member", () => {
    const cut: ReplyEvent[] = [
      start,
      ...callPart(0, "a", "f", '{"x":'),
      { type: "finish", candidate: 0, finish: { reason: "length" } },
      end,
    ];
    const [first, last] = framesOf(streamOf(cut, contextOf()));
    assert.deepEqual(first, frame({ functionCall: { id: "a", name: "f", args: { $raw: '{"x":' } } }));
    assert.equal(Object(last)["candidates"][0].finishReason, "MAX_TOKENS");
  });

  it("writes files, and code that a provider ran", () => {
    const events: ReplyEvent[] = [
      start,
      { type: "open", candidate: 0, part: 0, block: { kind: "media", mime: "image/png", base64: "AA==" } },
      { type: "close", candidate: 0, part: 0 },
      {
        type: "open",
        candidate: 0,
        part: 1,
        block: { kind: "hosted", tool: "code", type: "x", code: "1", output: "2" },
      },
      { type: "close", candidate: 0, part: 1 },
      { type: "open", candidate: 0, part: 2, block: { kind: "hosted", tool: "web-search", type: "x" } },
      { type: "close", candidate: 0, part: 2 },
      stopped,
      end,
    ];
    assert.deepEqual(framesOf(streamOf(events, contextOf())).slice(0, -1), [
      frame({ inlineData: { mimeType: "image/png", data: "AA==" } }),
      frame(
        { executableCode: { language: "PYTHON", code: "1" } },
        { codeExecutionResult: { outcome: "OUTCOME_OK", output: "2" } },
      ),
    ]);
  });

  it("keeps candidates apart and ends them together", () => {
    const second: ReplyEvent[] = textPart(0, "B").map((event) =>
      "candidate" in event ? { ...event, candidate: 1 } : event,
    );
    const finish: ReplyEvent = {
      type: "finish",
      candidate: 1,
      finish: { reason: "content-filter", explanation: "no" },
    };
    const frames = framesOf(streamOf([start, ...textPart(0, "A"), ...second, stopped, finish, end], contextOf()));
    assert.deepEqual(
      frames.map((one) =>
        Object(one["candidates"]).map((candidate: Record<string, unknown>) => [
          candidate["index"],
          candidate["finishReason"],
        ]),
      ),
      [
        [[0, undefined]],
        [[1, undefined]],
        [
          [0, "STOP"],
          [1, "SAFETY"],
        ],
      ],
    );
  });

  it("G6: tells a refused prompt without a candidate", () => {
    const blocked: ReplyEvent[] = [
      start,
      { type: "finish", candidate: 0, finish: { reason: "content-filter", isPromptBlocked: true } },
      end,
    ];
    assert.deepEqual(framesOf(streamOf(blocked, contextOf())), [
      { promptFeedback: { blockReason: "SAFETY" }, modelVersion: "m", responseId: "id1" },
    ]);
  });

  it("writes sources with offsets in bytes over all text", () => {
    const cite = (part: number, startAt: number, endAt: number): ReplyEvent => ({
      type: "citation",
      candidate: 0,
      part,
      citation: { url: "https://a.test", title: "A", start: startAt, end: endAt },
    });
    const events: ReplyEvent[] = [
      start,
      ...textPart(0, "é😀"),
      ...textPart(1, "ab").slice(0, 2),
      cite(1, 1, 2),
      ...textPart(1, "").slice(2),
      stopped,
      end,
    ];
    const last = framesOf(streamOf(events, contextOf())).at(-1);
    assert.deepEqual(Object(last)["candidates"][0].groundingMetadata, {
      groundingChunks: [{ web: { uri: "https://a.test", title: "A" } }],
      groundingSupports: [{ segment: { startIndex: 7, endIndex: 8, text: "b" }, groundingChunkIndices: [0] }],
    });
  });

  it("tells sources of a text without end without offsets", () => {
    const citation = { url: "https://a.test", start: 0, end: 1 };
    const pieces = [...textPart(0, "x".repeat(1_000_000)).slice(0, 2), ...textPart(0, "y".repeat(100_000)).slice(1, 2)];
    const events: ReplyEvent[] = [
      start,
      ...pieces,
      { type: "citation", candidate: 0, part: 0, citation },
      ...textPart(0, "").slice(2),
      stopped,
      end,
    ];
    const last = framesOf(streamOf(events, contextOf())).at(-1);
    const groundingMetadata = { groundingChunks: [{ web: { uri: "https://a.test" } }] };
    assert.deepEqual(Object(last)["candidates"][0].groundingMetadata, groundingMetadata);
  });

  it("writes probabilities at the end, for clients that asked", () => {
    const tokens = [{ token: "a", logprob: -1, top: [{ token: "b", logprob: -2 }] }];
    const events: ReplyEvent[] = [
      start,
      ...textPart(0, "a").slice(0, 2),
      { type: "logprobs", candidate: 0, part: 0, tokens },
      ...textPart(0, "a").slice(2),
      stopped,
      end,
    ];
    const result = (members: Partial<Conversation>): unknown =>
      Object(framesOf(streamOf(events, contextOf(members))).at(-1))["candidates"][0].logprobsResult;
    assert.equal(result({}), undefined);
    assert.deepEqual(result({ sampling: { logprobs: true } }), {
      chosenCandidates: [{ token: "a", logProbability: -1 }],
      topCandidates: [{ candidates: [{ token: "b", logProbability: -2 }] }],
    });
  });

  it("pitfall 19: ends a failed stream with an error that has a numeric code, and without an end", () => {
    const error = new GatewayError("upstream_error", "The provider broke off.");
    for (const mode of ["sse", "array"] as const) {
      const writer = generateContentClientTranslator.createStreamWriter(contextOf({}, mode));
      const text =
        [start, ...textPart(0, "a")].map((event) => writer.write(event)).join("") +
        writer.fail(error, { requestId: "r" });
      const frames: Record<string, unknown>[] = mode === "sse" ? framesOf(text) : JSON.parse(text);
      assert.equal(Object(frames.at(-1)?.["error"]).code, 502);
      assert.ok(!text.includes("finishReason"));
    }
    const early = generateContentClientTranslator
      .createStreamWriter(contextOf({}, "array"))
      .fail(error, { requestId: "r" });
    assert.equal(JSON.parse(early).length, 1);
  });
});

import assert from "node:assert/strict";
import { generateContentClientTranslator } from "#proxy/formats/generate-content/translate/client-translator";
import { generateContentUpstreamTranslator } from "#proxy/formats/generate-content/translate/upstream-translator";
import type { Conversation } from "#proxy/neutral/conversation";
import { InvalidReply, type Reply, type ReplyBlock } from "#proxy/neutral/reply";
import { zeroUsage } from "#proxy/settle/usage";
import { contextOf } from "#test/unit/proxy/formats/generate-content/translate/replay";

const shown: Partial<Conversation> = { reasoning: { mode: "on", show: true } };

function replyOf(
  blocks: readonly ReplyBlock[],
  reason: Reply["candidates"][number]["finish"]["reason"] = "stop",
): Reply {
  return { id: "up", model: "upstream", candidates: [{ blocks, finish: { reason } }], usage: undefined };
}
function textBlock(text: string): ReplyBlock {
  return { kind: "text", text, citations: [], logprobs: [], states: [] };
}
function callBlock(id: string | undefined, name: string, args: string): ReplyBlock {
  return { kind: "call", id, name, tool: "function", arguments: args, states: [] };
}

const golden: Reply = {
  ...replyOf(
    [
      { kind: "reasoning", text: "T", states: [] },
      textBlock("Hi"),
      callBlock("call_a", "f", "{}"),
      callBlock("call_b", "g", '{"x":1}'),
    ],
    "tool-calls",
  ),
  usage: { ...zeroUsage, input: 15, cacheRead: 90, output: 17, reasoning: 20 },
};
const goldenBody = {
  candidates: [
    {
      content: {
        role: "model",
        parts: [
          { text: "T", thought: true },
          { text: "Hi" },
          { functionCall: { id: "call_a", name: "f", args: {} } },
          { functionCall: { id: "call_b", name: "g", args: { x: 1 } } },
        ],
      },
      finishReason: "STOP",
      index: 0,
    },
  ],
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

describe("writeReply() of generateContent", () => {
  it("G2: writes the whole reply", () => {
    assert.deepEqual(generateContentClientTranslator.writeReply(golden, contextOf(shown, undefined)), goldenBody);
  });

  for (const [reason, want] of [
    ["stop", "STOP"],
    ["stop-sequence", "STOP"],
    ["length", "MAX_TOKENS"],
    ["context", "MAX_TOKENS"],
    ["tool-calls", "STOP"],
    ["content-filter", "SAFETY"],
    ["refusal", "STOP"],
    ["pause", "STOP"],
    ["malformed-call", "MALFORMED_FUNCTION_CALL"],
    ["other", "OTHER"],
  ] as const) {
    it(`pitfall 126: ${reason} is ${want}`, () => {
      const { candidates } = generateContentClientTranslator.writeReply(replyOf([textBlock("a")], reason), contextOf());
      assert.equal(Object(candidates)[0].finishReason, want);
    });
  }

  it("G6: tells a refused prompt without a candidate", () => {
    const blocked: Reply = {
      ...replyOf([]),
      candidates: [{ blocks: [], finish: { reason: "content-filter", isPromptBlocked: true, explanation: "no" } }],
    };
    assert.deepEqual(generateContentClientTranslator.writeReply(blocked, contextOf()), {
      promptFeedback: { blockReason: "SAFETY", blockReasonMessage: "no" },
      modelVersion: "m",
      responseId: "id1",
    });
  });

  it("gives a reply without content a part", () => {
    const { candidates } = generateContentClientTranslator.writeReply(replyOf([]), contextOf());
    assert.deepEqual(Object(candidates)[0].content, { role: "model", parts: [{ text: "" }] });
  });

  it("writes files by content or address", () => {
    const media = [
      { kind: "media", mime: "image/png", base64: "AA==" },
      { kind: "media", mime: "image/png", url: "https://a.test/i" },
      { kind: "media", mime: "image/png" },
    ] as const;
    const { candidates } = generateContentClientTranslator.writeReply(replyOf(media), contextOf());
    assert.deepEqual(Object(candidates)[0].content.parts, [
      { inlineData: { mimeType: "image/png", data: "AA==" } },
      { fileData: { mimeType: "image/png", fileUri: "https://a.test/i" } },
    ]);
  });

  it("pitfall 162: writes sources by the part they belong to, which neighbouring texts share", () => {
    const cited: ReplyBlock = {
      kind: "text",
      text: "é b",
      citations: [
        { url: "https://a.test", start: 2, end: 3 },
        { url: "https://b.test", title: "B" },
      ],
      logprobs: [],
      states: [],
    };
    const groundingChunks = [{ web: { uri: "https://a.test" } }, { web: { uri: "https://b.test", title: "B" } }];
    const candidateOf = (...blocks: readonly ReplyBlock[]) => {
      const context = contextOf({ reasoning: { mode: "on", show: true } });
      return Object(generateContentClientTranslator.writeReply(replyOf(blocks), context)["candidates"])[0];
    };
    const joined = candidateOf(textBlock("first"), cited);
    assert.deepEqual(joined.content.parts, [{ text: "firsté b" }]);
    assert.deepEqual(joined.groundingMetadata, {
      groundingChunks,
      groundingSupports: [
        { segment: { startIndex: 8, endIndex: 9, text: "b" }, groundingChunkIndices: [0] },
        { segment: { startIndex: 5, endIndex: 9, text: "é b" }, groundingChunkIndices: [1] },
      ],
    });
    const thought: ReplyBlock = { kind: "reasoning", text: "T", states: [] };
    assert.deepEqual(candidateOf(textBlock("first"), thought, cited).groundingMetadata, {
      groundingChunks,
      groundingSupports: [
        { segment: { partIndex: 2, startIndex: 3, endIndex: 4, text: "b" }, groundingChunkIndices: [0] },
        { segment: { partIndex: 2, endIndex: 4, text: "é b" }, groundingChunkIndices: [1] },
      ],
    });
  });

  it("writes probabilities for clients that asked", () => {
    const tokens = [{ token: "a", logprob: -1, top: [] }];
    const reply = replyOf([{ kind: "text", text: "a", citations: [], logprobs: tokens, states: [] }]);
    const result = (members: Partial<Conversation>, of = reply): unknown =>
      Object(generateContentClientTranslator.writeReply(of, contextOf(members))["candidates"])[0].logprobsResult;
    assert.equal(result({}), undefined);
    assert.equal(result({ sampling: { logprobs: true } }, replyOf([textBlock("a")])), undefined);
    assert.deepEqual(result({ sampling: { logprobs: true } }), {
      chosenCandidates: [{ token: "a", logProbability: -1 }],
      topCandidates: [{ candidates: [] }],
    });
  });

  it("tells sound and pictures in usage", () => {
    const usage = { ...zeroUsage, input: 1, audioInput: 2, output: 3, imageOutput: 4 };
    const { usageMetadata } = generateContentClientTranslator.writeReply(
      { ...replyOf([textBlock("a")]), usage },
      contextOf(),
    );
    assert.deepEqual(usageMetadata, {
      promptTokenCount: 3,
      candidatesTokenCount: 7,
      totalTokenCount: 10,
      promptTokensDetails: [{ modality: "AUDIO", tokenCount: 2 }],
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 4 }],
    });
  });
});

describe("readReply() of generateContent", () => {
  it("G2: reads the whole reply", () => {
    const { id, model, ...rest } = generateContentUpstreamTranslator.readReply(goldenBody);
    const { id: _id, model: _model, ...want } = golden;
    assert.deepEqual(
      JSON.parse(JSON.stringify({ id, model, ...rest })),
      JSON.parse(JSON.stringify({ id: "id1", model: "m", ...want })),
    );
  });

  for (const row of [
    {
      name: "a candidate without content",
      body: { candidates: [{ finishReason: "SAFETY" }] },
      want: [[], "content-filter"],
    },
    {
      name: "pitfall 34: content that is null",
      body: { candidates: [{ content: null, finishReason: "MAX_TOKENS" }] },
      want: [[], "length"],
    },
    {
      name: "a candidate that never says why it ended",
      body: { candidates: [{ content: { parts: [{ text: "a" }] } }] },
      want: [["text"], "stop"],
    },
    {
      name: "calls without a reason",
      body: { candidates: [{ content: { parts: [{ functionCall: { name: "f" } }] } }] },
      want: [["call"], "tool-calls"],
    },
    { name: "a refused prompt", body: { promptFeedback: { blockReason: "OTHER" } }, want: [[], "content-filter"] },
  ]) {
    it(`reads ${row.name}`, () => {
      const [candidate] = generateContentUpstreamTranslator.readReply(row.body).candidates;
      assert.deepEqual([candidate?.blocks.map(({ kind }) => kind), candidate?.finish.reason].flat(0), row.want);
    });
  }

  it("pitfall 122: counts nothing below nothing", () => {
    const usageMetadata = {
      promptTokenCount: 5,
      cachedContentTokenCount: 9,
      candidatesTokenCount: null,
      thoughtsTokenCount: -1,
    };
    const { usage } = generateContentUpstreamTranslator.readReply({ candidates: [{}], usageMetadata });
    assert.deepEqual([usage?.input, usage?.cacheRead, usage?.output, usage?.reasoning], [0, 5, 0, 0]);
  });

  it("refuses parts that cannot be", () => {
    assert.throws(
      () =>
        generateContentUpstreamTranslator.readReply({
          candidates: [{ content: { parts: [{ functionCall: { args: { a: 1 } } }] } }],
        }),
      InvalidReply,
    );
  });
});

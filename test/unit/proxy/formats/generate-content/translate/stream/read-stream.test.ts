import assert from "node:assert/strict";
import { generateContentUpstreamTranslator } from "#proxy/formats/generate-content/translate/upstream-translator";
import type { JsonObject } from "#proxy/json/json-value";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import type { Reply, ReplyEvent } from "#proxy/neutral/reply";
import { readFrames } from "#test/unit/proxy/formats/generate-content/translate/replay";

const stop = { candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }] };

function frame(...parts: readonly JsonObject[]): JsonObject {
  return { candidates: [{ content: { role: "model", parts } }] };
}

/** What was said, one word for each event but start, usage, finish and end. */
function story(events: readonly ReplyEvent[]): string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case "open":
        return [`open ${event.part} ${event.block.kind === "call" ? event.block.name : event.block.kind}`];
      case "delta":
        return [`${event.part}: ${event.text}`];
      case "state":
        return [`sign ${event.part} ${event.state.kind === "thought-signature" ? event.state.data : ""}`];
      case "close":
        return [`close ${event.part}`];
      default:
        return [];
    }
  });
}

function blocksOf(...frames: readonly JsonObject[]): Reply["candidates"][number]["blocks"] {
  return aggregateReply(readFrames([...frames, stop])).candidates[0]?.blocks ?? [];
}

describe("the stream reader of generateContent", () => {
  it("G3: reads thinking, text and calls in order, and usage as it is at the end", () => {
    const about = { modelVersion: "m", responseId: "r1" };
    const events = readFrames([
      { ...frame({ text: "T", thought: true }), ...about },
      { ...frame({ text: "Hi" }), ...about },
      { ...frame({ functionCall: { id: "call_a", name: "f", args: {} }, thoughtSignature: "TSIG" }), ...about },
      { ...frame({ functionCall: { id: "call_b", name: "g", args: { x: 1 } } }), ...about },
      {
        ...stop,
        usageMetadata: {
          promptTokenCount: 105,
          cachedContentTokenCount: 90,
          candidatesTokenCount: 17,
          thoughtsTokenCount: 20,
          totalTokenCount: 142,
        },
        ...about,
      },
    ]);
    assert.deepEqual(story(events), [
      ...["open 0 reasoning", "0: T", "close 0", "open 1 text", "1: Hi", "close 1"],
      ...["open 2 f", "sign 2 TSIG", "2: {}", "close 2", "open 3 g", '3: {"x":1}', "close 3"],
    ]);
    const reply = aggregateReply(events);
    assert.deepEqual([reply.id, reply.model, reply.candidates[0]?.finish], ["r1", "m", { reason: "tool-calls" }]);
    const { input, cacheRead, output, reasoning } = reply.usage ?? {};
    assert.deepEqual([input, cacheRead, output, reasoning], [15, 90, 17, 20]);
  });

  it("tells the prompt's size with the first frame", () => {
    const reader = generateContentUpstreamTranslator.createStreamReader();
    const first = reader.read({
      name: undefined,
      data: JSON.stringify({ ...frame({ text: "a" }), usageMetadata: { promptTokenCount: 7 } }),
    });
    assert.deepEqual(
      first.map(({ type }) => type),
      ["start", "usage", "open", "delta"],
    );
  });

  it("pitfall 116: takes the last usage, not the sum", () => {
    const usage = (candidatesTokenCount: number) => ({ usageMetadata: { promptTokenCount: 5, candidatesTokenCount } });
    const reply = aggregateReply(
      readFrames([
        { ...frame({ text: "a" }), ...usage(1) },
        { ...stop, ...usage(3) },
      ]),
    );
    assert.deepEqual([reply.usage?.input, reply.usage?.output], [5, 3]);
  });

  it("pitfall 121: counts thoughts apart from what is said", () => {
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 20, thoughtsTokenCount: 30 };
    const { usage } = aggregateReply(readFrames([{ ...stop, usageMetadata }]));
    assert.deepEqual([usage?.output, usage?.reasoning], [20, 30]);
  });

  for (const later of [{ trafficType: "ON_DEMAND" }, { promptTokenCount: null, candidatesTokenCount: 2 }]) {
    it(`keeps a count that a later frame does not repeat: ${JSON.stringify(later)}`, () => {
      const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 2 };
      const reply = aggregateReply(
        readFrames([
          { ...frame({ text: "a" }), usageMetadata },
          { ...stop, usageMetadata: later },
        ]),
      );
      assert.deepEqual([reply.usage?.input, reply.usage?.output], [5, 2]);
    });
  }

  it("reads the service tier in OpenAI's words", () => {
    const tier = (serviceTier: string) =>
      aggregateReply(readFrames([{ ...stop, usageMetadata: { serviceTier } }])).serviceTier;
    assert.deepEqual([tier("standard"), tier("priority")], ["default", "priority"]);
  });

  it("pitfall 28: a call without arguments has an empty object", () => {
    assert.deepEqual(story(readFrames([frame({ functionCall: { name: "f" } }), stop])), [
      "open 0 f",
      "0: {}",
      "close 0",
    ]);
  });

  it("takes an empty id for none", () => {
    const [block] = blocksOf(frame({ functionCall: { id: "", name: "f" } }));
    assert.equal(block?.kind === "call" && block.id, undefined);
  });

  it("pitfall 38: a call in one frame is opened, told whole and closed", () => {
    const events = readFrames([frame({ functionCall: { name: "f", args: { a: [1] } } }), stop]);
    assert.deepEqual(story(events), ["open 0 f", '0: {"a":[1]}', "close 0"]);
  });

  it("pitfall 30: a call ends the turn with calls, although the end says STOP", () => {
    const finish = aggregateReply(readFrames([frame({ functionCall: { name: "f" } }), stop])).candidates[0]?.finish;
    assert.deepEqual(finish, { reason: "tool-calls" });
  });

  it("pitfall 26: calls of different frames are different calls", () => {
    const call = frame({ functionCall: { name: "f", args: {} } });
    assert.deepEqual(
      blocksOf(call, call).map((block) => block.kind),
      ["call", "call"],
    );
  });

  it("pitfall 89: keeps the signature of an empty text, without a text to see", () => {
    const events = readFrames([frame({ text: "Hi" }), frame({ text: "", thoughtSignature: "SIG" }), stop]);
    assert.deepEqual(story(events), ["open 0 text", "0: Hi", "sign 0 SIG", "close 0"]);
    assert.deepEqual(story(readFrames([frame({ text: "", thoughtSignature: "SIG" }), stop])), [
      "open 0 text",
      "sign 0 SIG",
      "close 0",
    ]);
  });

  it("never joins a signed text to the next", () => {
    const events = readFrames([frame({ text: "a", thoughtSignature: "S" }), frame({ text: "b" }), stop]);
    assert.deepEqual(story(events), ["open 0 text", "0: a", "sign 0 S", "close 0", "open 1 text", "1: b", "close 1"]);
  });

  it("joins texts of several frames and parts", () => {
    assert.deepEqual(
      blocksOf(frame({ text: "a" }, { text: "b" }), frame({ text: "c" })).map(
        (block) => block.kind === "text" && block.text,
      ),
      ["abc"],
    );
  });

  it("pitfall 131: keeps candidates apart, by index or place", () => {
    const events = readFrames([
      {
        candidates: [
          { content: { parts: [{ text: "a" }, { text: "b" }] } },
          { index: 1, content: { parts: [{ text: "x" }] } },
        ],
      },
      { candidates: [{ index: 1, content: { parts: [{ text: "y" }] }, finishReason: "MAX_TOKENS" }] },
      stop,
    ]);
    const told = aggregateReply(events).candidates.map(({ blocks, finish }) => [
      blocks.map((block) => block.kind === "text" && block.text),
      finish.reason,
    ]);
    assert.deepEqual(told, [
      [["ab"], "stop"],
      [["xy"], "length"],
    ]);
  });

  it("reads images, and code with its output as one", () => {
    const blocks = blocksOf(
      frame({ inlineData: { mimeType: "image/png", data: "AA==" } }),
      frame({ executableCode: { language: "PYTHON", code: "1" } }),
      frame({ codeExecutionResult: { outcome: "OUTCOME_OK", output: "2" } }),
      frame({ executableCode: { code: "3" } }, { text: "done" }),
    );
    assert.deepEqual(
      blocks.map((block) => (block.kind === "text" ? block.text : block)),
      [
        { kind: "media", mime: "image/png", base64: "AA==" },
        { kind: "hosted", tool: "code", type: "executableCode", code: "1", output: "2" },
        { kind: "hosted", tool: "code", type: "executableCode", code: "3" },
        "done",
      ],
    );
  });

  it("passes over parts and members that it does not know", () => {
    assert.deepEqual(
      blocksOf(frame({ hologram: {} }, {}, { text: "a", aura: 1 })).map((block) => block.kind),
      ["text"],
    );
  });

  it("keeps the digits of large numbers", () => {
    const reader = generateContentUpstreamTranslator.createStreamReader();
    const data =
      '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"n":12345678901234567890}}}]}}]}';
    assert.ok(story(reader.read({ name: undefined, data })).includes('0: {"n":12345678901234567890}'));
  });

  it("reads probabilities of tokens", () => {
    const logprobsResult = {
      chosenCandidates: [{ token: "é", logProbability: -0.5 }],
      topCandidates: [{ candidates: [{ token: "e", logProbability: -2 }] }],
    };
    const events = readFrames([
      { candidates: [{ content: { parts: [{ text: "é" }] }, finishReason: "STOP", logprobsResult }] },
    ]);
    const told = events.find((event) => event.type === "logprobs");
    assert.deepEqual(told?.type === "logprobs" && told.tokens, [
      { token: "é", logprob: -0.5, bytes: [0xc3, 0xa9], top: [{ token: "e", logprob: -2, bytes: [0x65] }] },
    ]);
  });
});

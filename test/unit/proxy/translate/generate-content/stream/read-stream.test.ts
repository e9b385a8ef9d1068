import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject } from "../../../../../../proxy/protocols/json-value.ts";
import { foldReply } from "../../../../../../proxy/translate/fold-reply.ts";
import { generateContentTranslator } from "../../../../../../proxy/translate/generate-content/translator.ts";
import { type Finish, InvalidReply, type Reply, type ReplyEvent } from "../../../../../../proxy/translate/reply.ts";
import { readFrames } from "../replay.ts";

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
  return foldReply(readFrames([...frames, stop])).candidates[0]?.blocks ?? [];
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
    const reply = foldReply(events);
    assert.deepEqual([reply.id, reply.model, reply.candidates[0]?.finish], ["r1", "m", { reason: "tool-calls" }]);
    const { input, cacheRead, output, reasoning } = reply.usage ?? {};
    assert.deepEqual([input, cacheRead, output, reasoning], [15, 90, 17, 20]);
  });

  it("tells the prompt's size with the first frame", () => {
    const reader = generateContentTranslator.createStreamReader();
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
    const reply = foldReply(
      readFrames([
        { ...frame({ text: "a" }), ...usage(1) },
        { ...stop, ...usage(3) },
      ]),
    );
    assert.deepEqual([reply.usage?.input, reply.usage?.output], [5, 3]);
  });

  it("pitfall 121: counts thoughts apart from what is said", () => {
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 20, thoughtsTokenCount: 30 };
    const { usage } = foldReply(readFrames([{ ...stop, usageMetadata }]));
    assert.deepEqual([usage?.output, usage?.reasoning], [20, 30]);
  });

  for (const later of [{ trafficType: "ON_DEMAND" }, { promptTokenCount: null, candidatesTokenCount: 2 }]) {
    it(`keeps a count that a later frame does not repeat: ${JSON.stringify(later)}`, () => {
      const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 2 };
      const reply = foldReply(
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
      foldReply(readFrames([{ ...stop, usageMetadata: { serviceTier } }])).serviceTier;
    assert.deepEqual([tier("standard"), tier("priority")], ["default", "priority"]);
  });

  it("pitfall 28: a call without arguments has an empty object", () => {
    assert.deepEqual(story(readFrames([frame({ functionCall: { name: "f" } }), stop])), [
      "open 0 f",
      "0: {}",
      "close 0",
    ]);
  });

  it("pitfall 38: a call in one frame is opened, told whole and closed", () => {
    const events = readFrames([frame({ functionCall: { name: "f", args: { a: [1] } } }), stop]);
    assert.deepEqual(story(events), ["open 0 f", '0: {"a":[1]}', "close 0"]);
  });

  it("pitfall 30: a call ends the turn with calls, although the end says STOP", () => {
    const finish = foldReply(readFrames([frame({ functionCall: { name: "f" } }), stop])).candidates[0]?.finish;
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
    const told = foldReply(events).candidates.map(({ blocks, finish }) => [
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
    const reader = generateContentTranslator.createStreamReader();
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

describe("the stream reader of generateContent: why an answer ended", () => {
  for (const [finishReason, want] of [
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content-filter"],
    ["RECITATION", "content-filter"],
    ["BLOCKLIST", "content-filter"],
    ["PROHIBITED_CONTENT", "content-filter"],
    ["SPII", "content-filter"],
    ["IMAGE_SAFETY", "content-filter"],
    ["IMAGE_PROHIBITED_CONTENT", "content-filter"],
    ["IMAGE_RECITATION", "content-filter"],
    ["LANGUAGE", "content-filter"],
    ["CONTINUATION", "pause"],
    ["MALFORMED_FUNCTION_CALL", "malformed-call"],
    ["UNEXPECTED_TOOL_CALL", "malformed-call"],
    ["TOO_MANY_TOOL_CALLS", "malformed-call"],
    ["MALFORMED_RESPONSE", "malformed-call"],
    ["OTHER", "other"],
    ["NO_IMAGE", "other"],
    ["A_REASON_OF_TOMORROW", "other"],
    ["toString", "other"],
  ] as const) {
    it(`pitfall 126: ${finishReason} is ${want}`, () => {
      const [candidate] = foldReply(readFrames([{ candidates: [{ finishReason }] }])).candidates;
      assert.deepEqual(candidate?.finish, { reason: want });
    });
  }

  it("an answer that was cut stays cut, calls or not", () => {
    const parts = [{ functionCall: { name: "f" } }];
    const events = readFrames([{ candidates: [{ content: { parts }, finishReason: "MAX_TOKENS" }] }]);
    assert.equal(foldReply(events).candidates[0]?.finish.reason, "length");
  });

  it("keeps what the provider says about it", () => {
    const events = readFrames([{ candidates: [{ finishReason: "SAFETY", finishMessage: "because" }] }]);
    assert.deepEqual(foldReply(events).candidates[0]?.finish, { reason: "content-filter", explanation: "because" });
  });

  it("G6: a refused prompt has no output", () => {
    const want: Finish = { reason: "content-filter", isPromptBlocked: true, explanation: "no" };
    const [candidate] = foldReply(
      readFrames([{ promptFeedback: { blockReason: "SAFETY", blockReasonMessage: "no" } }]),
    ).candidates;
    assert.deepEqual(candidate, { blocks: [], finish: want });
  });

  it("pitfall 8: an answer that never said why it ended is none", () => {
    assert.throws(() => readFrames([frame({ text: "a" })]), InvalidReply);
    assert.throws(() => readFrames([]), InvalidReply);
  });

  it("takes the last of several reasons, and reads on behind them", () => {
    const events = readFrames([
      { ...stop },
      { ...frame({ text: "a" }) },
      { candidates: [{ finishReason: "MAX_TOKENS" }] },
    ]);
    assert.equal(foldReply(events).candidates[0]?.finish.reason, "length");
  });
});

describe("the stream reader of generateContent: sources", () => {
  const web = (uri: string, title?: string) => ({ web: { uri, title } });
  it("pitfall 128: keeps sources that came before their text, with offsets in UTF-16 units", () => {
    const groundingMetadata = {
      groundingChunks: [web("https://a.test", "A"), web("https://b.test"), web("https://c.test")],
      groundingSupports: [
        { segment: { endIndex: 2, text: "é" }, groundingChunkIndices: [0] },
        { segment: { startIndex: 3, endIndex: 7, text: "😀" }, groundingChunkIndices: [0, 1, 9] },
      ],
    };
    const [block] =
      foldReply(
        readFrames([
          { candidates: [{ content: { parts: [{ text: "é" }] }, groundingMetadata }] },
          frame({ text: " 😀." }),
          stop,
        ]),
      ).candidates[0]?.blocks ?? [];
    assert.deepEqual(block?.kind === "text" && block.citations, [
      { url: "https://a.test", title: "A", start: 0, end: 1, citedText: "é" },
      { url: "https://a.test", title: "A", start: 2, end: 4, citedText: "😀" },
      { url: "https://b.test", start: 2, end: 4, citedText: "😀" },
      { url: "https://c.test" },
    ]);
  });

  it("finds the words where offsets count from elsewhere", () => {
    const groundingMetadata = {
      groundingChunks: [web("https://a.test")],
      groundingSupports: [{ segment: { partIndex: 1, endIndex: 4, text: "here" }, groundingChunkIndices: [0] }],
    };
    const parts = [{ text: "right " }, { text: "here" }];
    const [block] =
      foldReply(readFrames([{ candidates: [{ content: { parts }, groundingMetadata, finishReason: "STOP" }] }]))
        .candidates[0]?.blocks ?? [];
    assert.deepEqual(block?.kind === "text" && block.citations, [
      { url: "https://a.test", start: 6, end: 10, citedText: "here" },
    ]);
  });

  it("reads both spellings of cited sources, each once", () => {
    const source = { startIndex: 1, endIndex: 3, uri: "https://a.test" };
    const events = readFrames([
      { candidates: [{ content: { parts: [{ text: "abcd" }] }, citationMetadata: { citationSources: [source] } }] },
      { candidates: [{ finishReason: "STOP", citationMetadata: { citations: [source, { uri: "https://b.test" }] } }] },
    ]);
    const [block] = foldReply(events).candidates[0]?.blocks ?? [];
    assert.deepEqual(block?.kind === "text" && block.citations, [
      { url: "https://a.test", start: 1, end: 3 },
      { url: "https://b.test" },
    ]);
  });
});

describe("the stream reader of generateContent: streamed arguments", () => {
  const start = frame({ functionCall: { name: "f", willContinue: true }, thoughtSignature: "S" });
  const piece = (...partialArgs: readonly JsonObject[]): JsonObject =>
    frame({ functionCall: { partialArgs, willContinue: true } });
  const end = frame({ functionCall: {} });
  const argumentsOf = (...frames: readonly JsonObject[]): unknown => {
    const [block] = blocksOf(start, ...frames, end);
    return block?.kind === "call" ? block.arguments : undefined;
  };

  for (const row of [
    {
      name: "texts grow piece by piece",
      pieces: [
        { jsonPath: "$.city", stringValue: "Par", willContinue: true },
        { jsonPath: "$.city", stringValue: "is" },
      ],
      want: '{"city":"Paris"}',
    },
    {
      name: "values of every kind",
      pieces: [
        { jsonPath: "$.n", numberValue: 0 },
        { jsonPath: "$.b", boolValue: false },
        { jsonPath: "$.z", nullValue: "NULL_VALUE" },
      ],
      want: '{"n":0,"b":false,"z":null}',
    },
    {
      name: "places inside of objects and lists, however they are spelled",
      pieces: [
        { jsonPath: "$.a[0].b", stringValue: "x" },
        { jsonPath: "$['a'][1]", numberValue: 2 },
        { jsonPath: '$["c d"].e', boolValue: true },
      ],
      want: '{"a":[{"b":"x"},2],"c d":{"e":true}}',
    },
    { name: "nothing", pieces: [], want: "{}" },
  ]) {
    it(`puts together ${row.name}`, () => assert.equal(argumentsOf(...row.pieces.map((one) => piece(one))), row.want));
  }

  for (const path of [
    "$.__proto__.x",
    "$.a.constructor",
    "$['prototype']",
    "$.a[5]",
    "a",
    "$",
    "$.a[-1]",
    `$${".a".repeat(70)}`,
  ]) {
    it(`pitfall 86: refuses the path ${path.slice(0, 20)} and touches no prototype`, () => {
      assert.throws(() => argumentsOf(piece({ jsonPath: path, stringValue: "polluted" })), InvalidReply);
      assert.equal(Reflect.get({}, "x"), undefined);
    });
  }

  it("ends a call where the next one begins, or the answer ends", () => {
    const blocks = blocksOf(
      start,
      piece({ jsonPath: "$.a", stringValue: "1" }),
      start,
      piece({ jsonPath: "$.a", stringValue: "2" }),
    );
    assert.deepEqual(
      blocks.map((block) => block.kind === "call" && block.arguments),
      ['{"a":"1"}', '{"a":"2"}'],
    );
  });

  it("refuses a piece without a call", () => {
    assert.throws(() => blocksOf(piece({ jsonPath: "$.a", stringValue: "1" })), InvalidReply);
  });
});

describe("the stream reader of generateContent: what is no answer", () => {
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
        () => generateContentTranslator.createStreamReader().read({ name: undefined, data: row.data }),
        InvalidReply,
      );
    });
  }

  it("leaves other formats' terminator out", () => {
    assert.deepEqual(generateContentTranslator.createStreamReader().read({ name: undefined, data: "[DONE]" }), []);
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
    if (event.type === "usage" || event.type === "ping") continue;
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

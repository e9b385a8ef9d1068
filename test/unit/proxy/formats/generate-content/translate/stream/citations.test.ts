import assert from "node:assert/strict";
import type { JsonObject } from "#proxy/json/json-value";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { readFrames } from "#test/unit/proxy/formats/generate-content/translate/replay";

const stop = { candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }] };

function frame(...parts: readonly JsonObject[]): JsonObject {
  return { candidates: [{ content: { role: "model", parts } }] };
}

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
      aggregateReply(
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

  for (const row of [
    {
      name: "counts sources over all frames",
      second: [web("https://b.test")],
      want: ["https://a.test", "https://b.test"],
    },
    {
      name: "takes a frame that says all again for one",
      second: [web("https://a.test"), web("https://b.test")],
      want: ["https://a.test", "https://b.test"],
    },
  ]) {
    it(row.name, () => {
      const segment = { endIndex: 1, text: "x" };
      const events = readFrames([
        {
          candidates: [
            { content: { parts: [{ text: "x" }] }, groundingMetadata: { groundingChunks: [web("https://a.test")] } },
          ],
        },
        {
          candidates: [
            {
              finishReason: "STOP",
              groundingMetadata: {
                groundingChunks: row.second,
                groundingSupports: [{ segment, groundingChunkIndices: [0, 1] }],
              },
            },
          ],
        },
      ]);
      const [block] = aggregateReply(events).candidates[0]?.blocks ?? [];
      assert.deepEqual(block?.kind === "text" && block.citations.map(({ url, end }) => end === 1 && url), row.want);
    });
  }

  it("passes over sources without an address", () => {
    const groundingMetadata = { groundingChunks: [{ web: { uri: 1 } }, {}, null, web("https://a.test")] };
    const [block] =
      aggregateReply(
        readFrames([
          { candidates: [{ content: { parts: [{ text: "x" }] }, groundingMetadata, finishReason: "STOP" }] },
        ]),
      ).candidates[0]?.blocks ?? [];
    assert.deepEqual(block?.kind === "text" && block.citations, [{ url: "https://a.test" }]);
  });

  it("finds the words where offsets count from elsewhere", () => {
    const groundingMetadata = {
      groundingChunks: [web("https://a.test")],
      groundingSupports: [{ segment: { partIndex: 1, endIndex: 4, text: "here" }, groundingChunkIndices: [0] }],
    };
    const parts = [{ text: "right " }, { text: "here" }];
    const [block] =
      aggregateReply(readFrames([{ candidates: [{ content: { parts }, groundingMetadata, finishReason: "STOP" }] }]))
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
    const [block] = aggregateReply(events).candidates[0]?.blocks ?? [];
    assert.deepEqual(block?.kind === "text" && block.citations, [
      { url: "https://a.test", start: 1, end: 3 },
      { url: "https://b.test" },
    ]);
  });
});

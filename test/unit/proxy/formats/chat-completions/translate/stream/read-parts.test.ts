import assert from "node:assert/strict";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { chunk, read } from "#test/support/translation/chat-chunks";
import { readChunks } from "#test/support/translation/chat-exchange";

describe("chat completions stream reader: parts", () => {
  it("opens text once, closes it before the finish, and ends", () => {
    assert.deepEqual(
      read(
        chunk({ role: "assistant", content: "" }),
        chunk({ content: "a" }),
        chunk({ content: "b" }),
        chunk({}, "stop"),
      ),
      ["start", "open 0 text", "0: a", "0: b", "close 0", "finish stop", "end"],
    );
  });

  it("knows id, model and tier from the first chunk that has choices", () => {
    const [start] = readChunks([
      { id: "", model: "", choices: [], prompt_filter_results: [] },
      chunk({ content: "a" }, "stop", { service_tier: "default" }),
    ]);
    assert.deepEqual(start, { type: "start", id: "c1", model: "m", serviceTier: "default" });
  });

  for (const name of ["reasoning_content", "reasoning"]) {
    it(`reads thinking under ${name}, before text of the same chunk`, () => {
      assert.deepEqual(read(chunk({ [name]: "T" }), chunk({ [name]: "U", content: "a" }), chunk({}, "stop")), [
        "start",
        "open 0 reasoning",
        "0: T",
        "0: U",
        "state 0 reasoning-text",
        "close 0",
        "open 1 text",
        "1: a",
        "close 1",
        "finish stop",
        "end",
      ]);
    });
  }

  it("says thinking once that stands under both names", () => {
    assert.deepEqual(read(chunk({ reasoning_content: "T", reasoning: "T" }, "stop")).slice(1, 3), [
      "open 0 reasoning",
      "0: T",
    ]);
  });

  it("reads Mistral's parts, thinking and text of one chunk in their order", () => {
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "T" }] },
      { type: "text", text: "a" },
    ];
    assert.deepEqual(read(chunk({ content }), chunk({ content: "b" }, "stop")).slice(1), [
      "open 0 reasoning",
      "0: T",
      "close 0",
      "open 1 text",
      "1: a",
      "1: b",
      "close 1",
      "finish stop",
      "end",
    ]);
  });

  it("reads a refusal, and finishes as one", () => {
    assert.deepEqual(read(chunk({ refusal: "no" }), chunk({}, "stop")).slice(1), [
      "open 0 refusal",
      "0: no",
      "close 0",
      "finish refusal",
      "end",
    ]);
  });

  it("reads pictures, and audio that streams in pieces", () => {
    const events = readChunks([
      chunk({ images: [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }] }),
      chunk({ audio: { id: "a", data: Buffer.from("OggS").toString("base64") } }),
      chunk({ audio: { data: Buffer.from("more").toString("base64"), transcript: "hi" } }),
      chunk({}, "stop"),
    ]);
    const media = events.flatMap((event) => (event.type === "open" ? [event.block] : []));
    assert.deepEqual(media, [
      { kind: "media", mime: "image/png", base64: "iVBORw0KGgo=" },
      { kind: "media", mime: "audio/ogg", base64: Buffer.from("OggSmore").toString("base64"), transcript: "hi" },
    ]);
  });

  it("reads the probabilities of tokens into the open text", () => {
    const logprobs = {
      content: [{ token: "a", logprob: -0.5, bytes: [97], top_logprobs: [{ token: "b", logprob: -1 }] }],
    };
    const [, , , event] = readChunks([
      { ...chunk({}), choices: [{ index: 0, delta: { content: "a" }, logprobs, finish_reason: "stop" }] },
    ]);
    const top = [{ token: "b", logprob: -1, bytes: undefined }];
    assert.deepEqual(event, {
      type: "logprobs",
      candidate: 0,
      part: 0,
      tokens: [{ token: "a", logprob: -0.5, bytes: [97], top }],
    });
  });

  it("reads annotations, and the list of sources that Perplexity repeats, each once", () => {
    const annotation = {
      type: "url_citation",
      url_citation: { url: "https://a", title: "A", start_index: 0, end_index: 1 },
    };
    const citations = ["https://b", "https://a2"];
    assert.deepEqual(
      read(
        chunk({ content: "x" }, null, { citations }),
        chunk({ content: "y", annotations: [annotation] }, null, { citations }),
        chunk({}, "stop", { citations }),
      ).slice(1),
      [
        "open 0 text",
        "0: x",
        "cite 0 https://b",
        "cite 0 https://a2",
        "0: y",
        "cite 0 https://a",
        "close 0",
        "finish stop",
        "end",
      ],
    );
  });

  it("reads the offsets of annotations as places in the whole content", () => {
    const cited = (url: string, start_index: number, end_index: number) => ({
      annotations: [{ type: "url_citation", url_citation: { url, title: "", start_index, end_index } }],
    });
    const events = readChunks([
      chunk({ content: "first" }),
      chunk({ reasoning_content: "T" }),
      chunk({ content: "second" }),
      chunk(cited("https://second", 5, 11)),
      chunk(cited("https://both", 3, 7)),
      chunk(cited("https://first", 0, 5)),
      chunk({}, "stop"),
    ]);
    const citations = aggregateReply(events).candidates[0]?.blocks.map(
      (block) => block.kind === "text" && block.citations,
    );
    const title = "";
    assert.deepEqual(citations, [
      [
        { url: "https://both", title, start: 3, end: 5 },
        { url: "https://first", title, start: 0, end: 5 },
      ],
      false,
      [{ url: "https://second", title, start: 0, end: 6 }],
    ]);
  });

  it("keeps a source that comes when no text is open", () => {
    const annotations = [
      { type: "url_citation", url_citation: { url: "https://a", title: "A", start_index: 0, end_index: 0 } },
    ];
    assert.deepEqual(read(chunk({ annotations }), chunk({ content: "x" }, "stop")).slice(1, 4), [
      "open 0 text",
      "0: x",
      "cite 0 https://a",
    ]);
    assert.deepEqual(read(chunk({ refusal: "n" }), chunk({ annotations }, "stop")).slice(3, 6), [
      "close 0",
      "open 1 text",
      "cite 1 https://a",
    ]);
  });

  it("keeps several choices apart and finishes each", () => {
    const at = (index: number, delta: object, finish: string | null = null) => ({
      index,
      delta,
      finish_reason: finish,
    });
    const events = readChunks([
      { id: "c", choices: [at(1, { content: "b" })] },
      { id: "c", choices: [at(0, { content: "a" }, "stop"), at(1, {}, "length")] },
    ]);
    assert.deepEqual(
      aggregateReply(events).candidates.map(({ blocks, finish }) => [
        blocks.map((block) => "text" in block && block.text),
        finish.reason,
      ]),
      [
        [["a"], "stop"],
        [["b"], "length"],
      ],
    );
  });
});

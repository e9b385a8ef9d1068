import assert from "node:assert/strict";
import { ChunkReader } from "#proxy/formats/chat-completions/translate/stream/read-stream";
import { chatCompletionsUpstreamTranslator } from "#proxy/formats/chat-completions/translate/upstream-translator";
import { parseJsonText } from "#proxy/json/json-text";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { InvalidReply, type ReplyBlock } from "#proxy/neutral/reply";

function bodyOf(message: unknown, finish: unknown = "stop"): JsonObject {
  return { id: "c", choices: [{ index: 0, message, finish_reason: finish }] };
}

function blocksOf(message: unknown): readonly ReplyBlock[] {
  return chatCompletionsUpstreamTranslator.readReply(bodyOf(message)).candidates[0]?.blocks ?? [];
}

const call = (id: string | undefined, name: string, args: string) => ({
  kind: "call",
  id,
  name,
  tool: "function",
  arguments: args,
  states: [],
});

describe("readReply()", () => {
  it("takes each entry of a list for a call of its own, whatever its id and index", () => {
    const fn = (args: string) => ({ type: "function", function: { name: "f", arguments: args } });
    const tool_calls = [{ ...fn('{"x":1}'), id: "a", index: 0 }, { ...fn('{"x":2}'), id: "a", index: 0 }, fn("")];
    assert.deepEqual(blocksOf({ content: null, tool_calls }), [
      call("a", "f", '{"x":1}'),
      call("a", "f", '{"x":2}'),
      call(undefined, "f", "{}"),
    ]);
  });

  it("reads arguments as an object without losing digits", () => {
    const text =
      '{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"n":12345678901234567890}}}]}}]}';
    const body = parseJsonText(text);
    assert.ok(isObject(body));
    assert.deepEqual(chatCompletionsUpstreamTranslator.readReply(body).candidates[0]?.blocks, [
      call("a", "f", '{"n":12345678901234567890}'),
    ]);
  });

  it("reads probabilities whose digits were kept", () => {
    const text =
      '{"choices":[{"message":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-1.2500000000000000e-05,"bytes":null}]},"finish_reason":"stop"}]}';
    const body = parseJsonText(text);
    assert.ok(isObject(body));
    const [block] = chatCompletionsUpstreamTranslator.readReply(body).candidates[0]?.blocks ?? [];
    assert.deepEqual(block?.kind === "text" && block.logprobs, [
      { token: "a", logprob: -1.25e-5, bytes: undefined, top: [] },
    ]);
  });

  it("pitfall 34: reads a choice without a message, as Azure's filter sends it", () => {
    const body = { choices: [{ index: 0, finish_reason: "content_filter" }] };
    assert.deepEqual(chatCompletionsUpstreamTranslator.readReply(body).candidates, [
      { blocks: [], finish: { reason: "content-filter" } },
    ]);
  });

  it("pitfall 34: reads a body without usage, and a choice without a reason as finished", () => {
    const { usage, candidates } = chatCompletionsUpstreamTranslator.readReply(bodyOf({ content: "a" }, null));
    assert.equal(usage, undefined);
    assert.deepEqual(candidates[0]?.finish, { reason: "stop" });
  });

  it("pitfall 122: takes odd numbers of usage for what they can mean", () => {
    const usage = {
      prompt_tokens: 5,
      completion_tokens: 2,
      prompt_tokens_details: { cached_tokens: null },
      completion_tokens_details: { reasoning_tokens: 9 },
    };
    const read = chatCompletionsUpstreamTranslator.readReply({ ...bodyOf({ content: "a" }), usage }).usage;
    assert.deepEqual([read?.input, read?.cacheRead, read?.output, read?.reasoning], [5, 0, 0, 2]);
  });

  it("gives each text the sources of its own part of the content", () => {
    const thinking = { type: "thinking", thinking: [{ type: "text", text: "T" }] };
    const note = (url: string, start_index: number, end_index: number) => ({
      type: "url_citation",
      url_citation: { url, title: "", start_index, end_index },
    });
    const message = {
      content: [{ type: "text", text: "first" }, thinking, { type: "text", text: "second" }],
      annotations: [
        ...[note("https://b", 6, 11), note("https://a", 0, 5)],
        ...[note("https://both", 4, 8), note("https://unplaced", 0, 0), note("https://beyond", 20, 22)],
      ],
      tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }],
    };
    const citations = blocksOf(message).map((block) => block.kind === "text" && block.citations);
    const title = "";
    assert.deepEqual(citations, [
      [
        { url: "https://a", title, start: 0, end: 5 },
        { url: "https://both", title, start: 4, end: 5 },
      ],
      false,
      [
        { url: "https://b", title, start: 1, end: 6 },
        { url: "https://unplaced", title },
        { url: "https://beyond", title, start: 15, end: 17 },
      ],
      false,
    ]);
  });

  it("gives the sources beside the choices to the text, though calls follow it", () => {
    const tool_calls = [{ id: "a", function: { name: "f", arguments: "{}" } }];
    const body = { ...bodyOf({ content: "x", tool_calls }), citations: ["https://a"] };
    const blocks = chatCompletionsUpstreamTranslator.readReply(body).candidates[0]?.blocks ?? [];
    assert.deepEqual(
      blocks.map((block) => (block.kind === "text" ? block.citations.map(({ url }) => url) : block.kind)),
      [["https://a"], "call"],
    );
  });

  it("reads the probabilities of a text that calls follow", () => {
    const tool_calls = [{ id: "a", function: { name: "f", arguments: "{}" } }];
    const logprobs = { content: [{ token: "x", logprob: -1, bytes: null, top_logprobs: [] }] };
    const choices = [{ index: 0, message: { content: "x", tool_calls }, logprobs, finish_reason: "tool_calls" }];
    const blocks = chatCompletionsUpstreamTranslator.readReply({ choices }).candidates[0]?.blocks ?? [];
    assert.deepEqual(
      blocks.map((block) => (block.kind === "text" ? block.logprobs.map(({ token }) => token) : block.kind)),
      [["x"], "call"],
    );
  });

  it("reads audio with what was said", () => {
    const data = Buffer.from("OggS").toString("base64");
    assert.deepEqual(blocksOf({ content: null, audio: { id: "a", data, transcript: "hi", expires_at: 1 } }), [
      { kind: "media", mime: "audio/ogg", base64: data, transcript: "hi" },
    ]);
  });

  for (const choices of [undefined, null, [], "x"]) {
    it(`pitfall 34: refuses choices that are ${JSON.stringify(choices)}`, () => {
      assert.throws(() => chatCompletionsUpstreamTranslator.readReply({ id: "c", choices }), InvalidReply);
    });
  }

  const text = { role: "assistant", content: "Hello." };
  const bare = { index: 0, message: text, finish_reason: "stop" };
  const answers: Readonly<Record<string, JsonObject>> = {
    "one text": { id: "c", model: "m", service_tier: "flex", choices: [bare], usage: { prompt_tokens: 3 } },
    "a text without a reason to end": { choices: [{ message: text }] },
    "a text that was cut": { choices: [{ ...bare, finish_reason: "length" }] },
    "a text that a word of calls ends": { choices: [{ ...bare, finish_reason: "tool_calls" }] },
    "members that say nothing": {
      choices: [
        { ...bare, message: { ...text, refusal: null, annotations: [], tool_calls: [], audio: {} }, logprobs: null },
      ],
    },
    "a delta in the place of the message": { choices: [{ ...bare, delta: {} }] },
    "an empty text": { choices: [{ ...bare, message: { content: "" } }] },
    "a text and thinking": { choices: [{ ...bare, message: { ...text, reasoning: "Hm." } }] },
    "a text and a refusal": { choices: [{ ...bare, message: { ...text, refusal: "No." } }] },
    "a text and a call": {
      choices: [{ ...bare, message: { ...text, function_call: { name: "f", arguments: "{}" } } }],
    },
    "a text with probabilities": { choices: [{ ...bare, logprobs: { content: [{ token: "Hello.", logprob: -1 }] } }] },
    "a text with sources": { choices: [bare], citations: ["https://example.com"] },
    "two texts": { choices: [bare, { ...bare, index: 1 }] },
    "a second candidate alone": { choices: [{ ...bare, index: 1 }] },
  };
  for (const [name, body] of Object.entries(answers)) {
    it(`reads what a stream of one chunk says: ${name}`, () => {
      const read = (reader: () => unknown): unknown => {
        try {
          return reader();
        } catch (error) {
          return error;
        }
      };
      const streamed = read(() => aggregateReply(new ChunkReader().readBody(body)));
      assert.deepEqual(
        read(() => chatCompletionsUpstreamTranslator.readReply(body)),
        streamed,
      );
    });
  }
});

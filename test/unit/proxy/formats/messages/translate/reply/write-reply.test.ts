import assert from "node:assert/strict";
import type { ReplyBlock } from "#proxy/neutral/reply";
import { zeroUsage } from "#proxy/settle/usage";
import { conversation, replyContext, writeWhole } from "#test/support/translation/messages-exchange";

function contentOf(blocks: readonly ReplyBlock[], context = replyContext()): unknown {
  const candidates = [{ blocks, finish: { reason: "stop" } as const }];
  return writeWhole({ id: "up", model: "upstream-model", candidates, usage: zeroUsage }, context)["content"];
}

const text = (content: string): ReplyBlock => ({
  kind: "text",
  text: content,
  citations: [],
  logprobs: [],
  states: [],
});
const call = (args: string): ReplyBlock => ({
  kind: "call",
  id: "a",
  name: "f",
  tool: "function",
  arguments: args,
  states: [],
});

describe("messages: writeReply", () => {
  it("writes a text alone as it writes it among others", () => {
    const block = { type: "text", text: "hi" };
    assert.deepEqual(contentOf([text("hi")]), [block]);
    assert.deepEqual(contentOf([text("hi"), text("hi")]), [block, block]);
  });

  it("writes a whole message with the client's name of the model", () => {
    const reply = {
      id: "up",
      model: "upstream-model",
      candidates: [{ blocks: [text("hi")], finish: { reason: "length" } as const }],
      usage: { ...zeroUsage, input: 3, output: 2 },
    };
    assert.deepEqual(writeWhole(reply), {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "hi" }],
      stop_reason: "max_tokens",
      stop_sequence: null,
      usage: { input_tokens: 3, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 2 },
    });
  });
  it("writes a reply that says nothing, and one without any candidate", () => {
    assert.deepEqual(contentOf([text("")]), []);
    const none = writeWhole({ id: undefined, model: undefined, candidates: [], usage: undefined });
    assert.deepEqual([none["content"], none["stop_reason"]], [[], "end_turn"]);
  });
  it("writes the first candidate alone", () => {
    const finish = { reason: "stop" } as const;
    const candidates = [
      { blocks: [text("a")], finish },
      { blocks: [text("b")], finish: { reason: "length" } as const },
    ];
    const written = writeWhole({ id: undefined, model: undefined, candidates, usage: undefined });
    assert.deepEqual([written["content"], written["stop_reason"]], [[{ type: "text", text: "a" }], "end_turn"]);
  });
  it("writes the input of a call as an object, with all digits of its numbers", () => {
    const [block] = Object(contentOf([call('{"id":12345678901234567890}')]));
    assert.equal(JSON.stringify(block), '{"type":"tool_use","id":"a","name":"f","input":{"id":12345678901234567890}}');
    assert.deepEqual(contentOf([call("")]), [{ type: "tool_use", id: "a", name: "f", input: {} }]);
  });
  it("writes sources with their text", () => {
    const cited: ReplyBlock = {
      kind: "text",
      text: "a",
      citations: [{ url: "u", title: "t", citedText: "c" }],
      logprobs: [],
      states: [],
    };
    assert.deepEqual(contentOf([cited]), [
      {
        type: "text",
        text: "a",
        citations: [
          { type: "web_search_result_location", cited_text: "c", encrypted_index: "tg1.", title: "t", url: "u" },
        ],
      },
    ]);
  });
  it("writes thinking only for a client that asked for it", () => {
    const thought: ReplyBlock = { kind: "reasoning", text: "T", states: [] };
    const [block] = Object(contentOf([thought]));
    assert.deepEqual([block.type, block.thinking, block.signature.startsWith("tg1.")], ["thinking", "T", true]);
    assert.deepEqual(contentOf([thought, text("a")], replyContext({ conversation: conversation() })), [
      { type: "text", text: "a" },
    ]);
  });
});

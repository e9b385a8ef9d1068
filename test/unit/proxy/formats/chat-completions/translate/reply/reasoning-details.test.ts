import assert from "node:assert/strict";
import { chatCompletionsUpstreamTranslator } from "#proxy/formats/chat-completions/translate/upstream-translator";
import type { JsonObject } from "#proxy/json/json-value";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import type { ReplyBlock } from "#proxy/neutral/reply";
import { CallStates, callStatesDefaults } from "#proxy/neutral/state/call-states";
import { createStateKeeper } from "#proxy/neutral/state/state-keeper";
import { chunk, opening, read } from "#test/support/translation/chat-chunks";
import { readChunks, writtenRequest } from "#test/support/translation/chat-exchange";
import { readBody, replyContext, writeWhole } from "#test/support/translation/messages-exchange";

const format = "anthropic-claude-v1";
const detail = (more: object): object => ({ type: "reasoning.text", format, index: 0, ...more });
const encrypted = { type: "reasoning.encrypted", data: "ENC", id: "rs_1", index: 0 };
const block = { type: "thinking", thinking: "T", signature: "SIG" };

/** Text and state of thinking, and the kinds of everything else. */
function facts(blocks: readonly ReplyBlock[] | undefined): unknown[] {
  return (blocks ?? []).map((it) => (it.kind === "reasoning" ? [it.text, ...it.states] : it.kind));
}

function blocksOf(message: object): readonly ReplyBlock[] | undefined {
  const body = { choices: [{ index: 0, message, finish_reason: "stop" }] };
  return chatCompletionsUpstreamTranslator.readReply(body).candidates[0]?.blocks;
}

const kept = (member: string, ...entries: object[]): object => ({ kind: "reasoning-details", member, entries });

describe("thinking in typed lists of a chat upstream", () => {
  for (const row of [
    {
      name: "OpenRouter's, with the text beside it",
      message: { reasoning: "T", reasoning_details: [detail({ text: "T", signature: "SIG" })] },
      want: ["T", kept("reasoning_details", detail({ text: "T", signature: "SIG" }))],
    },
    {
      name: "encrypted data without any text",
      message: { reasoning: null, reasoning_details: [encrypted] },
      want: ["", kept("reasoning_details", encrypted)],
    },
    {
      name: "a summary that stands in the list alone",
      message: { reasoning_details: [{ type: "reasoning.summary", summary: "S", index: 0 }, encrypted] },
      want: ["S", kept("reasoning_details", { type: "reasoning.summary", summary: "S", index: 0 }, encrypted)],
    },
    {
      name: "Anthropic's blocks, with the text beside them",
      message: { reasoning_content: "T", thinking_blocks: [block, { type: "redacted_thinking", data: "R" }] },
      want: ["T", kept("thinking_blocks", block, { type: "redacted_thinking", data: "R" })],
    },
    {
      name: "text without state, which comes back as text",
      message: { reasoning: "T", reasoning_details: [detail({ text: "T" })] },
      want: ["T", { kind: "reasoning-text", member: "reasoning", text: "T" }],
    },
  ]) {
    it(`reads ${row.name}`, () => {
      assert.deepEqual(facts(blocksOf({ content: "hi", ...row.message })), [row.want, "text"]);
    });
  }

  it("puts the pieces of a stream together, by their index", () => {
    const events = readChunks([
      chunk({ content: "", reasoning: "a", reasoning_details: [detail({ text: "a" })] }),
      chunk({ content: "", reasoning: "b", reasoning_details: [detail({ text: "b" })] }),
      chunk({ content: "", reasoning_details: [detail({ signature: "SIG" })] }),
      chunk(opening(0, "c", "f", "{}"), "tool_calls"),
    ]);
    assert.deepEqual(facts(aggregateReply(events).candidates[0]?.blocks), [
      ["ab", kept("reasoning_details", detail({ text: "ab", signature: "SIG" }))],
      "call",
    ]);
  });

  it("puts blocks together that have no index: a signature ends one", () => {
    const events = readChunks([
      chunk({ reasoning_content: "T", thinking_blocks: [{ ...block, signature: null }] }),
      chunk({ reasoning_content: "", thinking_blocks: [{ type: "thinking", thinking: "", signature: "SIG" }] }),
      chunk({ reasoning_content: "T", thinking_blocks: [block] }),
      chunk({ content: "hi" }, "stop"),
    ]);
    assert.deepEqual(facts(aggregateReply(events).candidates[0]?.blocks), [
      ["TT", kept("thinking_blocks", block, block)],
      "text",
    ]);
  });

  it("gives state that comes behind other text a part of its own", () => {
    assert.deepEqual(
      read(chunk({ content: "hi" }), chunk({ reasoning_details: [encrypted] }), chunk({}, "stop")).slice(1),
      [
        ...["open 0 text", "0: hi", "close 0"],
        ...["open 1 reasoning", "state 1 reasoning-details", "close 1", "finish stop", "end"],
      ],
    );
  });

  it("gives the list back to the channel that sent it, as it was, and to no other", () => {
    const calls = new CallStates({ ...callStatesDefaults, clock: () => 0 });
    const keeper = (channel: string) =>
      createStateKeeper(
        { channel, secrets: () => [channel], format: "ChatCompletions", key: "ns/app", mayRemember: true },
        calls,
      );
    const reasoning_details = [detail({ text: "T", signature: "SIG" })];
    const message = {
      content: null,
      reasoning: "T",
      reasoning_details,
      tool_calls: [{ id: "call_a", type: "function", function: { name: "f", arguments: "{}" } }],
    };
    const reply = chatCompletionsUpstreamTranslator.readReply({
      choices: [{ index: 0, message, finish_reason: "tool_calls" }],
    });
    const { content } = writeWhole(reply, replyContext({ states: keeper("ns/a") }));
    const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "call_a", content: "1" }] };
    const messages = [{ role: "user", content: "hi" }, { role: "assistant", content }, result];
    const next = readBody({ messages: JSON.parse(JSON.stringify(messages)) });
    const sentTo = (channel: string): JsonObject =>
      Object(writtenRequest(next, { states: keeper(channel) }).body["messages"])[1];
    assert.deepEqual(sentTo("ns/a")["reasoning_details"], reasoning_details);
    assert.equal(sentTo("ns/b")["reasoning_details"], undefined);
  });
});

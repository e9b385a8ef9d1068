import assert from "node:assert/strict";
import { writeFinish } from "#proxy/formats/chat-completions/translate/reply/finish-reason";
import { writeUsage } from "#proxy/formats/chat-completions/translate/reply/write-usage";
import { chatCompletionsUpstreamTranslator } from "#proxy/formats/chat-completions/translate/upstream-translator";
import type { Candidate, Finish, Reply, ReplyBlock } from "#proxy/neutral/reply";
import { zeroUsage } from "#proxy/settle/usage";
import { replyContext, writeWhole } from "#test/support/translation/chat-exchange";
import { OpenStates } from "#test/support/translation/exchange";

const text = (value: string, more: object = {}): ReplyBlock => ({
  kind: "text",
  text: value,
  citations: [],
  logprobs: [],
  states: [],
  ...more,
});
const call = (id: string | undefined, args = "{}", more: object = {}): ReplyBlock => ({
  kind: "call",
  id,
  name: "f",
  tool: "function",
  arguments: args,
  states: [],
  ...more,
});

function replyOf(blocks: readonly ReplyBlock[], reason: Finish["reason"] = "stop", more: Partial<Reply> = {}): Reply {
  const candidates: Candidate[] = [{ blocks, finish: { reason } }];
  return { id: "up", model: "up", candidates, usage: undefined, ...more };
}

function messageOf(blocks: readonly ReplyBlock[], context = replyContext()): Readonly<Record<string, unknown>> {
  return Object(writeWhole(replyOf(blocks), context))["choices"][0].message;
}

describe("writeReply()", () => {
  it("has the client's model, our id and seconds, whatever the upstream said", () => {
    const { id, model, created, object } = writeWhole(replyOf([text("a")]));
    assert.deepEqual([id, model, created, object], ["chatcmpl-1", "m", 1_790_000_000, "chat.completion"]);
  });

  it("has the keys of content and refusal, and no list of calls where there are none", () => {
    assert.deepEqual(messageOf([]), { role: "assistant", content: null, refusal: null });
    assert.deepEqual(messageOf([text("a"), text("b")]), { role: "assistant", content: "ab", refusal: null });
    const refused: ReplyBlock = { kind: "refusal", text: "no", states: [] };
    assert.deepEqual(messageOf([refused]), { role: "assistant", content: null, refusal: "no" });
  });

  it("pitfall 39: keeps all text in its order", () => {
    assert.equal(messageOf([text("1"), call("a"), text("2")])["content"], "12");
  });

  it("leaves usage out that never came", () => assert.ok(!("usage" in writeWhole(replyOf([])))));

  it("pitfall 28: writes empty arguments as an object, and gives ids that are missing", () => {
    assert.deepEqual(messageOf([call(undefined, "")])["tool_calls"], [
      { id: "call_2", type: "function", function: { name: "f", arguments: "{}" } },
    ]);
  });

  it("writes calls of custom tools with their text", () => {
    assert.deepEqual(messageOf([call("a", "select", { tool: "custom" })])["tool_calls"], [
      { id: "a", type: "custom", custom: { name: "f", input: "select" } },
    ]);
  });

  it("tells of files that it has no place for, and moves the offsets behind them (11.4)", () => {
    const video = { kind: "media", mime: "video/mp4", url: "https://a.example/v" } as const;
    const cited = text("seen", { citations: [{ url: "u" }] });
    const message = messageOf([video, cited]);
    assert.equal(message["content"], "[video omitted]seen");
    assert.deepEqual(message["annotations"], [
      { type: "url_citation", url_citation: { start_index: 15, end_index: 19, title: "", url: "u" } },
    ]);
  });

  it("writes the older functions in their form", () => {
    const reply = replyOf([call("a", '{"x":1}')], "tool-calls");
    const [choice] = Object(writeWhole(reply, replyContext({ functions: [{ name: "f" }] })))["choices"];
    assert.deepEqual(choice.message.function_call, { name: "f", arguments: '{"x":1}' });
    assert.equal(choice.message.tool_calls, undefined);
    assert.equal(choice.finish_reason, "function_call");
  });

  it("moves the offsets of sources to the joined content", () => {
    const cited = text("second", {
      citations: [
        { url: "u", start: 0, end: 6 },
        { url: "v", title: "V" },
      ],
    });
    const note = (url: string, title: string) => ({
      type: "url_citation",
      url_citation: { start_index: 5, end_index: 11, title, url },
    });
    assert.deepEqual(messageOf([text("first"), cited])["annotations"], [note("u", ""), note("v", "V")]);
  });

  it("joins probabilities, and says null where there are none", () => {
    const logprobs = [{ token: "a", logprob: -1, bytes: [97], top: [{ token: "b", logprob: -2 }] }];
    const [choice] = Object(writeWhole(replyOf([text("a", { logprobs })])))["choices"];
    const top_logprobs = [{ token: "b", logprob: -2, bytes: [98] }];
    assert.deepEqual(choice.logprobs, {
      content: [{ token: "a", logprob: -1, bytes: [97], top_logprobs }],
      refusal: null,
    });
    assert.equal(Object(writeWhole(replyOf([text("a")])))["choices"][0].logprobs, null);
  });

  it("counts candidates as choices", () => {
    const candidates: Candidate[] = ["a", "b"].map((value) => ({ blocks: [text(value)], finish: { reason: "stop" } }));
    const choices = Object(writeWhole(replyOf([], "stop", { candidates })))["choices"];
    assert.deepEqual(
      choices.map(({ index, message }: { index: number; message: { content: string } }) => [index, message.content]),
      [
        [0, "a"],
        [1, "b"],
      ],
    );
  });

  it("pitfall 33: keeps signed thinking for the call that follows, and shows no signature", () => {
    const states = new OpenStates();
    const thinking = { kind: "thinking", text: "T", signature: "SIG" } as const;
    const redacted = { kind: "redacted-thinking", data: "DATA" } as const;
    const message = messageOf(
      [{ kind: "reasoning", text: "T", states: [thinking, redacted] }, call("a"), call("b")],
      replyContext({}, { states }),
    );
    assert.deepEqual([...states.remembered], [["a", [thinking, redacted]]]);
    assert.equal(message["reasoning_content"], "T");
    assert.ok(!/SIG|DATA/.test(JSON.stringify(message)));
  });

  it("pitfall 133: sends the signature of a call sealed where Google's clients look", () => {
    const states = new OpenStates();
    const signature = { kind: "thought-signature", data: "TSIG" } as const;
    const message = messageOf([call("a", "{}", { states: [signature] })], replyContext({}, { states }));
    const extra_content = { google: { thought_signature: states.seal([signature]) } };
    assert.deepEqual(message["tool_calls"], [
      { id: "a", type: "function", function: { name: "f", arguments: "{}" }, extra_content },
    ]);
    assert.deepEqual([...states.remembered], [["a", [signature]]]);
  });
});

describe("writeFinish()", () => {
  for (const [reason, want] of [
    ["stop", "stop"],
    ["stop-sequence", "stop"],
    ["length", "length"],
    ["context", "length"],
    ["tool-calls", "tool_calls"],
    ["content-filter", "content_filter"],
    ["refusal", "stop"],
    ["pause", "stop"],
    ["malformed-call", "stop"],
    ["other", "stop"],
  ] as const) {
    it(`pitfall 126: says ${reason} as ${want}`, () => assert.equal(writeFinish({ reason }, false), want));
  }
});

describe("writeUsage()", () => {
  it("pitfall 119: counts cached and written tokens into the prompt once", () => {
    assert.deepEqual(
      writeUsage({ ...zeroUsage, input: 10, cacheRead: 90, cacheWrite: 3, cacheWrite1h: 2, output: 7 }),
      {
        prompt_tokens: 105,
        completion_tokens: 7,
        total_tokens: 112,
        prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    );
  });

  it("pitfall 121: counts thinking into the completion", () => {
    const { completion_tokens, completion_tokens_details } = writeUsage({ ...zeroUsage, output: 20, reasoning: 30 });
    assert.deepEqual([completion_tokens, completion_tokens_details], [50, { reasoning_tokens: 30 }]);
  });

  it("names sounds and pictures where there were some", () => {
    const { prompt_tokens, prompt_tokens_details, completion_tokens_details } = writeUsage({
      ...zeroUsage,
      input: 1,
      audioInput: 2,
      imageInput: 3,
      audioOutput: 4,
    });
    assert.equal(prompt_tokens, 6);
    assert.deepEqual(prompt_tokens_details, {
      cached_tokens: 0,
      cache_write_tokens: 0,
      audio_tokens: 2,
      image_tokens: 3,
    });
    assert.deepEqual(completion_tokens_details, { reasoning_tokens: 0, audio_tokens: 4 });
  });

  it("is read back as it was", () => {
    const usage = {
      ...zeroUsage,
      input: 1,
      cacheRead: 2,
      cacheWrite: 3,
      output: 4,
      reasoning: 5,
      audioInput: 6,
      imageOutput: 7,
    };
    const choices = [{ index: 0, message: { content: "a" }, finish_reason: "stop" }];
    assert.deepEqual(chatCompletionsUpstreamTranslator.readReply({ choices, usage: writeUsage(usage) }).usage, usage);
  });
});

import assert from "node:assert/strict";
import { readUsage as readChat } from "#proxy/formats/chat-completions/native/read-usage";
import { readUsage as readGemini } from "#proxy/formats/generate-content/native/read-usage";
import { mergeUsage, readUsage as readMessages } from "#proxy/formats/messages/native/read-usage";
import { readUsage as readResponse } from "#proxy/formats/responses/native/read-usage";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";

const rows: readonly { name: string; read: () => TokenUsage | undefined; want: Partial<TokenUsage> | undefined }[] = [
  {
    name: "chat: cached, written and reasoning tokens stand apart",
    read: () =>
      readChat({
        prompt_tokens: 105,
        completion_tokens: 37,
        prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 20 },
      }),
    want: { input: 10, cacheRead: 90, cacheWrite: 5, output: 17, reasoning: 20 },
  },
  {
    name: "chat: audio and images stand apart",
    read: () =>
      readChat({
        prompt_tokens: 10,
        completion_tokens: 10,
        prompt_tokens_details: { audio_tokens: 3, image_tokens: 2 },
        completion_tokens_details: { audio_tokens: 4 },
      }),
    want: { input: 5, audioInput: 3, imageInput: 2, output: 6, audioOutput: 4 },
  },
  {
    name: "chat: reasoning outside of completion is added where the total says so",
    read: () =>
      readChat({
        prompt_tokens: 10,
        completion_tokens: 2,
        total_tokens: 32,
        completion_tokens_details: { reasoning_tokens: 20 },
      }),
    want: { input: 10, output: 2, reasoning: 20 },
  },
  {
    name: "chat: details that exceed the whole are bounded",
    read: () =>
      readChat({
        prompt_tokens: 5,
        completion_tokens: 3,
        prompt_tokens_details: { cached_tokens: 9 },
        completion_tokens_details: { reasoning_tokens: 8 },
      }),
    want: { cacheRead: 5, reasoning: 3 },
  },
  {
    name: "chat: null details count nothing",
    read: () =>
      readChat({
        prompt_tokens: 5,
        completion_tokens: 3,
        prompt_tokens_details: null,
        completion_tokens_details: { reasoning_tokens: null },
      }),
    want: { input: 5, output: 3 },
  },
  {
    name: "chat: DeepSeek's cache member counts",
    read: () => readChat({ prompt_tokens: 5, completion_tokens: 3, prompt_cache_hit_tokens: 4 }),
    want: { input: 1, cacheRead: 4, output: 3 },
  },
  {
    name: "pitfall 157: chat: the first place that tells something counts",
    read: () =>
      readChat({
        prompt_tokens: 9,
        completion_tokens: 3,
        cached_tokens: 4,
        prompt_tokens_details: { cached_tokens: 0 },
      }),
    want: { input: 5, cacheRead: 4, output: 3 },
  },
  {
    name: "pitfall 157: chat: hits and misses are a prompt",
    read: () => readChat({ completion_tokens: 3, prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 2 }),
    want: { input: 2, cacheRead: 4, output: 3 },
  },
  {
    name: "pitfall 157: chat: what was written is told apart by its time",
    read: () =>
      readChat({
        prompt_tokens: 20,
        completion_tokens: 3,
        prompt_tokens_details: {
          cache_creation_input_tokens: 9,
          cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 7 },
        },
      }),
    want: { input: 11, cacheWrite: 2, cacheWrite1h: 7, output: 3 },
  },
  {
    name: "pitfall 157: chat: Anthropic's names beside a prompt are among it",
    read: () =>
      readChat({
        prompt_tokens: 20,
        completion_tokens: 3,
        cache_read_input_tokens: 5,
        cache_creation_input_tokens: 4,
      }),
    want: { input: 11, cacheRead: 5, cacheWrite: 4, output: 3 },
  },
  {
    name: "pitfall 157: chat: Anthropic's names alone stand beside their input",
    read: () =>
      readChat({ input_tokens: 11, output_tokens: 3, cache_read_input_tokens: 5, cache_creation_input_tokens: 4 }),
    want: { input: 11, cacheRead: 5, cacheWrite: 4, output: 3 },
  },
  {
    name: "pitfall 157: chat: reasoning at the top is among the completion",
    read: () => readChat({ prompt_tokens: 5, completion_tokens: 9, total_tokens: 14, reasoning_tokens: 4 }),
    want: { input: 5, output: 5, reasoning: 4 },
  },
  {
    name: "pitfall 157: chat: research reasons beside its completion, and searches",
    read: () =>
      readChat({
        prompt_tokens: 5,
        completion_tokens: 9,
        total_tokens: 14,
        reasoning_tokens: 40,
        num_search_queries: 3,
      }),
    want: { input: 5, output: 9, reasoning: 40, searches: 3 },
  },
  {
    name: "chat: negative counts are nothing",
    read: () => readChat({ prompt_tokens: -5, completion_tokens: -3 }),
    want: {},
  },
  {
    name: "chat: digits in text count, other text does not",
    read: () => readChat({ prompt_tokens: "5", completion_tokens: "many" }),
    want: { input: 5 },
  },
  {
    name: "chat: nonsense sizes are bounded",
    read: () => readChat({ prompt_tokens: 1e300, completion_tokens: 1 }),
    want: { input: 1e12, output: 1 },
  },
  { name: "chat: null is no usage", read: () => readChat(null), want: undefined },
  { name: "chat: an empty object is no usage", read: () => readChat({}), want: undefined },
  {
    name: "responses: cached and reasoning tokens stand apart, searches are counted",
    read: () =>
      readResponse({
        output: [{ type: "web_search_call" }, { type: "message" }],
        usage: {
          input_tokens: 10,
          output_tokens: 5,
          input_tokens_details: { cached_tokens: 4 },
          output_tokens_details: { reasoning_tokens: 2 },
        },
      }),
    want: { input: 6, cacheRead: 4, output: 3, reasoning: 2, searches: 1 },
  },
  { name: "responses: usage null is no usage", read: () => readResponse({ usage: null }), want: undefined },
  {
    name: "messages: input excludes both caches",
    read: () =>
      readMessages({
        input_tokens: 10,
        cache_creation_input_tokens: 5,
        cache_read_input_tokens: 90,
        output_tokens: 37,
      }),
    want: { input: 10, cacheRead: 90, cacheWrite: 5, output: 37 },
  },
  {
    name: "messages: one-hour writes stand apart",
    read: () =>
      readMessages({
        input_tokens: 1,
        output_tokens: 1,
        cache_creation_input_tokens: 9,
        cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 7 },
      }),
    want: { input: 1, output: 1, cacheWrite: 2, cacheWrite1h: 7 },
  },
  {
    name: "messages: thinking and searches are read",
    read: () =>
      readMessages({
        input_tokens: 1,
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 4 },
        server_tool_use: { web_search_requests: 3 },
      }),
    want: { input: 1, output: 5, reasoning: 4, searches: 3 },
  },
  {
    name: "messages: later numbers replace earlier ones",
    read: () =>
      readMessages(mergeUsage({ input_tokens: 25, output_tokens: 1 }, { input_tokens: 30, output_tokens: 12 })),
    want: { input: 30, output: 12 },
  },
  {
    name: "messages: a zero prompt does not take back a good one, its output counts",
    read: () =>
      readMessages(
        mergeUsage(
          { input_tokens: 25, cache_read_input_tokens: 3, output_tokens: 1 },
          { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 12 },
        ),
      ),
    want: { input: 25, cacheRead: 3, output: 12 },
  },
  {
    name: "messages: a prompt that is stated anew takes its zeros along",
    read: () =>
      readMessages(
        mergeUsage(
          { input_tokens: 5, cache_read_input_tokens: 900, output_tokens: 1 },
          { input_tokens: 18, cache_read_input_tokens: 0, output_tokens: 2 },
        ),
      ),
    want: { input: 18, output: 2 },
  },
  {
    name: "messages: null says nothing",
    read: () =>
      readMessages(mergeUsage({ input_tokens: 25, output_tokens: 1 }, { input_tokens: null, output_tokens: 2 })),
    want: { input: 25, output: 2 },
  },
  {
    name: "gemini: thoughts are beside candidates, tool use beside the prompt",
    read: () =>
      readGemini({
        promptTokenCount: 10,
        toolUsePromptTokenCount: 5,
        cachedContentTokenCount: 4,
        candidatesTokenCount: 20,
        thoughtsTokenCount: 30,
      }),
    want: { input: 11, cacheRead: 4, output: 20, reasoning: 30 },
  },
  {
    name: "gemini: images and audio stand apart",
    read: () =>
      readGemini({
        promptTokenCount: 10,
        promptTokensDetails: [{ modality: "AUDIO", tokenCount: 6 }],
        candidatesTokenCount: 8,
        candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 7 }],
      }),
    want: { input: 4, audioInput: 6, output: 1, imageOutput: 7 },
  },
  {
    name: "gemini: audio from the cache is not counted twice",
    read: () =>
      readGemini({
        promptTokenCount: 10,
        cachedContentTokenCount: 6,
        promptTokensDetails: [{ modality: "AUDIO", tokenCount: 6 }],
        cacheTokensDetails: [{ modality: "AUDIO", tokenCount: 6 }],
      }),
    want: { input: 4, cacheRead: 6 },
  },
  {
    name: "gemini: a traffic type alone is no usage",
    read: () => readGemini({ trafficType: "ON_DEMAND" }),
    want: undefined,
  },
];

describe("mergeUsage", () => {
  it("reads nothing inherited from a member named __proto__", () => {
    const merged = mergeUsage(undefined, JSON.parse('{"input_tokens":1,"__proto__":{"output_tokens":7}}'));
    assert.equal(readMessages(merged)?.output, 0);
  });
});

describe("readUsage", () => {
  for (const row of rows) {
    it(row.name, () =>
      assert.deepEqual(row.read(), row.want === undefined ? undefined : { ...zeroUsage, ...row.want }),
    );
  }
});

/**
 * A chat client's conversation with tools and thinking over two turns, with upstreams of the three other formats: what
 * the provider signed in the first turn goes back to it in the second, and to nobody else.
 */
import assert from "node:assert/strict";
import { chatCompletionsClientTranslator } from "#proxy/formats/chat-completions/translate/client-translator";
import type { TranslationTarget } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import { Losses } from "#proxy/neutral/losses/losses";
import { replayReply } from "#proxy/neutral/replay-reply";
import { CallStates, callStatesDefaults } from "#proxy/neutral/state/call-states";
import type { StateKeeper } from "#proxy/neutral/state/keeper";
import { createStateKeeper } from "#proxy/neutral/state/state-keeper";
import { upstreamTranslators } from "#proxy/translate/translators";
import { conversationOf, replyContext, writeStream } from "#test/support/translation/chat-exchange";

const privacy = {
  store: "PassThrough",
  safetyIdentifier: "Strip",
  streamObfuscation: "Strip",
  clientMetadata: "Strip",
} as const;

interface Upstream {
  readonly format: "Messages" | "GenerateContent" | "Responses";
  readonly provider: TranslationTarget["channel"]["provider"];
  readonly model: string;
  /** Thinking "T", text "Hi", calls `f{}` (`call_a`) and `g{"x":1}` (`call_b`), and the provider's own state. */
  readonly answer: JsonObject;
  /** As the provider must see it again. */
  readonly state: RegExp;
}

const upstreams: readonly Upstream[] = [
  {
    format: "Messages",
    provider: "Anthropic",
    model: "claude-sonnet-4-6",
    answer: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "c",
      content: [
        { type: "thinking", thinking: "T", signature: "ANTHROPIC-STATE" },
        { type: "text", text: "Hi" },
        { type: "tool_use", id: "call_a", name: "f", input: {} },
        { type: "tool_use", id: "call_b", name: "g", input: { x: 1 } },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 37 },
    },
    state: /\{"type":"thinking","thinking":"T","signature":"ANTHROPIC-STATE"\}/,
  },
  {
    format: "GenerateContent",
    provider: "Gemini",
    model: "gemini-3-pro",
    answer: {
      candidates: [
        {
          index: 0,
          finishReason: "STOP",
          content: {
            role: "model",
            parts: [
              { text: "T", thought: true },
              { text: "Hi" },
              { functionCall: { id: "call_a", name: "f", args: {} }, thoughtSignature: "GOOGLE-STATE" },
              { functionCall: { id: "call_b", name: "g", args: { x: 1 } } },
            ],
          },
        },
      ],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 17, totalTokenCount: 27 },
    },
    state: /"name":"f","args":\{\}\},"thoughtSignature":"GOOGLE-STATE"/,
  },
  {
    format: "Responses",
    provider: "OpenAI",
    model: "gpt-5.2",
    answer: {
      id: "resp_1",
      object: "response",
      status: "completed",
      model: "m",
      output: [
        {
          type: "reasoning",
          id: "rs_1",
          summary: [{ type: "summary_text", text: "T" }],
          encrypted_content: "OPENAI-STATE",
        },
        {
          type: "message",
          id: "msg_1",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "Hi", annotations: [], logprobs: [] }],
        },
        { type: "function_call", id: "fc_1", call_id: "call_a", name: "f", arguments: "{}", status: "completed" },
        { type: "function_call", id: "fc_2", call_id: "call_b", name: "g", arguments: '{"x":1}', status: "completed" },
      ],
      usage: { input_tokens: 10, output_tokens: 37, total_tokens: 47 },
    },
    state: /"encrypted_content":"OPENAI-STATE"/,
  },
];

const first = {
  tools: ["f", "g"].map((name) => ({ type: "function", function: { name } })),
  reasoning_effort: "medium",
  max_completion_tokens: 20_000,
  messages: [{ role: "user", content: "look" }],
};

function keeperOf({ format }: Upstream, callStates: CallStates): StateKeeper {
  return createStateKeeper(
    { channel: `ns/${format}`, secrets: () => ["s"], format, key: "ns/key", mayRemember: true },
    callStates,
  );
}

function sentTo(upstream: Upstream, body: JsonObject, states: StateKeeper): string {
  const { provider, model: upstreamModel } = upstream;
  const target: TranslationTarget = {
    channel: { provider, baseURL: "https://api.example", privacy },
    upstreamModel,
    outputTokensMax: 64_000,
    states,
    fieldName: (field) => chatCompletionsClientTranslator.fieldNames[field],
  };
  return JSON.stringify(
    upstreamTranslators[upstream.format].writeRequest(conversationOf(body), target, new Losses("Ignore")).body,
  );
}

/** The assistant's message as a client keeps it, of a body or gathered of a stream. */
function messageOf(upstream: Upstream, states: StateKeeper, isStream: boolean): JsonObject {
  const reply = upstreamTranslators[upstream.format].readReply(upstream.answer);
  const context = replyContext(first, { states });
  if (!isStream) return Object(chatCompletionsClientTranslator.writeReply(reply, context))["choices"][0].message;
  writeStream(replayReply(reply), context);
  return Object(chatCompletionsClientTranslator.writeReply(reply, replyContext(first)))["choices"][0].message;
}

/** What most clients send back: nothing that the format's own page does not know. */
function plainMessage(message: JsonObject): JsonObject {
  return JSON.parse(
    JSON.stringify(message, (name, value) =>
      name === "extra_content" || name === "reasoning_content" ? undefined : value,
    ),
  );
}

function second(message: JsonObject): JsonObject {
  const results = ["call_a", "call_b"].map((tool_call_id) => ({ role: "tool", tool_call_id, content: "1" }));
  return { ...first, messages: [...first.messages, message, ...results] };
}

describe("chat completions clients over two turns", () => {
  for (const upstream of upstreams) {
    for (const isStream of [false, true]) {
      it(`pitfall 87: give ${upstream.format} its state back, ${isStream ? "streamed" : "whole"}, whatever they forget`, () => {
        const states = keeperOf(upstream, new CallStates({ ...callStatesDefaults, clock: () => 1 }));
        const message = messageOf(upstream, states, isStream);
        const sent = sentTo(upstream, second(plainMessage(message)), states);
        assert.match(sent, upstream.state);
        assert.equal(sent.split("-STATE").length, 2, "the state is sent once");
      });
    }

    it(`pitfall 91: give the state of ${upstream.format} to no other provider`, () => {
      const callStates = new CallStates({ ...callStatesDefaults, clock: () => 1 });
      const message = messageOf(upstream, keeperOf(upstream, callStates), false);
      for (const other of upstreams.filter((candidate) => candidate !== upstream)) {
        const sent = sentTo(other, second(message), keeperOf(other, callStates));
        assert.doesNotMatch(sent, /-STATE|tg1\./, other.format);
        assert.match(sent, /Hi/);
      }
    });
  }

  it("pitfall 133: give Google its state back although this process forgot, when they keep what they do not know", () => {
    const [, google] = upstreams;
    assert.ok(google !== undefined);
    const fresh = () => keeperOf(google, new CallStates({ ...callStatesDefaults, clock: () => 1 }));
    const message = messageOf(google, fresh(), false);
    assert.match(sentTo(google, second(message), fresh()), google.state);
    assert.doesNotMatch(sentTo(google, second(plainMessage(message)), fresh()), /GOOGLE-STATE/);
  });
});

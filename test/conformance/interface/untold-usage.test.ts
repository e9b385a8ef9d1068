/** pitfall 161: clients that are told usage in any case are told what is billed, where their upstream told none. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { inputTokens, outputTokens } from "#proxy/settle/usage";
import { useTranslationRig } from "#test/support/conformance/translation-rig";

const text = "The quick brown fox. ".repeat(100);
/** 5 tokens a sentence. */
const textTokens = 500;

type Json = Record<string, unknown>;

const sse = { "content-type": "text/event-stream" };
const dataOf = (events: readonly object[]): string => events.map((it) => `data: ${JSON.stringify(it)}\n\n`).join("");
const namedOf = (events: readonly Json[]): string =>
  events.map((it) => `event: ${String(it["type"])}\ndata: ${JSON.stringify(it)}\n\n`).join("");

/** Answers whose usage is `usage` in the format's own words; undefined: none. */
const upstreams = {
  "openai-chat": {
    zero: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    whole: (usage?: object) => ({
      id: "c",
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
      usage,
    }),
    stream: (usage?: object) =>
      `${dataOf([
        {
          id: "c",
          object: "chat.completion.chunk",
          choices: [{ index: 0, delta: { content: text }, finish_reason: null }],
        },
        { id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
        ...(usage === undefined ? [] : [{ id: "c", object: "chat.completion.chunk", choices: [], usage }]),
      ])}data: [DONE]\n\n`,
  },
  gemini: {
    zero: { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 },
    whole: (usageMetadata?: object) => ({
      candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, finishReason: "STOP" }],
      usageMetadata,
    }),
    stream: (usageMetadata?: object) =>
      dataOf([
        { candidates: [{ index: 0, content: { role: "model", parts: [{ text }] } }] },
        {
          candidates: [{ index: 0, content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP" }],
          usageMetadata,
        },
      ]),
  },
  "anthropic-messages": {
    zero: { input_tokens: 0, output_tokens: 0 },
    whole: (usage?: object) => ({
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      stop_reason: "end_turn",
      content: [{ type: "text", text }],
      usage,
    }),
    stream: (usage?: object) =>
      namedOf([
        {
          type: "message_start",
          message: { id: "m", type: "message", role: "assistant", model: "m", content: [], usage },
        },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
        { type: "message_stop" },
      ]),
  },
  "openai-responses": {
    zero: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
    whole: (usage?: object) => ({ ...response, status: "completed", output: [item], usage }),
    stream: (usage?: object) =>
      namedOf([
        { type: "response.created", sequence_number: 0, response: { ...response, status: "in_progress", output: [] } },
        { type: "response.output_item.added", sequence_number: 1, output_index: 0, item: { ...item, content: [] } },
        {
          type: "response.output_text.delta",
          sequence_number: 2,
          output_index: 0,
          content_index: 0,
          item_id: "o",
          delta: text,
        },
        { type: "response.output_item.done", sequence_number: 3, output_index: 0, item },
        {
          type: "response.completed",
          sequence_number: 4,
          response: { ...response, status: "completed", output: [item], usage },
        },
      ]),
  },
} as const;

const response = { id: "r", object: "response", model: "m" };
const item = {
  type: "message",
  id: "o",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
};

describe("pitfall 161: an upstream that tells no usage", () => {
  const rig = useTranslationRig();

  for (const from of ["anthropic-messages", "openai-responses"] as const) {
    for (const to of ["openai-chat", "gemini", "anthropic-messages", "openai-responses"] as const) {
      if (from === to) continue;
      for (const stream of [false, true]) {
        for (const isStreamedUpstream of [false, true]) {
          for (const told of ["nothing", "zeros"] as const) {
            const how = `${stream ? "streamed, " : ""}${isStreamedUpstream ? "of events" : "of a body"}`;
            it(`${from} of ${to}, ${how}: ${told} is told as what is billed`, async () => {
              const { zero, whole, stream: streamed } = upstreams[to];
              const usage = told === "zeros" ? zero : undefined;
              rig().upstream.replyWith(
                isStreamedUpstream ? { headers: sse, body: streamed(usage) } : { body: JSON.stringify(whole(usage)) },
              );
              const answer = await rig().call(from, to, stream);
              assert.equal(answer.status, 200, answer.body.toString());
              const record = await rig().gateway.recordOf(String(answer.headers["x-request-id"]));
              const billed = record.usage;
              assert.ok(billed !== undefined && record.isEstimated);
              assert.ok(Math.abs(outputTokens(billed) / textTokens - 1) < 0.05, `${outputTokens(billed)} tokens`);
              const said = Object(usageTold(answer.body.toString(), stream));
              assert.deepEqual([said.input_tokens, said.output_tokens], [inputTokens(billed), outputTokens(billed)]);
              if (from === "openai-responses") {
                assert.equal(said.total_tokens, inputTokens(billed) + outputTokens(billed));
                assert.equal(typeof said.input_tokens_details.cached_tokens, "number");
                assert.equal(typeof said.output_tokens_details.reasoning_tokens, "number");
              }
            });
          }
        }
      }
    }
  }

  it("tells chat and Gemini clients none, as before", async () => {
    rig().upstream.replyWith({ body: JSON.stringify(upstreams["openai-chat"].whole()) });
    const gemini = await rig().call("gemini", "openai-chat", false);
    assert.equal(JSON.parse(gemini.body.toString()).usageMetadata, undefined);
    rig().upstream.replyWith({ body: JSON.stringify(upstreams.gemini.whole()) });
    const chat = await rig().call("openai-chat", "gemini", false);
    assert.equal(JSON.parse(chat.body.toString()).usage, undefined);
  });
});

/** Of the body, or of the last event that holds any. */
function usageTold(text: string, stream: boolean): unknown {
  if (!stream) return JSON.parse(text).usage;
  const events: Json[] = text
    .split("\n")
    .flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []));
  return events.map((event) => event["usage"] ?? Object(event["response"]).usage).findLast((usage) => usage);
}

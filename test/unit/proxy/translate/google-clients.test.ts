/** What clients of generateContent say and expect since Google's third generation, at upstreams of other formats. */
import assert from "node:assert/strict";
import { generateContentClientTranslator } from "#proxy/formats/generate-content/translate/client-translator";
import type { JsonObject } from "#proxy/json/json-value";
import { replayReply } from "#proxy/neutral/replay-reply";
import type { Reply } from "#proxy/neutral/reply";
import { answerOf, sendTo, smallestCalls, streamOf } from "#test/support/translation/pure-translation";
import {
  contextOf,
  framesOf,
  streamOf as writtenStream,
} from "#test/unit/proxy/formats/generate-content/translate/replay";

const upstreams = ["ChatCompletions", "Responses", "Messages"] as const;

const call = (id: string) => ({ kind: "call", id, name: "f", tool: "function", arguments: "{}", states: [] }) as const;
const reply: Reply = {
  id: "r",
  model: "m",
  candidates: [{ blocks: [call("a"), call("b")], finish: { reason: "tool-calls" } }],
  usage: undefined,
};

function signaturesOf(model: string): readonly string[][] {
  const context = () => ({ ...contextOf(), conversation: { ...contextOf().conversation, model } });
  const whole = generateContentClientTranslator.writeReply(reply, context());
  const frames = framesOf(writtenStream(replayReply(reply), context()));
  return [[whole], frames].map((objects) =>
    objects
      .flatMap((it) => Object(it["candidates"])[0].content.parts)
      .flatMap((part: JsonObject) =>
        part["functionCall"] === undefined ? [] : [String(part["thoughtSignature"] ?? "")],
      ),
  );
}

describe("clients of generateContent", () => {
  it("pitfall 173: find the first call of a reply signed where the model that they named signs", () => {
    for (const model of ["gemini-3-pro-preview", "models/gemini-3.5-flash", "gemini-flash-latest"]) {
      for (const [first = "", second] of signaturesOf(model)) {
        // Readers decode it by the plain alphabet.
        assert.match(first, /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/);
        assert.equal(second, "");
        assertNobodysState(first);
      }
    }
    for (const model of ["gemini-2.5-pro", "gemini-2.0-flash", "gpt-5.4", "claude-sonnet-4-6"]) {
      assert.deepEqual(signaturesOf(model), [
        ["", ""],
        ["", ""],
      ]);
    }
  });

  const history = {
    contents: [
      { role: "user", parts: [{ text: "hi" }] },
      {
        role: "model",
        parts: [
          { toolCall: { toolType: "GOOGLE_SEARCH_WEB", id: "s", args: { queries: ["q"] } }, thoughtSignature: "U0lH" },
          { tool_response: { tool_type: "GOOGLE_SEARCH_WEB", id: "s", response: {} } },
          { functionCall: { id: "f1", name: "f", args: {} }, thoughtSignature: "U0lH" },
        ],
      },
      { role: "user", parts: [{ functionResponse: { id: "f1", name: "f", response: { output: "ok" } } }] },
    ],
    tools: [{ functionDeclarations: [{ name: "f" }] }],
    toolConfig: { includeServerSideToolInvocations: true },
  };
  for (const to of upstreams) {
    it(`pitfall 152: may bring what Google's tools did, which is named and not sent: ${to}`, () => {
      const sent = Object(sendTo(to, "GenerateContent", history));
      assert.deepEqual(sent.dropped, [
        "toolConfig.includeServerSideToolInvocations",
        "contents[1].parts[0].toolCall",
        "contents[1].parts[1].toolResponse",
      ]);
      assert.ok(!JSON.stringify(sent.body).includes("GOOGLE_SEARCH_WEB"));
    });
  }

  for (const [reason, finishes] of [
    ["TOO_MANY_TOOL_CALLS", ["stop", "completed", "end_turn"]],
    ["MALFORMED_RESPONSE", ["stop", "completed", "end_turn"]],
    // Half a reply, which never looks whole.
    ["CONTINUATION", ["length", "incomplete", "pause_turn"]],
  ] as const) {
    it(`a reply that ends with ${reason} is one for other clients`, () => {
      const google = { candidates: [{ content: { role: "model", parts: [{ text: "a" }] }, finishReason: reason }] };
      const [chat, responses, messages] = upstreams.map((client) =>
        Object(answerOf("GenerateContent", client, smallestCalls[client], google)),
      );
      assert.deepEqual([chat.choices[0].finish_reason, responses.status, messages.stop_reason], finishes);
      const [chatStream = "", responsesStream = "", messagesStream = ""] = upstreams.map((client) =>
        streamOf("GenerateContent", client, smallestCalls[client], `data: ${JSON.stringify(google)}\n\n`),
      );
      assert.match(chatStream, new RegExp(`"finish_reason":"${finishes[0]}"`));
      assert.match(responsesStream, new RegExp(`event: response\\.${finishes[1]}\n`));
      assert.match(messagesStream, new RegExp(`"stop_reason":"${finishes[2]}"`));
    });
  }
});

describe("a reply of Google's with more to say", () => {
  it("waits for the result of its call before it goes on", () => {
    const parts = [{ functionCall: { id: "f1", name: "f", args: {} } }];
    const google = { candidates: [{ content: { role: "model", parts }, finishReason: "CONTINUATION" }] };
    const [chat, responses, messages] = upstreams.map((client) =>
      Object(answerOf("GenerateContent", client, smallestCalls[client], google)),
    );
    assert.deepEqual(
      [chat.choices[0].finish_reason, responses.status, messages.stop_reason],
      ["tool_calls", "completed", "tool_use"],
    );
  });
});

/** Other formats' upstreams get none of it, and Google what it documents for calls of others. */
function assertNobodysState(thoughtSignature: string): void {
  const called = { functionCall: { id: "a", name: "f", args: {} }, thoughtSignature };
  const contents = [
    { role: "user", parts: [{ text: "hi" }] },
    { role: "model", parts: [called] },
    { role: "user", parts: [{ functionResponse: { id: "a", name: "f", response: {} } }] },
  ];
  const native = Object(generateContentClientTranslator.removeSealedState({ contents }));
  assert.equal(native.contents[1].parts[0].thoughtSignature, "skip_thought_signature_validator");
  for (const to of upstreams) {
    assert.ok(!JSON.stringify(sendTo(to, "GenerateContent", { contents })).includes(thoughtSignature));
  }
}

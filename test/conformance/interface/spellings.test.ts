/**
 * The interface's own spellings (docs/design/interface.md 2.1, 2.4, 2.6) arrive as the provider takes them, and the
 * gateway's own numbers of a key's limits go back in the dialect of each protocol (docs/design/errors.md 3).
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useCapture } from "#test/support/conformance/capture";
import { type ChatCallForm, callForms } from "#test/support/conformance/chat-calls";
import { channelManifest, keyManifest, routeManifest } from "#test/support/conformance/manifests";

type Format = ChatCallForm["format"];
const formOf = (format: Format): ChatCallForm =>
  callForms.find((form) => form.format === format) ?? assert.fail(format);

const hi = [{ role: "user", parts: [{ text: "hi" }] }];
const declared = { functionDeclarations: [{ name: "f" }] };
const png = { inlineData: { mimeType: "image/png", data: "AA==" } };

const rows: readonly { format: Format; name: string; sends: object; arrives: object }[] = [
  { format: "GenerateContent", name: "contents as text", sends: { contents: "hi" }, arrives: { contents: hi } },
  { format: "GenerateContent", name: "contents as one object", sends: { contents: hi[0] }, arrives: { contents: hi } },
  {
    format: "GenerateContent",
    name: "contents as one part",
    sends: { contents: png },
    arrives: { contents: [{ role: "user", parts: [png] }] },
  },
  {
    format: "GenerateContent",
    name: "contents as texts and parts",
    sends: { contents: ["hi", png] },
    arrives: { contents: [{ role: "user", parts: [{ text: "hi" }, png] }] },
  },
  {
    format: "GenerateContent",
    name: "systemInstruction as text",
    sends: { systemInstruction: "be brief" },
    arrives: { systemInstruction: { parts: [{ text: "be brief" }] } },
  },
  {
    format: "GenerateContent",
    name: "system_instruction",
    sends: { system_instruction: { parts: [{ text: "x" }] } },
    arrives: { systemInstruction: { parts: [{ text: "x" }] } },
  },
  {
    format: "GenerateContent",
    name: "tools as one object",
    sends: { tools: declared },
    arrives: { tools: [declared] },
  },
  {
    format: "GenerateContent",
    name: "snake_case at the top level",
    sends: { top_p: 0.5, top_k: 3, max_output_tokens: 9 },
    arrives: { generationConfig: { topP: 0.5, topK: 3, maxOutputTokens: 9 } },
  },
  {
    format: "GenerateContent",
    name: "snake_case inside",
    sends: { generationConfig: { top_p: 0.5, max_output_tokens: 9 } },
    arrives: { generationConfig: { topP: 0.5, maxOutputTokens: 9 } },
  },
  {
    format: "GenerateContent",
    name: "generation_config",
    sends: { generation_config: { temperature: 1 } },
    arrives: { generationConfig: { temperature: 1 } },
  },
  {
    format: "GenerateContent",
    name: "camelCase as it is",
    sends: { generationConfig: { topK: 3, stopSequences: ["x"] } },
    arrives: { generationConfig: { topK: 3, stopSequences: ["x"] } },
  },
  {
    format: "Responses",
    name: "tools as one object",
    sends: { tools: { type: "web_search" } },
    arrives: { tools: [{ type: "web_search" }] },
  },
  {
    format: "Responses",
    name: "input as one object",
    sends: { input: { role: "user", content: "hi" } },
    arrives: { input: [{ role: "user", content: "hi" }] },
  },
  { format: "ChatCompletions", name: "user as an object", sends: { user: { id: "u" } }, arrives: { user: "u" } },
  { format: "Responses", name: "user as an object", sends: { user: { name: "u" } }, arrives: { user: "u" } },
];

describe("docs/design/interface.md 2: spellings of its own", () => {
  const capture = useCapture((origin) => [
    keyManifest("main"),
    keyManifest("limited", {
      limits: [
        { name: "requests", unit: "Requests", limit: "10", period: "Minute", algorithm: "FixedWindow" },
        { name: "tokens", unit: "Tokens", limit: "100k", period: "Day" },
        { name: "fewer", unit: "Requests", limit: "1000", period: "Day" },
        { name: "silent", unit: "Requests", limit: "1", period: "Day", mode: "Shadow" },
      ],
    }),
    channelManifest("demo", origin),
    routeManifest("demo"),
  ]);

  for (const { format, name, sends, arrives } of rows) {
    it(`${name} of ${format} arrives as its provider takes it`, async () => {
      const form = formOf(format);
      const body = await capture().forwarded({ form, model: "demo", body: sends });
      const usual = await capture().forwarded({ form, model: "demo" });
      assert.deepEqual(body, { ...usual, ...arrives });
    });
  }

  for (const stream of [false, true]) {
    it(`OpenAI-style clients read the gateway's own limits${stream ? ", streamed" : ""}`, async () => {
      const { answer } = await capture().send({
        form: formOf("ChatCompletions"),
        model: "demo",
        key: "limited",
        stream,
      });
      assert.equal(answer.header("x-ratelimit-limit-requests"), "10");
      assert.equal(Number(answer.header("x-ratelimit-remaining-requests")) < 10, true);
      assert.match(answer.header("x-ratelimit-reset-requests") ?? "", /^(?:\d+ms|(?:1m)?\d+s)$/);
      assert.equal(answer.header("x-ratelimit-limit-tokens"), "100000");
      assert.equal(Number(answer.header("x-ratelimit-remaining-tokens")) < 100_000, true);
    });
  }

  it("Anthropic-style clients read them in their dialect", async () => {
    const { answer } = await capture().send({ form: formOf("Messages"), model: "demo", key: "limited" });
    assert.equal(answer.header("anthropic-ratelimit-requests-limit"), "10");
    assert.equal(Number(answer.header("anthropic-ratelimit-tokens-remaining")) < 100_000, true);
    assert.match(answer.header("anthropic-ratelimit-requests-reset") ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(answer.header("x-ratelimit-limit-requests"), undefined);
  });

  it("Gemini-style clients know no such headers", async () => {
    const { answer } = await capture().send({ form: formOf("GenerateContent"), model: "demo", key: "limited" });
    assert.deepEqual(
      Object.keys(answer.headers).filter((name) => name.includes("ratelimit")),
      [],
    );
  });
});

import assert from "node:assert/strict";
import { messagesUpstream as format } from "#proxy/formats/messages/native/upstream-format";
import { editedBody, readBody, refusalOf, usualPrivacy } from "#test/support/calls/read-body";

const list = [{ role: "user", content: "hi" }];
const usual = { model: "public", max_tokens: 16, messages: list };

describe("messages: readCall", () => {
  for (const row of [
    { name: "accepts the least", body: usual, want: "accepted" },
    { name: "accepts a cap of 0, which warms the cache", body: { ...usual, max_tokens: 0 }, want: "accepted" },
    { name: "needs max_tokens", body: { model: "m", messages: list }, want: "missing_parameter max_tokens" },
    { name: "needs messages", body: { model: "m", max_tokens: 5 }, want: "missing_parameter messages" },
    { name: "refuses temperature over 1", body: { ...usual, temperature: 1.1 }, want: "invalid_value temperature" },
    { name: "refuses top_p over 1", body: { ...usual, top_p: 2 }, want: "invalid_value top_p" },
    { name: "refuses a negative top_k", body: { ...usual, top_k: -1 }, want: "invalid_value top_k" },
    {
      name: "refuses a fractional thinking budget",
      body: { ...usual, thinking: { type: "enabled", budget_tokens: 1.5 } },
      want: "invalid_value thinking.budget_tokens",
    },
    {
      name: "refuses tool_choice that is text",
      body: { ...usual, tool_choice: "auto" },
      want: "invalid_type tool_choice",
    },
    {
      name: "accepts system as text or blocks",
      body: { ...usual, system: [{ type: "text", text: "s" }] },
      want: "accepted",
    },
    { name: "refuses a responses body", body: { model: "m", input: "hi" }, want: "wrong_protocol input" },
    {
      name: "refuses a chat body by its cap",
      body: { model: "m", messages: list, max_completion_tokens: 5 },
      want: "wrong_protocol max_completion_tokens",
    },
    {
      name: "refuses a contents-style body",
      body: { contents: [], generationConfig: {} },
      want: "wrong_protocol contents",
    },
  ]) {
    it(row.name, () =>
      assert.equal(
        refusalOf(() => readBody(format, row.body)),
        row.want,
      ),
    );
  }

  it("counts attachments, those inside tool results included, and spells paths with dots", () => {
    const image = { type: "image", source: { type: "file", file_id: "f" } };
    const content = [image, { type: "tool_result", tool_use_id: "t", content: [image] }];
    const call = readBody(format, { ...usual, messages: [{ role: "user", content }] });
    assert.equal(call.attachments, 2);
    assert.deepEqual(call.upstreamObjects, [
      "messages.0.content.0.source.file_id",
      "messages.0.content.1.content.0.source.file_id",
    ]);
  });

  for (const row of [
    { name: "content that is one block", content: { source: { file_id: "f" } }, want: "content.source.file_id" },
    {
      name: "a document made of blocks",
      content: [{ type: "document", source: { type: "content", content: [{ source: { file_id: "f" } }] } }],
      want: "content.0.source.content.0.source.file_id",
    },
  ]) {
    it(`finds a file in ${row.name}`, () =>
      assert.deepEqual(
        readBody(format, { ...usual, messages: [{ role: "user", content: row.content }] }).upstreamObjects,
        [`messages.0.${row.want}`],
      ));
  }

  it("does not take a tool's input for a reference", () => {
    const content = [{ type: "tool_use", id: "t", name: "f", input: { file_id: "mine", source: { file_id: "mine" } } }];
    assert.deepEqual(readBody(format, { ...usual, messages: [{ role: "assistant", content }] }).upstreamObjects, []);
  });
});

describe("messages: editBody", () => {
  const text = '"max_tokens":16,"messages":[{"role":"user","content":"hi"}]';
  for (const row of [
    {
      name: "replaces the model only",
      body: `{"model":"p",${text},"thinking":{"type":"disabled"}}`,
      want: `{"model":"upstream",${text},"thinking":{"type":"disabled"}}`,
    },
    {
      name: "brings user to where the provider takes it",
      body: `{"model":"p","user":"u",${text}}`,
      want: `{"model":"upstream",${text},"metadata":{"user_id":"u"}}`,
    },
    {
      name: "keeps the client's own user_id",
      body: `{"model":"p",${text},"metadata":{"user_id":"a"},"user":{"id":"b"}}`,
      want: `{"model":"upstream",${text},"metadata":{"user_id":"a"}}`,
    },
    {
      name: "strips by the privacy table",
      body: `{"model":"p",${text},"safety_identifier":"s","stream_options":{"include_obfuscation":true}}`,
      want: `{"model":"upstream",${text}}`,
    },
    {
      name: "keeps what a rule of the channel's puts in the place of client metadata",
      body: `{"model":"p",${text},"metadata":{"user_id":"a","x":"y"},"user":"b"}`,
      channel: {
        privacy: { ...usualPrivacy, clientMetadata: "Strip" as const },
        body: { set: [{ field: "metadata", value: { user_id: "fixed" } }] },
      },
      want: `{"model":"upstream",${text},"metadata":{"user_id":"fixed"}}`,
    },
    {
      name: "takes client metadata out",
      body: `{"model":"p",${text},"metadata":{"user_id":"a"},"user":"b"}`,
      channel: { privacy: { ...usualPrivacy, clientMetadata: "Strip" as const } },
      want: `{"model":"upstream",${text}}`,
    },
    {
      name: "ignores what the provider does not know",
      body: `{"model":"p",${text},"n":2}`,
      channel: { provider: "Anthropic" as const },
      want: `{"model":"upstream",${text}}`,
    },
  ]) {
    it(row.name, () => assert.equal(editedBody(format, row.body, row.channel), row.want));
  }

  for (const { value, want } of [
    { value: 3, want: 3 },
    { value: 64, want: 5 },
  ]) {
    it(`sends ${want} where a rule sets ${value} and 5 are affordable`, () => {
      const body = { set: [{ field: "max_tokens", value }] };
      const edited = JSON.parse(
        editedBody(format, '{"model":"p","messages":[1],"max_tokens":5000}', { body }, { outputCap: 5 }),
      );
      assert.equal(edited.max_tokens, want);
    });
  }
});

import assert from "node:assert/strict";
import { refusalOf } from "#test/support/calls/read-body";
import { readBody } from "#test/support/translation/responses-exchange";

describe("responses: readRequest, refusals", () => {
  for (const row of [
    {
      name: "refuses an unknown part",
      body: { input: [{ role: "user", content: [{ type: "hologram" }] }] },
      want: "invalid_value input[0].content[0].type",
    },
    {
      name: "refuses a part that is a text",
      body: { input: [{ role: "user", content: ["x"] }] },
      want: "invalid_type input[0].content[0]",
    },
    { name: "refuses an unknown item", body: { input: [{ type: "poem" }] }, want: "invalid_value input[0].type" },
    { name: "refuses an item that is a number", body: { input: [1] }, want: "invalid_type input[0]" },
    {
      name: "refuses an unknown role",
      body: { input: [{ role: "critic", content: "x" }] },
      want: "invalid_value input[0].role",
    },
    {
      name: "refuses a call without a name",
      body: { input: [{ type: "function_call", call_id: "c", arguments: "{}" }] },
      want: "missing_parameter input[0].name",
    },
    {
      name: "pitfall 63: a result without an id is refused by its name",
      body: { input: [{ type: "function_call_output", output: "x" }] },
      want: "missing_parameter input[0].call_id",
    },
    {
      name: "refuses a picture by a file address",
      body: { input: [{ role: "user", content: [{ type: "input_image", image_url: "file:///etc/passwd" }] }] },
      want: "invalid_value input[0].content[0].image_url",
    },
    {
      name: "refuses an item reference",
      body: { input: [{ type: "item_reference", id: "msg_1" }] },
      want: "unsupported_parameter input[0].id",
    },
    { name: "refuses a bare id", body: { input: [{ id: "msg_1" }] }, want: "unsupported_parameter input[0].id" },
    {
      name: "refuses compacted history",
      body: { input: [{ type: "compaction", id: "c", encrypted_content: "x" }] },
      want: "unsupported_parameter input[0].type",
    },
    {
      name: "refuses an earlier response",
      body: { previous_response_id: "resp_1" },
      want: "unsupported_parameter previous_response_id",
    },
    { name: "refuses a conversation", body: { conversation: "c" }, want: "unsupported_parameter conversation" },
    { name: "refuses a stored prompt", body: { prompt: { id: "p" } }, want: "unsupported_parameter prompt" },
    { name: "refuses work in the background", body: { background: true }, want: "unsupported_parameter background" },
    {
      name: "refuses an unknown way to manage the context",
      body: { context_management: [{ type: "compaction" }, { type: "rewriting" }] },
      want: "unsupported_parameter context_management",
    },
    { name: "refuses an unknown tool", body: { tools: [{ type: "teleport" }] }, want: "invalid_value tools[0].type" },
    {
      name: "refuses a function without a name",
      body: { tools: [{ type: "function" }] },
      want: "missing_parameter tools[0].name",
    },
    {
      name: "refuses a choice of a provider-run tool",
      body: { tools: [{ type: "web_search" }], tool_choice: { type: "web_search_preview" } },
      want: "unsupported_parameter tool_choice",
    },
    { name: "refuses an unknown choice", body: { tool_choice: "maybe" }, want: "invalid_value tool_choice" },
    {
      name: "refuses an unknown format of the reply",
      body: { text: { format: { type: "xml" } } },
      want: "invalid_value text.format.type",
    },
    {
      name: "refuses an unknown effort",
      body: { reasoning: { effort: "huge" } },
      want: "invalid_value reasoning.effort",
    },
  ]) {
    it(row.name, () =>
      assert.equal(
        refusalOf(() => readBody(row.body)),
        row.want,
      ),
    );
  }
});

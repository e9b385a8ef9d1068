import assert from "node:assert/strict";
import { start } from "#test/support/translation/reply-events";
import { framesOf, replyContext, writeStream } from "#test/support/translation/responses-exchange";

describe("responses: stream writer, what was asked", () => {
  it("never echoes the credentials of a tool", () => {
    const tools = [{ type: "mcp", server_label: "s", authorization: "secret-1", headers: { "x-key": "secret-2" } }];
    const stream = writeStream([start], replyContext({ tools }));
    assert.match(stream, /server_label/);
    assert.doesNotMatch(stream, /secret/);
  });

  it("echoes what was asked", () => {
    const asked = {
      tools: { type: "function", name: "f" },
      tool_choice: { type: "function", name: "f" },
      parallel_tool_calls: false,
      reasoning: { effort: "low" },
      text: { verbosity: "low" },
      metadata: { a: "b" },
      user: "u",
      truncation: "auto",
      service_tier: "flex",
      top_p: 0,
    };
    const response = Object(framesOf(writeStream([start], replyContext(asked)))[0]?.["response"]);
    assert.deepEqual(Object.fromEntries(Object.keys(asked).map((name) => [name, response[name]])), {
      ...asked,
      tools: [{ type: "function", name: "f", description: null, parameters: null, strict: null }],
      reasoning: { effort: "low", summary: null },
      text: { format: { type: "text" }, verbosity: "low" },
    });
  });
});

import assert from "node:assert/strict";
import type { Turn } from "#proxy/neutral/conversation";
import {
  conversation,
  encrypted,
  png,
  writeChanged,
  writtenRequest,
} from "#test/support/translation/responses-exchange";

const schemaOfG = {
  type: "object",
  properties: { x: { type: "integer", minimum: 0 } },
  required: ["x"],
  additionalProperties: false,
};

/** The conversation of docs/design/translation.md 13, as any reader makes it. */
const golden = conversation({
  stream: true,
  turns: [
    { role: "system", parts: [{ kind: "text", text: "S" }] },
    { role: "user", parts: [{ kind: "text", text: "look" }, png] },
  ],
  tools: [
    { kind: "function", name: "f", description: "F" },
    { kind: "function", name: "g", schema: schemaOfG },
  ],
  toolChoice: { type: "auto" },
  outputCap: 2000,
  sampling: { temperature: 0.5, stop: ["END"] },
  reasoning: { mode: "on", effort: "medium", show: true },
});

describe("responses: writeRequest, golden", () => {
  it("G1: the first request", () => {
    const { body, adaptation, dropped } = writtenRequest(golden);
    assert.deepEqual(body, {
      model: "m",
      instructions: "S",
      store: false,
      include: ["reasoning.encrypted_content"],
      input: [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "look" },
            { type: "input_image", detail: "auto", image_url: "data:image/png;base64,iVBORw0KGgo=" },
          ],
        },
      ],
      tools: [
        {
          type: "function",
          name: "f",
          description: "F",
          parameters: { type: "object", properties: {} },
          strict: false,
        },
        { type: "function", name: "g", parameters: schemaOfG, strict: false },
      ],
      tool_choice: "auto",
      max_output_tokens: 2000,
      temperature: 0.5,
      reasoning: { effort: "medium", summary: "auto" },
      stream: true,
    });
    assert.deepEqual(adaptation, { stop: ["END"] });
    assert.deepEqual(dropped, []);
  });

  it("G4: history with the results of its calls", () => {
    const turns: readonly Turn[] = [
      ...golden.turns,
      {
        role: "assistant",
        parts: [
          { kind: "reasoning", text: "T", states: [{ type: "native", state: encrypted }] },
          { kind: "text", text: "Hi" },
          { kind: "call", id: "call_a", name: "f", tool: "function", arguments: "{}" },
          { kind: "call", id: "call_b", name: "g", tool: "function", arguments: '{"x":1}' },
        ],
      },
      {
        role: "tool",
        parts: [
          { kind: "result", callId: "call_a", content: [{ kind: "text", text: "1" }] },
          { kind: "result", callId: "call_b", content: [{ kind: "text", text: "boom" }], isError: true },
        ],
      },
    ];
    const input = writtenRequest({ ...golden, turns }).body["input"];
    assert.deepEqual(Array.isArray(input) ? input.slice(1) : input, [
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "T" }],
        encrypted_content: "ENC",
      },
      { type: "message", role: "assistant", content: "Hi" },
      { type: "function_call", call_id: "call_a", name: "f", arguments: "{}" },
      { type: "function_call", call_id: "call_b", name: "g", arguments: '{"x":1}' },
      { type: "function_call_output", call_id: "call_a", output: "1" },
      { type: "function_call_output", call_id: "call_b", output: "Error: boom" },
    ]);
  });

  it("G5: a reply by a schema", () => {
    const schema = {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false,
    };
    const { body } = writeChanged({ outputFormat: { kind: "schema", name: "out", strict: true, schema } });
    assert.deepEqual(body["text"], { format: { type: "json_schema", name: "out", schema, strict: true } });
  });

  it("has no member that is undefined or null", () => {
    const text = JSON.stringify(writtenRequest(golden).body, (_name, value) =>
      value === undefined ? "undefined" : value,
    );
    assert.doesNotMatch(text, /null|"undefined"/);
  });
});

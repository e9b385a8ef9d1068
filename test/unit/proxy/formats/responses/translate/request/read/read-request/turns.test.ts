import assert from "node:assert/strict";
import type { Turn } from "#proxy/neutral/conversation";
import { readBody } from "#test/support/translation/responses-exchange";

/** Turns without the paths, which other tests look at. */
function turnsOf(body: object): unknown {
  return JSON.parse(JSON.stringify(readBody(body).turns, (name, value) => (name === "where" ? undefined : value)));
}

const png = "iVBORw0KGgo=";

describe("responses: readRequest", () => {
  for (const row of [
    {
      name: "reads a text as one user turn",
      body: { input: "hello" },
      want: [{ role: "user", parts: [{ kind: "text", text: "hello" }] }],
    },
    {
      name: "reads instructions as the first system turn",
      body: { instructions: "S" },
      want: [
        { role: "system", parts: [{ kind: "text", text: "S" }] },
        { role: "user", parts: [{ kind: "text", text: "hi" }] },
      ],
    },
    {
      name: "says nothing for empty instructions",
      body: { instructions: "" },
      want: [{ role: "user", parts: [{ kind: "text", text: "hi" }] }],
    },
    {
      name: "wraps a lone item",
      body: { input: { role: "user", content: "x" } },
      want: [{ role: "user", parts: [{ kind: "text", text: "x" }] }],
    },
    {
      name: "pitfall 66: an item without a type and an assistant message without an id are messages",
      body: {
        input: [
          { role: "user", content: "a" },
          { role: "assistant", content: [{ type: "output_text", text: "b" }] },
        ],
      },
      want: [
        { role: "user", parts: [{ kind: "text", text: "a" }] },
        { role: "assistant", parts: [{ kind: "text", text: "b" }] },
      ],
    },
    {
      name: "keeps the place of system and developer messages",
      body: {
        input: [
          { role: "developer", content: "D" },
          { role: "user", content: "a" },
          { role: "system", content: [{ type: "input_text", text: "later" }] },
        ],
      },
      want: [
        { role: "system", isDeveloper: true, parts: [{ kind: "text", text: "D" }] },
        { role: "user", parts: [{ kind: "text", text: "a" }] },
        { role: "system", parts: [{ kind: "text", text: "later" }] },
      ],
    },
    {
      name: "reads pictures, files and audio",
      body: {
        input: [
          {
            role: "user",
            content: [
              { type: "input_text", text: "look" },
              { type: "input_image", image_url: `data:image/png;base64,${png}`, detail: "low" },
              { type: "input_image", image_url: "https://a.example/x.png" },
              { type: "input_image", file_id: "file-1" },
              { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0xLjQ=" },
              { type: "input_file", file_url: "https://a.example/a.pdf" },
              { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
            ],
          },
        ],
      },
      want: [
        {
          role: "user",
          parts: [
            { kind: "text", text: "look" },
            { kind: "media", media: "image", mime: "image/png", source: { type: "data", base64: png }, detail: "low" },
            { kind: "media", media: "image", source: { type: "url", url: "https://a.example/x.png" } },
            { kind: "media", media: "image", source: { type: "file", owner: "openai", id: "file-1" } },
            {
              kind: "media",
              media: "document",
              mime: "application/pdf",
              source: { type: "data", base64: "JVBERi0xLjQ=" },
              filename: "a.pdf",
            },
            { kind: "media", media: "document", source: { type: "url", url: "https://a.example/a.pdf" } },
            { kind: "media", media: "audio", mime: "audio/wav", source: { type: "data", base64: "UklGRg==" } },
          ],
        },
      ],
    },
    {
      name: "pitfall 114: bare base64 is sniffed",
      body: { input: [{ role: "user", content: [{ type: "input_image", image_url: png }] }] },
      want: [
        {
          role: "user",
          parts: [{ kind: "media", media: "image", mime: "image/png", source: { type: "data", base64: png } }],
        },
      ],
    },
    {
      name: "joins reasoning, one message and its calls in one turn, and the results in another",
      body: {
        input: [
          { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "T" }], encrypted_content: "ENC" },
          { type: "message", role: "assistant", content: "Hi" },
          { type: "function_call", call_id: "a", name: "f", arguments: "{}" },
          { type: "custom_tool_call", call_id: "b", name: "g", input: "free" },
          { type: "function_call_output", call_id: "a", output: "1" },
          { type: "custom_tool_call_output", call_id: "b", output: [{ type: "input_text", text: "2" }] },
        ],
      },
      want: [
        {
          role: "assistant",
          parts: [
            {
              kind: "reasoning",
              text: "T",
              states: [
                {
                  type: "native",
                  state: { kind: "encrypted-reasoning", id: "rs_1", data: "ENC", summary: ["T"] },
                },
              ],
            },
            { kind: "text", text: "Hi" },
            { kind: "call", id: "a", name: "f", tool: "function", arguments: "{}" },
            { kind: "call", id: "b", name: "g", tool: "custom", arguments: "free" },
          ],
        },
        {
          role: "tool",
          parts: [
            { kind: "result", callId: "a", content: [{ kind: "text", text: "1" }] },
            { kind: "result", callId: "b", content: [{ kind: "text", text: "2" }] },
          ],
        },
      ],
    },
    {
      name: "begins a new turn with a second message, together with the reasoning before it",
      body: {
        input: [
          { role: "assistant", content: "one" },
          { type: "reasoning", id: "rs_2", summary: [{ type: "summary_text", text: "T" }] },
          { role: "assistant", content: "two" },
        ],
      },
      want: [
        { role: "assistant", parts: [{ kind: "text", text: "one" }] },
        {
          role: "assistant",
          parts: [
            { kind: "reasoning", text: "T", states: [] },
            { kind: "text", text: "two" },
          ],
        },
      ],
    },
    {
      name: "pitfall 99: reasoning and empty messages make no empty turn",
      body: {
        input: [
          { role: "user", content: "a" },
          { role: "assistant", content: "" },
          { type: "function_call", call_id: "c", name: "f", arguments: "" },
          { type: "function_call_output", call_id: "c", output: "" },
        ],
      },
      want: [
        { role: "user", parts: [{ kind: "text", text: "a" }] },
        { role: "assistant", parts: [{ kind: "call", id: "c", name: "f", tool: "function", arguments: "" }] },
        { role: "tool", parts: [{ kind: "result", callId: "c", content: [{ kind: "text", text: "" }] }] },
      ],
    },
    {
      name: "pitfall 62: a result is paired by call_id and not by its own id",
      body: {
        input: [
          { type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: "{}" },
          { type: "function_call_output", id: "fco_9", call_id: "call_1", output: "x" },
        ],
      },
      want: [
        { role: "assistant", parts: [{ kind: "call", id: "call_1", name: "f", tool: "function", arguments: "{}" }] },
        { role: "tool", parts: [{ kind: "result", callId: "call_1", content: [{ kind: "text", text: "x" }] }] },
      ],
    },
    {
      name: "pitfall 59: empty ids become unique ones, and results are paired by their order",
      body: {
        input: [
          { type: "function_call", call_id: "", name: "f", arguments: "{}" },
          { type: "function_call", call_id: "", name: "f", arguments: "{}" },
          { type: "function_call_output", call_id: "", output: "1" },
          { type: "function_call_output", call_id: "", output: "2" },
        ],
      },
      want: [
        {
          role: "assistant",
          parts: [
            { kind: "call", id: "call_unnamed_1", name: "f", tool: "function", arguments: "{}" },
            { kind: "call", id: "call_unnamed_2", name: "f", tool: "function", arguments: "{}" },
          ],
        },
        {
          role: "tool",
          parts: [
            { kind: "result", callId: "call_unnamed_1", content: [{ kind: "text", text: "1" }] },
            { kind: "result", callId: "call_unnamed_2", content: [{ kind: "text", text: "2" }] },
          ],
        },
      ],
    },
    {
      name: "opens a gateway's own envelope only for the keeper of states",
      body: { input: [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "tg1.AAAA.BBBB" }] },
      want: [
        {
          role: "assistant",
          parts: [{ kind: "reasoning", text: "", states: [{ type: "sealed", envelope: "tg1.AAAA.BBBB" }] }],
        },
      ],
    },
    {
      name: "keeps a provider-run tool's item as one of its own kind",
      body: { input: [{ type: "web_search_call", id: "ws_1", status: "completed" }] },
      want: [{ role: "assistant", parts: [{ kind: "hosted", type: "web_search_call" }] }],
    },
    {
      name: "flattens the name of a tool in a namespace",
      body: { input: [{ type: "function_call", call_id: "c", namespace: "ns", name: "f", arguments: "{}" }] },
      want: [
        { role: "assistant", parts: [{ kind: "call", id: "c", name: "ns__f", tool: "function", arguments: "{}" }] },
      ],
    },
  ]) {
    it(row.name, () => assert.deepEqual(turnsOf(row.body), row.want));
  }

  it("names the place of every part in the client's body", () => {
    const [turn]: readonly Turn[] = readBody({
      input: [{ role: "user", content: [{ type: "input_text", text: "a" }] }],
    }).turns;
    assert.equal(turn?.parts[0]?.where, "input[0].content[0]");
  });
});

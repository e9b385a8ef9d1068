import assert from "node:assert/strict";
import { readRequest } from "#proxy/formats/responses/translate/request/read/read-request";
import type { ResultPart, Turn } from "#proxy/neutral/conversation";
import { refusalOf } from "#test/support/calls/read-body";
import { OpenStates } from "#test/support/translation/exchange";
import { encrypted, hi, png, type TargetChanges, writeChanged } from "#test/support/translation/responses-exchange";

function inputOf(turns: readonly Turn[], target: TargetChanges = {}): unknown {
  return writeChanged({ turns }, target).body["input"];
}

function resultOfA(text: string): ResultPart {
  return { kind: "result", callId: "a", content: [{ kind: "text", text }] };
}

const breakpoint = { isBreakpoint: true } as const;
const explicit = (more: object = {}): object => ({ prompt_cache_breakpoint: { mode: "explicit", ...more } });

describe("responses: writeRequest, items", () => {
  const rows: readonly { readonly name: string; readonly turns: readonly Turn[]; readonly want: unknown }[] = [
    {
      name: "keeps several system texts as developer items in their place",
      turns: [
        {
          role: "system",
          parts: [
            { kind: "text", text: "A" },
            { kind: "text", text: "B" },
          ],
        },
        hi,
        { role: "system", parts: [{ kind: "text", text: "later" }] },
      ],
      want: [
        {
          type: "message",
          role: "developer",
          content: [
            { type: "input_text", text: "A" },
            { type: "input_text", text: "B" },
          ],
        },
        { type: "message", role: "user", content: "hi" },
        { type: "message", role: "developer", content: "later" },
      ],
    },
    {
      name: "gives OpenAI its own marks for the cache back: of the system, of what is said, and of results",
      turns: [
        { role: "system", parts: [{ kind: "text", text: "S", cache: breakpoint }] },
        { role: "user", parts: [{ kind: "text", text: "q", cache: { ...breakpoint, ttl: "12h" } }] },
        { role: "assistant", parts: [{ kind: "call", id: "a", name: "f", tool: "function", arguments: "{}" }] },
        { role: "tool", parts: [{ ...resultOfA("1"), cache: breakpoint }] },
      ],
      want: [
        { type: "message", role: "developer", content: [{ type: "input_text", text: "S", ...explicit() }] },
        { type: "message", role: "user", content: [{ type: "input_text", text: "q", ...explicit({ ttl: "12h" }) }] },
        { type: "function_call", call_id: "a", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "a", output: [{ type: "input_text", text: "1", ...explicit() }] },
      ],
    },
    {
      name: "keeps an empty text that is all a user says, and drops others",
      turns: [
        { role: "user", parts: [{ kind: "text", text: "" }] },
        { role: "user", parts: [{ kind: "text", text: "" }, png] },
      ],
      want: [
        { type: "message", role: "user", content: "" },
        {
          type: "message",
          role: "user",
          content: [{ type: "input_image", detail: "auto", image_url: "data:image/png;base64,iVBORw0KGgo=" }],
        },
      ],
    },
    {
      name: "joins neighbouring texts of one turn, and says a refusal as text",
      turns: [
        {
          role: "assistant",
          parts: [
            { kind: "text", text: "a" },
            { kind: "text", text: "b" },
            { kind: "refusal", text: "no" },
          ],
        },
      ],
      want: [{ type: "message", role: "assistant", content: "abno" }],
    },
    {
      name: "pitfall 98: reasoning without its encrypted content is left out",
      turns: [
        {
          role: "assistant",
          parts: [
            { kind: "reasoning", text: "T" },
            { kind: "text", text: "a" },
          ],
        },
      ],
      want: [{ type: "message", role: "assistant", content: "a" }],
    },
    {
      name: "pitfall 91: state of another provider never leaves as reasoning",
      turns: [
        {
          role: "assistant",
          parts: [
            {
              kind: "reasoning",
              text: "T",
              states: [{ type: "native", state: { kind: "thinking", text: "T", signature: "SIG" } }],
            },
            { kind: "text", text: "a" },
          ],
        },
      ],
      want: [{ type: "message", role: "assistant", content: "a" }],
    },
    {
      name: "says one state once, though it hangs on several calls",
      turns: [
        {
          role: "assistant",
          parts: ["a", "b"].map((id) => ({
            kind: "call",
            id,
            name: "f",
            tool: "function",
            arguments: "{}",
            states: [{ type: "native", state: encrypted }],
          })),
        },
        {
          role: "tool",
          parts: ["a", "b"].map((callId) => ({ kind: "result", callId, content: [{ kind: "text", text: callId }] })),
        },
      ],
      want: [
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "T" }], encrypted_content: "ENC" },
        { type: "function_call", call_id: "a", name: "f", arguments: "{}" },
        { type: "function_call", call_id: "b", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "a", output: "a" },
        { type: "function_call_output", call_id: "b", output: "b" },
      ],
    },
    {
      name: "gives each result the kind of its own call where a client uses an id again",
      turns: [
        {
          role: "assistant",
          parts: [
            { kind: "call", id: "a", name: "c", tool: "custom", arguments: "x" },
            { kind: "call", id: "a", name: "f", tool: "function", arguments: "{}" },
          ],
        },
        { role: "tool", parts: ["1", "2"].map(resultOfA) },
        { role: "assistant", parts: [{ kind: "call", id: "a", name: "f", tool: "function", arguments: "{}" }] },
        { role: "tool", parts: [resultOfA("3")] },
      ],
      want: [
        { type: "custom_tool_call", call_id: "a", name: "c", input: "x" },
        { type: "function_call", call_id: "a", name: "f", arguments: "{}" },
        { type: "custom_tool_call_output", call_id: "a", output: "1" },
        { type: "function_call_output", call_id: "a", output: "2" },
        { type: "function_call", call_id: "a", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "a", output: "3" },
      ],
    },
    {
      name: "pitfall 60: items carry call_id and never an id of their own",
      turns: [
        { role: "assistant", parts: [{ kind: "call", id: "call_1", name: "f", tool: "function", arguments: "{}" }] },
      ],
      want: [
        { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "call_1", output: "Error: [no result]" },
      ],
    },
    {
      name: "pitfall 84: a call without arguments has an empty object",
      turns: [
        { role: "assistant", parts: [{ kind: "call", id: "c", name: "f", tool: "function", arguments: "" }] },
        { role: "tool", parts: [{ kind: "result", callId: "c", content: [] }] },
      ],
      want: [
        { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: "" },
      ],
    },
    {
      name: "gives pictures of a result as parts, and custom calls their own kind of result",
      turns: [
        { role: "assistant", parts: [{ kind: "call", id: "c", name: "f", tool: "custom", arguments: "free" }] },
        { role: "tool", parts: [{ kind: "result", callId: "c", content: [{ kind: "text", text: "x" }, png] }] },
      ],
      want: [
        { type: "custom_tool_call", call_id: "c", name: "f", input: "free" },
        {
          type: "custom_tool_call_output",
          call_id: "c",
          output: [
            { type: "input_text", text: "x" },
            { type: "input_image", detail: "auto", image_url: "data:image/png;base64,iVBORw0KGgo=" },
          ],
        },
      ],
    },
    {
      name: "says documents as files, and text documents as marked text",
      turns: [
        {
          role: "user",
          parts: [
            {
              kind: "media",
              media: "document",
              mime: "application/pdf",
              source: { type: "data", base64: "JVBERi0=" },
            },
            { kind: "media", media: "document", source: { type: "url", url: "https://a.example/a.pdf" } },
            { kind: "media", media: "document", title: "T", source: { type: "text", text: "body" } },
            { kind: "media", media: "audio", mime: "audio/mpeg", source: { type: "data", base64: "SUQz" } },
            { kind: "media", media: "image", source: { type: "file", owner: "openai", id: "file-1" } },
          ],
        },
      ],
      want: [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_file", filename: "document.pdf", file_data: "data:application/pdf;base64,JVBERi0=" },
            { type: "input_file", file_url: "https://a.example/a.pdf" },
            { type: "input_text", text: '<document title="T">\nbody\n</document>' },
            { type: "input_audio", input_audio: { data: "SUQz", format: "mp3" } },
            { type: "input_image", detail: "auto", file_id: "file-1" },
          ],
        },
      ],
    },
  ];
  for (const row of rows) {
    it(row.name, () => assert.deepEqual(inputOf(row.turns), row.want));
  }

  it("pitfall 61: ids that a client gave its items never leave", () => {
    const history = [
      { type: "message", id: "item_1", role: "assistant", content: [{ type: "output_text", text: "x" }] },
      { type: "function_call", id: "item_2", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", id: "item_3", call_id: "c", output: "1" },
    ];
    const { turns } = readRequest({ model: "m", input: history });
    const text = JSON.stringify(inputOf(turns));
    assert.doesNotMatch(text, /item_/);
    assert.match(text, /"call_id":"c"/);
  });

  it("restores the state of a call that was kept here for a client without a place for it", () => {
    const states = new OpenStates({ native: true });
    states.remember("c", [encrypted]);
    const turns: readonly Turn[] = [
      { role: "assistant", parts: [{ kind: "call", id: "c", name: "f", tool: "function", arguments: "{}" }] },
      { role: "tool", parts: [{ kind: "result", callId: "c", content: [{ kind: "text", text: "1" }] }] },
    ];
    const input = inputOf(turns, { states });
    assert.equal(Array.isArray(input) ? input[0].encrypted_content : undefined, "ENC");
  });

  for (const row of [
    {
      name: "refuses a file that another provider keeps",
      part: { kind: "media", media: "image", source: { type: "file", owner: "google", id: "x" }, where: "contents[0]" },
      want: "unsupported_parameter contents[0]",
    },
    {
      name: "refuses a video",
      part: { kind: "media", media: "video", source: { type: "url", url: "https://a.example/v" }, where: "v" },
      want: "unsupported_parameter v",
    },
    {
      name: "refuses audio that the format has no name for",
      part: { kind: "media", media: "audio", mime: "audio/flac", source: { type: "data", base64: "AA==" }, where: "a" },
      want: "unsupported_parameter a",
    },
  ] as const) {
    it(row.name, () =>
      assert.equal(
        refusalOf(() => inputOf([{ role: "user", parts: [row.part] }])),
        row.want,
      ),
    );
  }

  it("drops a provider-run tool's history and says so", () => {
    const turns: readonly Turn[] = [
      { role: "assistant", parts: [{ kind: "hosted", type: "server_tool_use", where: "messages[1].content[0]" }] },
      hi,
    ];
    assert.deepEqual(writeChanged({ turns }).dropped, ["messages[1].content[0]"]);
  });
});

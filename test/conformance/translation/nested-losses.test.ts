/** What a client says inside a member and another format has no place for: declared, wherever it stands. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { ChatWireFormat } from "../../../proxy/protocols/wire.ts";
import { formats, sendTo } from "../../support/translation/pure-translation.ts";

const schema = { type: "object", properties: {} };
const pdf = { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" } };
const asking = (block: object) => ({
  model: "m",
  max_tokens: 5_000,
  messages: [{ role: "user", content: [block, { type: "text", text: "x" }] }],
});

const rows: readonly {
  readonly name: string;
  readonly from: ChatWireFormat;
  readonly body: object;
  readonly dropped: readonly string[];
}[] = [
  {
    name: "how a model should reason",
    from: "Responses",
    body: { model: "m", input: "x", reasoning: { effort: "low", mode: "pro", context: "all_turns" } },
    dropped: ["reasoning.mode", "reasoning.context"],
  },
  {
    name: "text options",
    from: "Responses",
    body: { model: "m", input: "x", text: { style: "plain" } },
    dropped: ["text.style"],
  },
  {
    name: "how a tool may be used",
    from: "Responses",
    body: {
      model: "m",
      input: "x",
      tools: [
        { type: "function", name: "f", parameters: schema, strict: false, defer_loading: true, output_schema: schema },
      ],
    },
    dropped: ["tools[0].defer_loading", "tools[0].output_schema"],
  },
  {
    name: "how a tool may be used",
    from: "ChatCompletions",
    body: {
      model: "m",
      messages: [{ role: "user", content: "x" }],
      tools: [{ type: "function", function: { name: "f", parameters: schema, examples: [{}], nothing: null } }],
    },
    dropped: ["tools[0].function.examples"],
  },
  {
    name: "that a result is not the last",
    from: "GenerateContent",
    body: {
      contents: [
        { role: "user", parts: [{ text: "x" }] },
        { role: "model", parts: [{ functionCall: { id: "c", name: "f", args: {} } }] },
        {
          role: "user",
          parts: [
            { functionResponse: { id: "c", name: "f", response: { a: 1 }, will_continue: true, scheduling: "SILENT" } },
          ],
        },
      ],
      tools: [{ functionDeclarations: [{ name: "f" }] }],
    },
    dropped: [
      "contents[2].parts[0].functionResponse.will_continue",
      "contents[2].parts[0].functionResponse.scheduling",
    ],
  },
  {
    name: "what a document is and that it shall be cited",
    from: "Messages",
    body: asking({ ...pdf, context: "a report", citations: { enabled: true } }),
    dropped: ["messages.0.content.0.context", "messages.0.content.0.citations"],
  },
];

describe("losses inside members", () => {
  for (const { name, from, body, dropped } of rows) {
    for (const to of formats.filter((format) => format !== from)) {
      it(`are declared: ${name}, from ${from} to ${to}`, () => {
        const sent = sendTo(to, from, body);
        assert.ok("body" in sent, JSON.stringify(sent));
        assert.deepEqual([...(sent.dropped ?? [])].sort(), [...dropped].sort());
      });
    }
  }
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { parseJsonText } from "#proxy/json/json-text";
import { readBody, refusalOf } from "#test/support/translation/messages-exchange";

/** Without members that are undefined, which mean the same as absent ones. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe("messages: readRequest, turns", () => {
  function turnsOf(body: object): unknown {
    return plain(readBody({ ...body }).turns);
  }

  it("pitfall 104: reads system text and later system messages, each at its place", () => {
    const turns = turnsOf({
      system: [{ type: "text", text: "S", cache_control: { type: "ephemeral" } }],
      messages: [
        { role: "user", content: "a" },
        { role: "system", content: "later" },
      ],
    });
    assert.deepEqual(turns, [
      { role: "system", parts: [{ kind: "text", text: "S", cache: {}, where: "system.0" }] },
      { role: "user", parts: [{ kind: "text", text: "a", where: "messages.0.content" }] },
      { role: "system", parts: [{ kind: "text", text: "later", where: "messages.1.content" }] },
    ]);
  });

  it("reads calls, thinking and results, and puts results before what else the user says", () => {
    const turns = turnsOf({
      messages: [
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "t", signature: "SIG" },
            { type: "redacted_thinking", data: "tg1.abc" },
            { type: "tool_use", id: "a", name: "f", input: { x: 1 } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "text", text: "go" },
            { type: "tool_result", tool_use_id: "a", is_error: true, content: [{ type: "text", text: "boom" }] },
          ],
        },
      ],
    });
    const native = { type: "native", state: { kind: "thinking", text: "t", signature: "SIG" } };
    assert.deepEqual(turns, [
      {
        role: "assistant",
        parts: [
          { kind: "reasoning", text: "t", where: "messages.0.content.0", states: [native] },
          {
            kind: "reasoning",
            text: "",
            where: "messages.0.content.1",
            states: [{ type: "sealed", envelope: "tg1.abc" }],
          },
          { kind: "call", id: "a", name: "f", tool: "function", arguments: '{"x":1}', where: "messages.0.content.2" },
        ],
      },
      {
        role: "tool",
        parts: [
          {
            kind: "result",
            callId: "a",
            isError: true,
            content: [{ kind: "text", text: "boom", where: "messages.1.content.1.content.0" }],
            where: "messages.1.content.1",
          },
        ],
      },
      { role: "user", parts: [{ kind: "text", text: "go", where: "messages.1.content.0" }] },
    ]);
  });

  it("keeps the digits of large integers in the input of a call", () => {
    const input = parseJsonText('{"id":12345678901234567890}');
    const body = { messages: [{ role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input }] }] };
    const part = readBody(body).turns[0]?.parts[0];
    assert.equal(part?.kind === "call" ? part.arguments : undefined, '{"id":12345678901234567890}');
  });

  /** Parts of a user's message, paths left out. */
  function partsOf(content: unknown, role = "user"): unknown {
    const parts = readBody({ messages: [{ role, content }] }).turns.flatMap((turn) => turn.parts);
    return plain(parts.map(({ where: _where, ...part }) => part));
  }

  const png = "iVBORw0KGgo=";
  for (const row of [
    {
      name: "an image by its bytes, whatever its label",
      block: { type: "image", source: { type: "base64", media_type: "image/jpeg", data: png } },
      want: [{ kind: "media", media: "image", mime: "image/png", source: { type: "data", base64: png } }],
    },
    {
      name: "an image by its address",
      block: { type: "image", source: { type: "url", url: "https://example.com/a.png" }, cache_control: { ttl: "1h" } },
      want: [
        {
          kind: "media",
          media: "image",
          source: { type: "url", url: "https://example.com/a.png" },
          cache: { ttl: "1h" },
        },
      ],
    },
    {
      name: "an image that the vendor keeps",
      block: { type: "image", source: { type: "file", file_id: "file_1" } },
      want: [{ kind: "media", media: "image", source: { type: "file", owner: "anthropic", id: "file_1" } }],
    },
    {
      name: "a document as text",
      block: {
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "x" },
        title: "T",
        context: "C",
        citations: { enabled: true },
      },
      want: [
        {
          kind: "media",
          media: "document",
          mime: "text/plain",
          source: { type: "text", text: "x" },
          title: "T",
          filename: "T",
          context: "C",
          wantsCitations: true,
        },
      ],
    },
    {
      name: "a document by its address",
      block: { type: "document", source: { type: "url", url: "https://example.com/a.pdf" } },
      want: [
        {
          kind: "media",
          media: "document",
          mime: "application/pdf",
          source: { type: "url", url: "https://example.com/a.pdf" },
        },
      ],
    },
    {
      name: "a document made of blocks as its text and its images",
      block: {
        type: "document",
        source: {
          type: "content",
          content: [
            { type: "text", text: "a" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
            { type: "text", text: "b" },
          ],
        },
      },
      want: [
        { kind: "media", media: "document", mime: "text/plain", source: { type: "text", text: "a\nb" } },
        { kind: "media", media: "image", mime: "image/png", source: { type: "data", base64: png } },
      ],
    },
    {
      name: "a search result as marked text",
      block: { type: "search_result", source: "s", title: 't"', content: [{ type: "text", text: "x" }] },
      want: [{ kind: "text", text: '<search_result source="s" title="t\\"">\nx\n</search_result>' }],
    },
    {
      name: "what the vendor summed up as text",
      block: { type: "compaction", content: "sum" },
      role: "assistant",
      want: [{ kind: "text", text: "sum" }],
    },
    {
      name: "a search of the vendor's own as hosted",
      block: { type: "server_tool_use", id: "s", name: "web_search", input: {} },
      role: "assistant",
      want: [{ kind: "hosted", type: "server_tool_use" }],
    },
    {
      name: "its result as hosted",
      block: { type: "web_search_tool_result", tool_use_id: "s", content: [] },
      role: "assistant",
      want: [{ kind: "hosted", type: "web_search_tool_result" }],
    },
  ]) {
    it(`reads ${row.name}`, () => assert.deepEqual(partsOf([row.block], row.role), row.want));
  }

  it("reads images, search results and references to tools inside of results", () => {
    const content = [
      { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
      { type: "search_result", source: "s", title: "t", content: [] },
      { type: "tool_reference", tool_name: "g" },
    ];
    const [result] = readBody({
      messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "a", content }] }],
    }).turns.flatMap((turn) => turn.parts);
    assert.deepEqual(
      result?.kind === "result" ? result.content.map((part) => (part.kind === "text" ? part.text : part.media)) : [],
      ["image", '<search_result source="s" title="t">\n</search_result>', "Tool: g"],
    );
  });

  const at = "messages.0.content.0";
  for (const row of [
    { name: "an unknown role", messages: [{ role: "tool", content: "x" }], want: "invalid_value messages.0.role" },
    { name: "a message that is no object", messages: ["x"], want: "invalid_type messages.0" },
    { name: "an unknown block", content: [{ type: "hologram" }], want: `invalid_value ${at}.type` },
    { name: "a block without type", content: [{}], want: `invalid_type ${at}.type` },
    { name: "text that is no text", content: [{ type: "text", text: 1 }], want: `invalid_type ${at}.text` },
    { name: "content that is a number", content: 5, want: "invalid_type messages.0.content" },
    {
      name: "a call of the user",
      content: [{ type: "tool_use", id: "a", name: "f", input: {} }],
      want: `invalid_value ${at}`,
    },
    {
      name: "input that is a list",
      role: "assistant",
      content: [{ type: "tool_use", id: "a", name: "f", input: [] }],
      want: `invalid_type ${at}.input`,
    },
    {
      name: "input that is a number of many digits",
      role: "assistant",
      content: [{ type: "tool_use", id: "a", name: "f", input: parseJsonText("12345678901234567890") }],
      want: `invalid_type ${at}.input`,
    },
    {
      name: "a call without id",
      role: "assistant",
      content: [{ type: "tool_use", id: "", name: "f", input: {} }],
      want: `invalid_value ${at}.id`,
    },
    {
      name: "a result in a reply",
      role: "assistant",
      content: [{ type: "tool_result", tool_use_id: "a" }],
      want: `invalid_value ${at}`,
    },
    {
      name: "a file of a container",
      content: [{ type: "container_upload", file_id: "f" }],
      want: `unsupported_parameter ${at}`,
    },
    {
      name: "an image from elsewhere",
      content: [{ type: "image", source: { type: "url", url: "gs://b/a.png" } }],
      want: `invalid_value ${at}.source.url`,
    },
    {
      name: "an image of broken base64",
      content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "*" } }],
      want: `invalid_value ${at}.source.data`,
    },
    {
      name: "an image in a system message",
      role: "system",
      content: [{ type: "image", source: { type: "file", file_id: "f" } }],
      want: `invalid_value ${at}.type`,
    },
    {
      name: "an unknown block in a result",
      content: [{ type: "tool_result", tool_use_id: "a", content: [{ type: "hologram" }] }],
      want: `invalid_value ${at}.content.0.type`,
    },
  ]) {
    it(`refuses ${row.name}`, () => {
      const messages = row.messages ?? [{ role: row.role ?? "user", content: row.content }];
      assert.equal(
        refusalOf(() => readBody({ messages })),
        row.want,
      );
    });
  }

  it("reads any JSON as a conversation or an error of the client", () => {
    const block = fc.record(
      {
        type: fc.constantFrom("text", "image", "document", "tool_use", "tool_result", "thinking", "search_result", "x"),
        text: fc.jsonValue(),
        source: fc.jsonValue(),
        content: fc.jsonValue(),
        id: fc.jsonValue(),
        name: fc.jsonValue(),
        input: fc.jsonValue(),
        tool_use_id: fc.jsonValue(),
      },
      { requiredKeys: ["type"] },
    );
    const message = fc.oneof(
      fc.jsonValue(),
      fc.record({
        role: fc.constantFrom("user", "assistant", "system", "x"),
        content: fc.oneof(fc.jsonValue(), fc.array(block)),
      }),
    );
    const body = fc.record(
      {
        messages: fc.array(message),
        system: fc.jsonValue(),
        tools: fc.oneof(
          fc.jsonValue(),
          fc.array(fc.record({ type: fc.jsonValue(), name: fc.jsonValue(), input_schema: fc.jsonValue() })),
        ),
        tool_choice: fc.jsonValue(),
        thinking: fc.jsonValue(),
        output_config: fc.jsonValue(),
        output_format: fc.jsonValue(),
        metadata: fc.jsonValue(),
        user: fc.jsonValue(),
        cache_control: fc.jsonValue(),
        stop_sequences: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(fc.property(body, (given) => void refusalOf(() => readBody(given))));
  });
});

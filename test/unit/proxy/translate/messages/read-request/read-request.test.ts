import assert from "node:assert/strict";
import fc from "fast-check";
import { isObject } from "../../../../../../proxy/protocols/json-value.ts";
import { parseJsonText } from "../../../../../../proxy/translate/json-text.ts";
import { readBody, refusalOf } from "../../../../../support/translation/messages-exchange.ts";

/** Without members that are undefined, which mean the same as absent ones. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

const schema = { type: "object", properties: {} };

describe("messages: readRequest, settings", () => {
  it("reads the least", () => {
    assert.deepEqual(plain(readBody()), {
      model: "m",
      stream: false,
      turns: [{ role: "user", parts: [{ kind: "text", text: "hi", where: "messages.0.content" }] }],
      tools: [],
      sampling: {},
      outputCap: 16,
      unread: [],
    });
  });

  for (const row of [
    {
      name: "pitfall 101: keeps zeros",
      body: { temperature: 0, top_p: 0, top_k: 0, max_tokens: 0 },
      want: { sampling: { temperature: 0, topP: 0, topK: 0 }, outputCap: 0 },
    },
    { name: "reads stop sequences", body: { stop_sequences: ["END"] }, want: { sampling: { stop: ["END"] } } },
    { name: "reads metadata.user_id as the user", body: { metadata: { user_id: "u" } }, want: { user: "u" } },
    { name: "reads the interface's own user", body: { user: "u" }, want: { user: "u" } },
    { name: "reads a user that is an object by its id", body: { user: { id: "u" } }, want: { user: "u" } },
    {
      name: "keeps texts of metadata and names the rest",
      body: { metadata: { trace: "t", deep: { a: 1 } } },
      want: { metadata: { trace: "t" }, unread: ["metadata.deep"] },
    },
    {
      name: "reads standard_only as the default tier",
      body: { service_tier: "standard_only" },
      want: { serviceTier: "default" },
    },
    {
      name: "reads the automatic cache mark",
      body: { cache_control: { type: "ephemeral", ttl: "1h" } },
      want: { automaticCache: { ttl: "1h" } },
    },
    {
      name: "pitfall 109: reads output_config, its format and its effort",
      body: { output_config: { effort: "high", format: { type: "json_schema", schema } } },
      want: { reasoning: { mode: "auto", effort: "high", show: false }, answerFormat: { kind: "schema", schema } },
    },
    {
      name: "reads the older spelling of the format",
      body: { output_format: { type: "json_schema", schema } },
      want: { answerFormat: { kind: "schema", schema } },
    },
    {
      name: "pitfall 110: names unknown members that ask for something, and no others",
      body: { future: 1, seed: null, speed: "fast", diagnostics: {}, container: null, inference_geo: "eu" },
      want: { unread: ["future", "speed", "inference_geo"] },
    },
    { name: "takes the usual speed for none", body: { speed: "standard" }, want: { unread: [] } },
    { name: "says nothing of betas", body: { betas: ["x"] }, want: { unread: [] } },
  ]) {
    it(row.name, () => {
      const read = plain(readBody(row.body));
      assert.ok(isObject(read));
      for (const [member, value] of Object.entries(row.want)) assert.deepEqual(read[member], value, member);
    });
  }

  for (const row of [
    { name: "no thinking", body: {}, want: undefined },
    {
      name: "pitfall 94: thinking that is off",
      body: { thinking: { type: "disabled" } },
      want: { mode: "off", show: false },
    },
    {
      name: "a budget",
      body: { thinking: { type: "enabled", budget_tokens: 2000 } },
      want: { mode: "on", budget: 2000, show: true, carriesBlocks: true },
    },
    {
      name: "adaptive thinking",
      body: { thinking: { type: "adaptive" } },
      want: { mode: "auto", show: true, carriesBlocks: true },
    },
    {
      name: "adaptive thinking with effort that is not shown",
      body: { thinking: { type: "adaptive", display: "omitted" }, output_config: { effort: "max" } },
      want: { mode: "on", effort: "max", show: false, carriesBlocks: true },
    },
  ]) {
    it(`reads ${row.name}`, () => {
      const { reasoning } = readBody(row.body);
      assert.deepEqual(reasoning === undefined ? undefined : plain(reasoning), row.want);
    });
  }

  for (const row of [
    ...["container", "thread", "fallback_credit_token"].map((name) => ({ body: { [name]: "x" }, want: name })),
    ...["mcp_servers", "fallbacks"].map((name) => ({ body: { [name]: [{}] }, want: name })),
    { body: { context_management: { edits: [] } }, want: "context_management" },
  ]) {
    it(`refuses ${row.want}, which only the vendor has`, () =>
      assert.equal(
        refusalOf(() => readBody(row.body)),
        `unsupported_parameter ${row.want}`,
      ));
  }

  for (const row of [
    { name: "thinking of unknown kind", body: { thinking: { type: "deep" } }, want: "invalid_value thinking.type" },
    {
      name: "an effort of unknown name",
      body: { output_config: { effort: "huge" } },
      want: "invalid_value output_config.effort",
    },
    {
      name: "a format of unknown kind",
      body: { output_format: { type: "xml" } },
      want: "invalid_value output_format.type",
    },
    { name: "stop sequences that are no text", body: { stop_sequences: [1] }, want: "invalid_value stop_sequences.0" },
  ]) {
    it(`refuses ${row.name}`, () =>
      assert.equal(
        refusalOf(() => readBody(row.body)),
        row.want,
      ));
  }
});

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
      name: "a call without id",
      role: "assistant",
      content: [{ type: "tool_use", id: "", name: "f", input: {} }],
      want: `invalid_value ${at}.id`,
    },
    {
      name: "a result in an answer",
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

  it("answers any JSON with a conversation or an error of the client", () => {
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

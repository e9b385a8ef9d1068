import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import type { Part, Turn } from "#proxy/neutral/conversation";
import { conversationOf } from "#test/support/translation/chat-exchange";

const png = "data:image/png;base64,iVBORw0KGgo=";

/** Without the paths, which have their own test, and without members that are undefined. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, member) => (name === "where" ? undefined : member)));
}

function turnsOf(...messages: unknown[]): readonly Turn[] {
  return conversationOf({ messages }).turns;
}

function partsOf(message: unknown): unknown {
  return plain(turnsOf(message)[0]?.parts);
}

const text = (value: string) => ({ kind: "text", text: value });
const call = (id: string, name: string, args: string, more: object = {}) => ({
  kind: "call",
  id,
  name,
  tool: "function",
  arguments: args,
  ...more,
});

describe("readMessages(): roles", () => {
  for (const row of [
    { name: "system", message: { role: "system", content: "S" }, want: { role: "system", parts: [text("S")] } },
    {
      name: "pitfall 103: developer, as a system turn that stays one",
      message: { role: "developer", content: "S" },
      want: { role: "system", isDeveloper: true, parts: [text("S")] },
    },
    {
      name: "user with a name",
      message: { role: "user", name: "ann", content: "hi" },
      want: { role: "user", name: "ann", parts: [text("hi")] },
    },
    {
      name: "assistant",
      message: { role: "assistant", content: "hi" },
      want: { role: "assistant", parts: [text("hi")] },
    },
    {
      name: "user without content, as an empty text",
      message: { role: "user", content: null },
      want: { role: "user", parts: [text("")] },
    },
  ]) {
    it(`reads ${row.name}`, () => assert.deepEqual(plain(turnsOf(row.message)), [row.want]));
  }

  it("keeps system messages where they are", () => {
    const roles = turnsOf(
      { role: "system", content: "A" },
      { role: "user", content: "1" },
      { role: "system", content: "B" },
      { role: "user", content: "2" },
    ).map(({ role }) => role);
    assert.deepEqual(roles, ["system", "user", "system", "user"]);
  });
});

describe("readMessages(): content", () => {
  for (const row of [
    { name: "text", part: { type: "text", text: "a" }, want: text("a") },
    { name: "text of a responses-minded client", part: { type: "input_text", text: "a" }, want: text("a") },
    { name: "a bare text in the list", part: "a", want: text("a") },
    {
      name: "a picture as data, with its detail",
      part: { type: "image_url", image_url: { url: png, detail: "low" } },
      want: {
        kind: "media",
        media: "image",
        mime: "image/png",
        source: { type: "data", base64: "iVBORw0KGgo=" },
        detail: "low",
      },
    },
    {
      name: "a picture's address given bare",
      part: { type: "image_url", image_url: "https://example.com/a.png" },
      want: { kind: "media", media: "image", source: { type: "url", url: "https://example.com/a.png" } },
    },
    {
      name: "pitfall 114: bare base64 in place of an address",
      part: { type: "image_url", image_url: { url: "iVBORw0KGgo=" } },
      want: { kind: "media", media: "image", mime: "image/png", source: { type: "data", base64: "iVBORw0KGgo=" } },
    },
    {
      name: "audio",
      part: { type: "input_audio", input_audio: { data: "UklGRiQAAABXQVZF", format: "wav" } },
      want: { kind: "media", media: "audio", mime: "audio/wav", source: { type: "data", base64: "UklGRiQAAABXQVZF" } },
    },
    {
      name: "audio that came as a data URL",
      part: { type: "input_audio", input_audio: { data: "data:audio/mpeg;base64,SUQzBAAA", format: "mp3" } },
      want: { kind: "media", media: "audio", mime: "audio/mpeg", source: { type: "data", base64: "SUQzBAAA" } },
    },
    {
      name: "a file with its name",
      part: { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0xLjcK" } },
      want: {
        kind: "media",
        media: "document",
        mime: "application/pdf",
        source: { type: "data", base64: "JVBERi0xLjcK" },
        filename: "a.pdf",
      },
    },
    {
      name: "a file of bare base64, told by its name",
      part: { type: "file", file: { filename: "a.txt", file_data: "aGVsbG8=" } },
      want: {
        kind: "media",
        media: "document",
        mime: "text/plain",
        source: { type: "data", base64: "aGVsbG8=" },
        filename: "a.txt",
      },
    },
    {
      name: "a file that the provider keeps",
      part: { type: "file", file: { file_id: "file-1" } },
      want: { kind: "media", media: "document", source: { type: "file", owner: "openai", id: "file-1" } },
    },
    {
      name: "a video of a vendor's own",
      part: { type: "video_url", video_url: { url: "https://example.com/a.mp4" } },
      want: { kind: "media", media: "video", source: { type: "url", url: "https://example.com/a.mp4" } },
    },
    {
      name: "a mark for the cache, in Anthropic's words",
      part: { type: "text", text: "a", cache_control: { type: "ephemeral", ttl: "1h" } },
      want: { ...text("a"), cache: { ttl: "1h" } },
    },
    {
      name: "a mark for the cache, in OpenAI's words",
      part: { type: "text", text: "a", prompt_cache_breakpoint: { mode: "explicit", ttl: "30m" } },
      want: { ...text("a"), cache: { ttl: "30m", isBreakpoint: true } },
    },
  ]) {
    it(`reads ${row.name}`, () => assert.deepEqual(partsOf({ role: "user", content: [row.part] }), [row.want]));
  }

  it("gives each part its path in the client's body", () => {
    const [, turn] = turnsOf(
      { role: "system", content: "S" },
      { role: "user", content: [{ type: "text", text: "a" }] },
    );
    assert.deepEqual(
      turn?.parts.map((part: Part) => part.where),
      ["messages[1].content[0]"],
    );
  });

  it("puts a mark for the cache on a message upon its last part", () => {
    const message = {
      role: "user",
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
      cache_control: {},
    };
    assert.deepEqual(partsOf(message), [text("a"), { ...text("b"), cache: {} }]);
  });
});

describe("readMessages(): assistant messages", () => {
  const calls = [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }];

  it("pitfall 102: takes empty content beside calls for none", () => {
    for (const content of [null, "", [{ type: "text", text: "" }]]) {
      assert.deepEqual(partsOf({ role: "assistant", content, tool_calls: calls }), [call("c1", "f", "{}")]);
    }
  });

  it("reads content and calls in this order", () => {
    assert.deepEqual(partsOf({ role: "assistant", content: "hi", tool_calls: calls }), [
      text("hi"),
      call("c1", "f", "{}"),
    ]);
  });

  it("pitfall 84: keeps arguments as they came", () => {
    for (const args of ["", "{}", '{"x":1', "no json"]) {
      const message = {
        role: "assistant",
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: args } }],
      };
      assert.deepEqual(partsOf(message), [call("c", "f", args)]);
    }
  });

  it("takes arguments as an object, and calls without a type", () => {
    const message = { role: "assistant", tool_calls: [{ id: "c", function: { name: "f", arguments: { x: 1 } } }] };
    assert.deepEqual(partsOf(message), [call("c", "f", '{"x":1}')]);
  });

  it("reads calls of custom tools", () => {
    const message = {
      role: "assistant",
      tool_calls: [{ id: "c", type: "custom", custom: { name: "sql", input: "select 1" } }],
    };
    assert.deepEqual(partsOf(message), [call("c", "sql", "select 1", { tool: "custom" })]);
  });

  it("reads the refusal of an earlier turn", () => {
    assert.deepEqual(partsOf({ role: "assistant", content: null, refusal: "no" }), [{ kind: "refusal", text: "no" }]);
  });

  it("pitfall 93: replayed thinking without a signature stays thinking, and comes before all else", () => {
    for (const name of ["reasoning_content", "reasoning"]) {
      const message = { role: "assistant", content: "hi", [name]: "T" };
      assert.deepEqual(partsOf(message), [{ kind: "reasoning", text: "T" }, text("hi")]);
    }
  });

  it("pitfall 91: signed thinking of another gateway is the state of its vendor, told apart from ours", () => {
    const blocks = [
      { type: "thinking", thinking: "T", signature: "SIG" },
      { type: "thinking", thinking: "", signature: "tg1.own" },
      { type: "redacted_thinking", data: "DATA" },
    ];
    const native = { kind: "thinking", text: "T", signature: "SIG" };
    assert.deepEqual(partsOf({ role: "assistant", content: "hi", thinking_blocks: blocks }), [
      { kind: "reasoning", text: "T", states: [{ type: "native", state: native }] },
      { kind: "reasoning", text: "", states: [{ type: "sealed", envelope: "tg1.own" }] },
      { kind: "reasoning", text: "", states: [{ type: "native", state: { kind: "redacted-thinking", data: "DATA" } }] },
      text("hi"),
    ]);
  });

  it("pitfall 134: a blank signature is none", () => {
    const blocks = [{ type: "thinking", thinking: "T", signature: "" }];
    assert.deepEqual(partsOf({ role: "assistant", content: "hi", thinking_blocks: blocks }), [
      { kind: "reasoning", text: "T" },
      text("hi"),
    ]);
  });

  it("pitfall 133: reads the signature of a call where Google's clients put it", () => {
    const extra = (signature: string) => ({ extra_content: { google: { thought_signature: signature } } });
    const message = {
      role: "assistant",
      tool_calls: [
        { ...calls[0], ...extra("TSIG") },
        { ...calls[0], id: "c2", ...extra("tg1.own") },
      ],
    };
    assert.deepEqual(partsOf(message), [
      call("c1", "f", "{}", { states: [{ type: "native", state: { kind: "thought-signature", data: "TSIG" } }] }),
      call("c2", "f", "{}", { states: [{ type: "sealed", envelope: "tg1.own" }] }),
    ]);
  });

  it("ignores what other gateways leave on messages", () => {
    const message = { role: "assistant", content: "hi", annotations: [], provider_specific_fields: {}, index: 0 };
    assert.deepEqual(partsOf(message), [text("hi")]);
  });
});

describe("readMessages(): refusals name the client's field", () => {
  const user = (part: unknown) => ({ role: "user", content: [part] });
  const at = "messages[0].content[0]";
  for (const row of [
    {
      name: "a role of no known name",
      message: { role: "bot", content: "x" },
      code: "invalid_value",
      param: "messages[0].role",
    },
    { name: "no role", message: { content: "x" }, code: "missing_parameter", param: "messages[0].role" },
    { name: "a message that is no object", message: "hi", code: "invalid_type", param: "messages[0]" },
    {
      name: "content that is a number",
      message: { role: "user", content: 1 },
      code: "invalid_type",
      param: "messages[0].content",
    },
    {
      name: "a part of no known type",
      message: user({ type: "hologram" }),
      code: "invalid_value",
      param: `${at}.type`,
    },
    { name: "a part without a type", message: user({ image_url: {} }), code: "missing_parameter", param: `${at}.type` },
    { name: "a part that is no object", message: user(1), code: "invalid_type", param: at },
    {
      name: "text that is no text",
      message: user({ type: "text", text: 1 }),
      code: "invalid_type",
      param: `${at}.text`,
    },
    {
      name: "a text part without text",
      message: user({ type: "text" }),
      code: "missing_parameter",
      param: `${at}.text`,
    },
    {
      name: "a picture without an address",
      message: user({ type: "image_url", image_url: {} }),
      code: "missing_parameter",
      param: `${at}.image_url.url`,
    },
    {
      name: "a picture of another provider's store",
      message: user({ type: "image_url", image_url: { url: "gs://b/a.png" } }),
      code: "invalid_value",
      param: `${at}.image_url.url`,
    },
    {
      name: "audio that is no base64",
      message: user({ type: "input_audio", input_audio: { data: "!!", format: "wav" } }),
      code: "invalid_value",
      param: `${at}.input_audio.data`,
    },
    {
      name: "audio of no known format",
      message: user({ type: "input_audio", input_audio: { data: "AAAA", format: "tape" } }),
      code: "invalid_value",
      param: `${at}.input_audio.format`,
    },
    {
      name: "a file that is nowhere",
      message: user({ type: "file", file: {} }),
      code: "missing_parameter",
      param: `${at}.file.file_data`,
    },
    {
      name: "a picture in a system message",
      message: { role: "system", content: [{ type: "image_url", image_url: { url: png } }] },
      code: "unsupported_parameter",
      param: at,
    },
    {
      name: "audio that only its provider has",
      message: { role: "assistant", audio: { id: "audio_1" } },
      code: "unsupported_parameter",
      param: "messages[0].audio",
    },
    {
      name: "a call without a function",
      message: { role: "assistant", tool_calls: [{ id: "a" }] },
      code: "missing_parameter",
      param: "messages[0].tool_calls[0].function",
    },
    {
      name: "a call without a name",
      message: { role: "assistant", tool_calls: [{ id: "a", function: {} }] },
      code: "missing_parameter",
      param: "messages[0].tool_calls[0].function.name",
    },
    {
      name: "a call of no known type",
      message: { role: "assistant", tool_calls: [{ id: "a", type: "magic" }] },
      code: "invalid_value",
      param: "messages[0].tool_calls[0].type",
    },
    {
      name: "calls that are no list",
      message: { role: "assistant", tool_calls: {} },
      code: "invalid_type",
      param: "messages[0].tool_calls",
    },
  ]) {
    it(`refuses ${row.name}`, () => {
      assert.throws(
        () => turnsOf(row.message),
        (error) => error instanceof GatewayError && error.code === row.code && error.param === row.param,
      );
    });
  }
});

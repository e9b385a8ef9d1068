import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import type { MediaPart, Part, ResultPart, Turn } from "#proxy/neutral/conversation";
import { conversationOf, type TargetChanges, writtenRequest } from "#test/support/translation/chat-exchange";
import { OpenStates } from "#test/support/translation/exchange";
import {
  assistant,
  call,
  compatible,
  openRouter,
  result,
  system,
  text,
  user,
} from "#test/support/translation/small-turns";

const png: MediaPart = { kind: "media", media: "image", mime: "image/png", source: { type: "data", base64: "AAAA" } };

function messages(turns: readonly Turn[], target: TargetChanges = {}): unknown {
  return writtenRequest({ ...conversationOf(), turns }, target).body["messages"];
}

const written = (id: string, args = "{}") => ({ id, type: "function", function: { name: `f_${id}`, arguments: args } });

describe("writeMessages(): roles", () => {
  it("keeps system messages in their places, developer messages for OpenAI", () => {
    const turns: Turn[] = [
      system(text("A")),
      { role: "system", isDeveloper: true, parts: [text("B")] },
      user(text("1")),
      system(text("C")),
      user(text("2")),
    ];
    const roles = (target: TargetChanges) =>
      Object(messages(turns, target)).map((message: { role: string }) => message.role);
    assert.deepEqual(roles({}), ["system", "developer", "user", "system", "user"]);
    assert.deepEqual(roles(compatible), ["system", "system", "user", "system", "user"]);
  });

  it("pitfall 105: demotes later system text for templates that want it first", () => {
    const turns = [
      system(text("A")),
      system(text("B")),
      user(text("1")),
      assistant(text("x")),
      system(text("C")),
      user(text("2")),
    ];
    assert.deepEqual(messages(turns, { ...compatible, model: "Qwen/Qwen3-32B" }), [
      { role: "system", content: "A\n\nB" },
      { role: "user", content: "1" },
      { role: "assistant", content: "x" },
      {
        role: "user",
        content: [
          { type: "text", text: "<system>\nC\n</system>" },
          { type: "text", text: "2" },
        ],
      },
    ]);
  });

  it("joins the texts of one system turn and drops empty ones", () => {
    assert.deepEqual(messages([system(text("A"), text(""), text("B")), system(text("")), user(text("1"))]), [
      { role: "system", content: "A\n\nB" },
      { role: "user", content: "1" },
    ]);
  });

  it("pitfall 104: keeps marks for the cache in system text where the vendor knows them", () => {
    const marked: Part = { kind: "text", text: "A", cache: {} };
    assert.deepEqual(Object(messages([system(marked, text("B")), user(text("1"))], openRouter))[0], {
      role: "system",
      content: [
        { type: "text", text: "A", cache_control: { type: "ephemeral" } },
        { type: "text", text: "B" },
      ],
    });
  });

  it("carries a name that is allowed, and no other", () => {
    const named = (name: string) => Object(messages([{ ...user(text("hi")), name }]))[0].name;
    assert.equal(named("ann"), "ann");
    assert.equal(named("ann lee"), undefined);
  });

  it("keeps an empty text that is all a user said, else drops it", () => {
    assert.deepEqual(messages([user(text(""))]), [{ role: "user", content: "" }]);
    assert.deepEqual(messages([user(text(""), text("a"))]), [{ role: "user", content: "a" }]);
  });
});

describe("writeMessages(): assistant turns", () => {
  it("pitfall 102: has null for content beside calls", () => {
    assert.deepEqual(
      Object(
        messages([user(text("1")), assistant(text(""), call("a")), { role: "tool", parts: [result("a", "1")] }]),
      )[1],
      {
        role: "assistant",
        content: null,
        tool_calls: [written("a")],
      },
    );
  });

  it("joins fragments of one turn without anything between, turns with a blank line", () => {
    assert.deepEqual(Object(messages([assistant(text("he"), text("llo")), assistant(text("you"))])), [
      { role: "assistant", content: "hello\n\nyou" },
    ]);
  });

  it("makes one message of neighbouring turns, so that results follow their calls", () => {
    const turns = [
      assistant(text("x")),
      assistant(call("a")),
      assistant(call("b")),
      user(result("b", "2"), result("a", "1"), text("go")),
    ];
    assert.deepEqual(messages(turns), [
      { role: "assistant", content: "x", tool_calls: [written("a"), written("b")] },
      { role: "tool", tool_call_id: "a", content: "1" },
      { role: "tool", tool_call_id: "b", content: "2" },
      { role: "user", content: "go" },
    ]);
  });

  it("pitfall 99: makes no message of thinking alone", () => {
    assert.deepEqual(messages([user(text("1")), assistant({ kind: "reasoning", text: "T" }), user(text("2"))]), [
      { role: "user", content: "1" },
      { role: "user", content: "2" },
    ]);
  });

  it("pitfall 153: never gives thinking to a channel that did not give it, whatever its model is called", () => {
    const turns = [assistant({ kind: "reasoning", text: "T" }, call("a")), user(result("a", "1"))];
    for (const model of ["deepseek-ai/DeepSeek-V3.2", "moonshotai/Kimi-K2-Thinking", "some-model"]) {
      assert.equal(Object(messages(turns, { ...compatible, model }))[0].reasoning_content, undefined);
    }
  });

  it("says a refusal in OpenAI's member, and as text elsewhere", () => {
    const turns = [assistant({ kind: "refusal", text: "no" })];
    assert.deepEqual(messages(turns), [{ role: "assistant", content: null, refusal: "no" }]);
    assert.deepEqual(messages(turns, compatible), [{ role: "assistant", content: "no" }]);
  });

  it("drops what another provider's own tools did", () => {
    assert.deepEqual(messages([assistant({ kind: "hosted", type: "web_search_call" }, text("a"))]), [
      { role: "assistant", content: "a" },
    ]);
  });

  it("shows pictures that the model made as the user's", () => {
    assert.deepEqual(messages([assistant(text("a"), png)]), [
      { role: "assistant", content: "a" },
      {
        role: "user",
        content: [
          { type: "text", text: "From your answer:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        ],
      },
    ]);
  });

  it("shows them behind the results of calls in the same turn: nothing may stand between", () => {
    const turns = [assistant(png, call("a")), user(result("a", "done"), text("thanks"))];
    const roles = Object(messages(turns)).map(({ role, content }: { role: string; content: unknown }) =>
      Array.isArray(content) ? `${role} ${content[0].text}` : role,
    );
    assert.deepEqual(roles, ["assistant", "tool", "user From your answer:", "user"]);
  });

  it("writes empty arguments as an object and leaves others as they are", () => {
    const argumentsOf = (args: string) =>
      Object(messages([assistant(call("a", args))]))[0].tool_calls[0].function.arguments;
    assert.equal(argumentsOf(""), "{}");
    assert.equal(argumentsOf('{"n":12345678901234567890}'), '{"n":12345678901234567890}');
    assert.equal(argumentsOf("{broken"), "{broken");
  });

  it("writes calls of custom tools to OpenAI, and wraps them elsewhere", () => {
    const turns = [assistant(call("a", "select", { tool: "custom" }))];
    assert.deepEqual(Object(messages(turns))[0].tool_calls, [
      { id: "a", type: "custom", custom: { name: "f_a", input: "select" } },
    ]);
    assert.deepEqual(Object(messages(turns, compatible))[0].tool_calls, [written("a", '{"input":"select"}')]);
  });

  it("pitfall 133: puts the signature of a call back where the channel gave it", () => {
    const states = new OpenStates();
    states.remember("a", [{ kind: "thought-signature", data: "TSIG" }]);
    const [message] = Object(messages([assistant(call("a"))], { states }));
    assert.deepEqual(message.tool_calls[0].extra_content, { google: { thought_signature: "TSIG" } });
  });
});

describe("writeMessages(): ids of calls", () => {
  const turns = [
    assistant(call("toolu_01"), call("abcdef123")),
    user(result("toolu_01", "1"), result("abcdef123", "2")),
  ];
  const idsFor = (target: TargetChanges) => {
    const [calling, ...results] = Object(messages(turns, target));
    return {
      calls: calling.tool_calls.map(({ id }: { id: string }) => id),
      results: results.map((message: { tool_call_id: string }) => message.tool_call_id),
    };
  };

  it("stay as they are", () => {
    assert.deepEqual(idsFor(compatible), { calls: ["toolu_01", "abcdef123"], results: ["toolu_01", "abcdef123"] });
  });

  it("become nine letters and digits for Mistral, the same in a call and its result", () => {
    const { calls, results } = idsFor({ ...compatible, model: "mistralai/Mistral-Small-3.2" });
    assert.deepEqual(calls, results);
    assert.match(calls[0], /^[a-z0-9]{9}$/);
    assert.equal(calls[1], "abcdef123");
  });
});

describe("writeMessages(): results", () => {
  const answered = (part: ResultPart) => Object(messages([assistant(call("a")), user(part)]));

  it("joins texts by line ends", () => {
    const content = [text("1"), text("2")] as ResultPart["content"];
    assert.equal(answered({ kind: "result", callId: "a", content })[1].content, "1\n2");
  });

  it("says an empty result as an empty text", () => assert.equal(answered(result("a", ""))[1].content, ""));

  it("marks an error in words, once", () => {
    assert.equal(answered(result("a", "boom", { isError: true }))[1].content, "Error: boom");
    assert.equal(answered(result("a", "Error: boom", { isError: true }))[1].content, "Error: boom");
    assert.equal(answered(result("a", "boom"))[1].content, "boom");
  });

  it("shows the pictures of a result behind all results", () => {
    const turns = [
      assistant(call("a"), call("b")),
      user({ ...result("a", "seen"), content: [{ kind: "text", text: "seen" }, png] }, result("b", "2")),
    ];
    assert.deepEqual(Object(messages(turns)).slice(1), [
      { role: "tool", tool_call_id: "a", content: "seen" },
      { role: "tool", tool_call_id: "b", content: "2" },
      {
        role: "user",
        content: [
          { type: "text", text: "Tool result for f_a:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        ],
      },
    ]);
  });

  it("writes a result for a call without one", () => {
    const [, answer] = Object(messages([assistant(call("a")), user(text("go"))]));
    assert.deepEqual(answer, { role: "tool", tool_call_id: "a", content: "Error: [no result]" });
  });

  it("makes text of a result that nobody asked for", () => {
    assert.deepEqual(messages([user(result("z", "1", { name: "f" }))]), [
      { role: "user", content: "[tool result f] 1" },
    ]);
  });
});

describe("writeContent(): media", () => {
  const contentOf = (part: MediaPart, target: TargetChanges = {}) =>
    Object(messages([user(part)], target))[0].content[0];
  const base64 = Buffer.from("hello").toString("base64");
  const document: MediaPart = { kind: "media", media: "document", source: { type: "data", base64 }, where: "w" };
  const video: MediaPart = {
    kind: "media",
    media: "video",
    source: { type: "url", url: "https://example.com/a.mp4" },
    where: "w",
  };
  const audio = (mime: string): MediaPart => ({
    kind: "media",
    media: "audio",
    mime,
    source: { type: "data", base64: "AAAA" },
    where: "w",
  });

  for (const row of [
    {
      name: "a picture with its detail",
      part: { ...png, detail: "low" },
      want: { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } },
    },
    {
      name: "a picture's address",
      part: { ...png, source: { type: "url", url: "https://example.com/a.png" } } as const,
      want: { type: "image_url", image_url: { url: "https://example.com/a.png" } },
    },
    {
      name: "a PDF",
      part: { ...document, mime: "application/pdf", filename: "a.pdf" },
      want: { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${base64}` } },
    },
    {
      name: "a file of text as text, with its title",
      part: { ...document, mime: "text/plain", title: 'a "b"' },
      want: { type: "text", text: '<document title="a &quot;b&quot;">\nhello\n</document>' },
    },
    {
      name: "a text document with its context",
      part: { ...document, source: { type: "text", text: "body" }, context: "C" } as const,
      want: { type: "text", text: "<document>\nC\nbody\n</document>" },
    },
    {
      name: "a file that OpenAI keeps",
      part: { ...document, source: { type: "file", owner: "openai", id: "file-1" } } as const,
      want: { type: "file", file: { file_id: "file-1" } },
    },
    {
      name: "audio",
      part: audio("audio/mpeg"),
      want: { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } },
    },
    {
      name: "a video elsewhere",
      part: video,
      target: compatible,
      want: { type: "video_url", video_url: { url: "https://example.com/a.mp4" } },
    },
    {
      name: "other audio elsewhere",
      part: audio("audio/flac"),
      target: compatible,
      want: { type: "input_audio", input_audio: { data: "AAAA", format: "flac" } },
    },
  ] as readonly { name: string; part: MediaPart; target?: TargetChanges; want: unknown }[]) {
    // A text that is alone goes bare.
    it(`writes ${row.name}`, () => {
      const content = Object(messages([user(row.part)], row.target))[0].content;
      assert.deepEqual(typeof content === "string" ? { type: "text", text: content } : content[0], row.want);
    });
  }

  for (const row of [
    { name: "a video at OpenAI", part: video },
    { name: "audio that is neither wav nor mp3 at OpenAI", part: audio("audio/flac") },
    { name: "audio of no known format", part: audio("audio/x-unknown"), target: compatible },
    { name: "a file of another vendor", part: { ...document, source: { type: "file", owner: "anthropic", id: "f" } } },
    {
      name: "OpenAI's file elsewhere",
      part: { ...document, source: { type: "file", owner: "openai", id: "f" } },
      target: compatible,
    },
    {
      name: "a document by its address",
      part: { ...document, source: { type: "url", url: "https://example.com/a.pdf" } },
    },
  ] as readonly { name: string; part: MediaPart; target?: TargetChanges }[]) {
    it(`refuses ${row.name}, by the client's path`, () => {
      assert.throws(
        () => contentOf(row.part, row.target),
        (error) => error instanceof GatewayError && error.code === "unsupported_parameter" && error.param === "w",
      );
    });
  }
});

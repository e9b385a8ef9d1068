import assert from "node:assert/strict";
import type { Conversation, Part, ProviderState, Turn } from "#proxy/neutral/conversation";
import { OpenStates } from "#test/support/translation/exchange";
import {
  assistant,
  call,
  conversation,
  refusalOf,
  result,
  system,
  type TargetChanges,
  text,
  tool,
  user,
  writeBody,
} from "#test/support/translation/messages-exchange";

function messagesOf(turns: readonly Turn[], changes: TargetChanges = {}, more: Partial<Conversation> = {}): unknown {
  return writeBody(conversation({ turns, ...more }), changes).body["messages"];
}

const use = (id: string, input: object = {}): object => ({ type: "tool_use", id, name: "f", input });
const answer = (id: string, content = "ok"): object => ({ type: "tool_result", tool_use_id: id, content });
const said = (content: string): object => ({ type: "text", text: content });
const hi = { role: "user", content: "hi" };

describe("messages: writeRequest, marks of blank texts", () => {
  const blank: Part = {
    kind: "text",
    text: " ",
    cache: { ttl: "12h", isBreakpoint: true },
    where: "messages[0].content[1]",
  };

  it("moves them to the part before", () => {
    const { body, dropped } = writeBody(conversation({ turns: [user(text("hi"), blank)] }));
    assert.deepEqual(body["messages"], [
      { role: "user", content: [{ ...said("hi"), cache_control: { type: "ephemeral", ttl: "1h" } }] },
    ]);
    assert.deepEqual(dropped, []);
  });

  it("declares them where there is none", () => {
    const { dropped } = writeBody(conversation({ turns: [user(blank, text("hi"))] }));
    assert.deepEqual(dropped, ["messages[0].content[1].prompt_cache_breakpoint"]);
  });
});

describe("messages: writeRequest, turns", () => {
  for (const row of [
    { name: "writes a lone text as a string", turns: [user(text("hi"))], want: [hi] },
    {
      name: "pitfall 75: puts all results of one turn first, then the text, in one message of the user",
      turns: [
        user(text("hi")),
        assistant(call("a"), call("b")),
        tool(result("b")),
        tool(result("a")),
        user(text("go")),
      ],
      want: [
        hi,
        { role: "assistant", content: [use("a"), use("b")] },
        { role: "user", content: [answer("a"), answer("b"), said("go")] },
      ],
    },
    {
      name: "merges turns of the assistant in a row",
      turns: [user(text("hi")), assistant(text("a")), assistant(call("b")), tool(result("b"))],
      want: [hi, { role: "assistant", content: [said("a"), use("b")] }, { role: "user", content: [answer("b")] }],
    },
    {
      name: "pitfall 102: writes no empty text beside calls",
      turns: [user(text("hi")), assistant(text(""), text(" \n"), call("a")), tool(result("a"))],
      want: [hi, { role: "assistant", content: [use("a")] }, { role: "user", content: [answer("a")] }],
    },
    {
      name: "pitfall 84: writes arguments that are empty text as an empty object",
      turns: [user(text("hi")), assistant(call("a", { arguments: "" }), call("b", { arguments: '{"x":1}' }))],
      want: [
        hi,
        { role: "assistant", content: [use("a"), use("b", { x: 1 })] },
        {
          role: "user",
          content: ["a", "b"].map((id) => ({ ...answer(id, "[no result]"), is_error: true })),
        },
      ],
    },
    {
      name: "keeps arguments that are no object as text",
      turns: [user(text("hi")), assistant(call("a", { arguments: "[1" })), tool(result("a"))],
      want: [hi, { role: "assistant", content: [use("a", { _raw: "[1" })] }, { role: "user", content: [answer("a")] }],
    },
    {
      name: "wraps the text of a custom tool",
      turns: [user(text("hi")), assistant(call("a", { tool: "custom", arguments: "SELECT 1" })), tool(result("a"))],
      want: [
        hi,
        { role: "assistant", content: [use("a", { input: "SELECT 1" })] },
        { role: "user", content: [answer("a")] },
      ],
    },
    {
      name: "lets the user begin",
      turns: [assistant(text("a")), user(text("b"))],
      want: [
        { role: "user", content: "." },
        { role: "assistant", content: "a" },
        { role: "user", content: "b" },
      ],
    },
    {
      name: "lets the user say something when there is only a system",
      turns: [system(text("s"))],
      want: [{ role: "user", content: "." }],
    },
    {
      name: "gives an empty message of the user a text",
      turns: [user(text(""))],
      want: [{ role: "user", content: "(empty)" }],
    },
    {
      name: "adds none beside results",
      turns: [user(text("hi")), assistant(call("a")), tool(result("a")), user(text(""))],
      want: [hi, { role: "assistant", content: [use("a")] }, { role: "user", content: [answer("a")] }],
    },
    {
      name: "leaves out an empty reply and joins what stood around it",
      turns: [user(text("hi")), assistant(text("")), user(text("b"))],
      want: [{ role: "user", content: [said("hi"), said("b")] }],
    },
    {
      name: "writes a refusal as text",
      turns: [user(text("hi")), assistant({ kind: "refusal", text: "no" }), user(text("b"))],
      want: [hi, { role: "assistant", content: "no" }, { role: "user", content: "b" }],
    },
    {
      name: "pitfall 57: gives call and result one valid id",
      turns: [user(text("hi")), assistant(call("functions.f:0")), tool(result("functions.f:0"))],
      want: [
        hi,
        { role: "assistant", content: [use("functions_f_0_d6bdd4de")] },
        { role: "user", content: [answer("functions_f_0_d6bdd4de")] },
      ],
    },
    {
      name: "gives an id that is used again one of its own",
      turns: [
        user(text("hi")),
        assistant(call("a")),
        tool(result("a", "1")),
        assistant(call("a")),
        tool(result("a", "2")),
      ],
      want: [
        hi,
        { role: "assistant", content: [use("a")] },
        { role: "user", content: [answer("a", "1")] },
        { role: "assistant", content: [use("a_2")] },
        { role: "user", content: [answer("a_2", "2")] },
      ],
    },
    {
      name: "writes an empty result without content, and an error as one",
      turns: [
        user(text("hi")),
        assistant(call("a"), call("b")),
        tool(result("a", ""), result("b", "boom", { isError: true })),
      ],
      want: [
        hi,
        { role: "assistant", content: [use("a"), use("b")] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a" },
            { ...answer("b", "boom"), is_error: true },
          ],
        },
      ],
    },
  ]) {
    it(row.name, () => assert.deepEqual(messagesOf(row.turns), row.want));
  }

  it("writes the leading system turns as blocks, a lone text as a string, and no empty ones", () => {
    const turns = [system(text("a")), system(text(""), text("b")), user(text("hi"))];
    assert.deepEqual(writeBody(conversation({ turns })).body["system"], [said("a"), said("b")]);
    assert.equal(writeBody(conversation({ turns: turns.slice(0, 1) })).body["system"], "a");
    assert.equal(Object.hasOwn(writeBody(conversation()).body, "system"), false);
  });

  const later = [user(text("a")), system(text("s")), system(text("t")), assistant(text("b")), user(text("c"))];
  it("pitfall 135: joins later system turns for a model that takes them behind the user", () => {
    assert.deepEqual(messagesOf(later, { model: "claude-opus-4-8" }), [
      { role: "user", content: "a" },
      { role: "system", content: [said("s"), said("t")] },
      { role: "assistant", content: "b" },
      { role: "user", content: "c" },
    ]);
  });
  it("pitfall 105: makes them text of the user at their place for all others", () => {
    for (const changes of [
      { model: "claude-opus-4-6" },
      { model: "claude-opus-5", provider: "AnthropicCompatible" } as const,
    ]) {
      assert.deepEqual(messagesOf(later, changes), [
        { role: "user", content: [said("a"), said("<system>\ns\n</system>"), said("<system>\nt\n</system>")] },
        { role: "assistant", content: "b" },
        { role: "user", content: "c" },
      ]);
    }
  });
  it("does so too where the rules of places do not hold", () => {
    const turns = [user(text("a")), assistant(text("b")), system(text("s")), user(text("c"))];
    assert.deepEqual(Object(messagesOf(turns, { model: "claude-opus-4-8" })).at(-1), {
      role: "user",
      content: [said("<system>\ns\n</system>"), said("c")],
    });
  });

  describe("the last turn of the assistant", () => {
    const turns = [user(text("a")), assistant(text("b ", { where: "messages.1.content" }))];
    it("is continued by a model that can, without space at its end", () => {
      const { body, dropped } = writeBody(conversation({ turns }), { model: "claude-sonnet-4-5" });
      assert.deepEqual(body["messages"], [
        { role: "user", content: "a" },
        { role: "assistant", content: "b" },
      ]);
      assert.deepEqual(dropped, []);
    });
    it("is followed by the request to continue it for a model that cannot, which is declared", () => {
      const { body, dropped } = writeBody(conversation({ turns }), { model: "claude-opus-4-6" });
      assert.deepEqual(body["messages"], [
        { role: "user", content: "a" },
        { role: "assistant", content: "b " },
        { role: "user", content: "Continue." },
      ]);
      assert.deepEqual(dropped, ["messages.1.content"]);
    });
    it("is not continued while the model thinks or keeps a schema", () => {
      for (const more of [
        { reasoning: { mode: "on", budget: 1024 } as const, outputCap: 4000 },
        {
          outputFormat: { kind: "schema", schema: { type: "object", properties: { a: { type: "string" } } } } as const,
        },
      ]) {
        const messages = messagesOf(turns, { model: "claude-sonnet-4-5" }, more);
        assert.deepEqual(Array.isArray(messages) ? messages.at(-1) : undefined, { role: "user", content: "Continue." });
      }
    });
  });

  describe("thinking of earlier turns", () => {
    const states = new OpenStates();
    const state = { kind: "thinking", text: "T", signature: "SIG" } as const;
    const envelope = states.seal([state, { kind: "redacted-thinking", data: "RED" }]);
    const signed = { kind: "reasoning", text: "other words", states: [{ type: "sealed", envelope }] } as const;
    const blocks = [
      { type: "thinking", thinking: "T", signature: "SIG" },
      { type: "redacted_thinking", data: "RED" },
    ];

    it("pitfall 33: goes back as it was signed, before what followed it", () => {
      assert.deepEqual(messagesOf([user(text("hi")), assistant(signed, text("a")), user(text("b"))], { states }), [
        hi,
        { role: "assistant", content: [...blocks, said("a")] },
        { role: "user", content: "b" },
      ]);
    });
    const unsigned = { kind: "reasoning", text: "T" } as const;
    const sealedIn = (...sealed: ProviderState[]): Part => ({
      ...unsigned,
      states: [{ type: "sealed", envelope: states.seal(sealed) }],
    });
    for (const row of [
      { name: "pitfall 93: leaves out text without a signature", part: unsigned },
      {
        name: "pitfall 134: leaves out thinking whose signature is blank",
        part: sealedIn({ kind: "thinking", text: "T", signature: "" }),
      },
      {
        name: "pitfall 91: leaves out state of another vendor",
        part: sealedIn({ kind: "thought-signature", data: "TSIG" }),
      },
      {
        name: "leaves out what a client got from somewhere else",
        part: { ...unsigned, states: [{ type: "native", state }] } satisfies Part,
      },
    ]) {
      it(row.name, () =>
        assert.deepEqual(messagesOf([user(text("hi")), assistant(row.part, text("a")), user(text("b"))], { states }), [
          hi,
          { role: "assistant", content: "a" },
          { role: "user", content: "b" },
        ]),
      );
    }
    it("comes from memory by the id of a call, and stands before the text of its turn", () => {
      const memory = new OpenStates();
      memory.remember("a", [state]);
      assert.deepEqual(
        messagesOf([user(text("hi")), assistant(text("x"), call("a")), tool(result("a"))], { states: memory }),
        [
          hi,
          { role: "assistant", content: [blocks[0], said("x"), use("a")] },
          { role: "user", content: [answer("a")] },
        ],
      );
    });
    it("is written once when a part and a call both hold it", () => {
      const memory = new OpenStates();
      memory.remember("a", [state]);
      const [, written] = Object(
        messagesOf([user(text("hi")), assistant(signed, call("a")), tool(result("a"))], { states: memory }),
      );
      assert.deepEqual(written, { role: "assistant", content: [...blocks, use("a")] });
    });
    it("never ends a reply, and is nothing to a model that does not think", () => {
      const turns = [user(text("hi")), assistant(text("a"), signed), user(text("b"))];
      assert.deepEqual(Object(messagesOf(turns, { states }))[1], { role: "assistant", content: "a" });
      const before = [user(text("hi")), assistant(signed, text("a")), user(text("b"))];
      assert.deepEqual(Object(messagesOf(before, { states, model: "claude-3-haiku" }))[1], {
        role: "assistant",
        content: "a",
      });
    });
  });

  it("leaves out what a provider's own tools did, and declares it", () => {
    const turns = [
      user(text("hi")),
      assistant({ kind: "hosted", type: "x", where: "input[1]" }, text("a")),
      user(text("b")),
    ];
    const { body, dropped } = writeBody(conversation({ turns }));
    assert.deepEqual(Object(body["messages"])[1], { role: "assistant", content: "a" });
    assert.deepEqual(dropped, ["input[1]"]);
  });

  it("refuses media inside of a reply, which would vanish", () => {
    const media = {
      kind: "media",
      media: "image",
      source: { type: "url", url: "u" },
      where: "contents[1].parts[0]",
    } as const;
    assert.equal(
      refusalOf(() => messagesOf([user(text("hi")), assistant(media)])),
      "unsupported_parameter contents[1].parts[0]",
    );
  });

  it("says nothing of roles other than the three, whatever the turns are", () => {
    const roles = new Set(Object(messagesOf(later, { model: "m" })).map(({ role }: { role: string }) => role));
    assert.deepEqual([...roles].sort(), ["assistant", "user"]);
  });
});

import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { chatCompletionsClientTranslator } from "#proxy/formats/chat-completions/translate/client-translator";
import type { ProviderState } from "#proxy/neutral/conversation";
import type { OpenedBlock, ReplyEvent } from "#proxy/neutral/reply";
import { zeroUsage } from "#proxy/settle/usage";
import { checkGrammar } from "#test/support/digest/grammar";
import { replyContext, writeStream } from "#test/support/translation/chat-exchange";
import { OpenStates } from "#test/support/translation/exchange";

const start = { type: "start", id: "up", model: "upstream-model" } as const;
const end = { type: "end" } as const;
const usage = {
  type: "usage",
  usage: { ...zeroUsage, input: 10, cacheRead: 90, cacheWrite: 5, output: 17, reasoning: 20 },
} as const;

function open(part: number, block: OpenedBlock, candidate = 0): ReplyEvent {
  return { type: "open", candidate, part, block };
}
function delta(part: number, text: string, candidate = 0): ReplyEvent {
  return { type: "delta", candidate, part, text };
}
function close(part: number, candidate = 0): ReplyEvent {
  return { type: "close", candidate, part };
}
function finish(reason: "stop" | "tool-calls" | "length" = "stop", candidate = 0): ReplyEvent {
  return { type: "finish", candidate, finish: { reason } };
}
function state(part: number, value: ProviderState): ReplyEvent {
  return { type: "state", candidate: 0, part, state: value };
}
const text = { kind: "text" } as const;
const call = (id: string | undefined, name: string, tool: "function" | "custom" = "function"): OpenedBlock => ({
  kind: "call",
  id,
  name,
  tool,
});

/** The chunks' JSON, the terminator as text. */
function chunks(stream: string): unknown[] {
  return stream
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: "))
    .map((frame) => (frame === "data: [DONE]" ? "[DONE]" : JSON.parse(frame.slice("data: ".length))));
}

function deltas(events: readonly ReplyEvent[], context = replyContext()): unknown[] {
  return chunks(writeStream(events, context))
    .flatMap((chunk) => (typeof chunk === "object" && chunk !== null ? Reflect.get(chunk, "choices") : []))
    .map((choice: object) => Reflect.get(choice, "delta"));
}

describe("chat completions stream writer: frames", () => {
  const events = [start, open(0, text), delta(0, "Hi"), close(0), finish(), usage, end];

  it("pitfall 20: sends role, text, finish, usage and the terminator in this order", () => {
    const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_790_000_000, model: "m" };
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta, finish_reason }],
      usage: null,
    });
    assert.deepEqual(chunks(writeStream(events)), [
      chunk({ role: "assistant", content: "", refusal: null }),
      chunk({ content: "Hi" }),
      chunk({}, "stop"),
      {
        ...head,
        choices: [],
        usage: {
          prompt_tokens: 105,
          completion_tokens: 37,
          total_tokens: 142,
          prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 5 },
          completion_tokens_details: { reasoning_tokens: 20 },
        },
      },
      "[DONE]",
    ]);
  });

  it("pitfall 21: shows no trace of usage to a client that did not ask", () => {
    assert.ok(!writeStream(events, replyContext({}, { wantsStreamUsage: false })).includes("usage"));
  });

  it("pitfall 22: has an empty list of choices beside usage", () => {
    assert.deepEqual(Reflect.get(Object(chunks(writeStream(events)).at(-2)), "choices"), []);
  });

  it("pitfall 32: counts seconds", () => {
    assert.equal(Reflect.get(Object(chunks(writeStream(events))[0]), "created"), 1_790_000_000);
  });

  it("says nothing of usage that never came", () => {
    assert.equal(chunks(writeStream(events.filter(({ type }) => type !== "usage"))).length, 4);
  });

  it("escapes what some clients take for the end of a line, wherever it stands", () => {
    const odd = "a\u2028b\u2029c\u0085d";
    const events: ReplyEvent[] = [
      start,
      open(0, text),
      delta(0, odd),
      { type: "citation", candidate: 0, part: 0, citation: { url: "u", title: odd } },
      close(0),
      open(1, call(odd, odd)),
      close(1),
      finish(),
    ];
    const stream = writeStream(events, replyContext({ model: odd }));
    assert.doesNotMatch(stream, /[\u0085\u2028\u2029]/);
    assert.equal(JSON.stringify(chunks(stream)).split(odd).length - 1, 4 + chunks(stream).length);
  });

  it("names the tier in this format's words, and no other vendor's", () => {
    const first = (serviceTier: string) => Object(chunks(writeStream([{ ...start, serviceTier }]))[0]);
    assert.equal(Reflect.get(first("priority"), "service_tier"), "priority");
    assert.equal(Reflect.get(first("standard"), "service_tier"), "default");
    assert.equal(Reflect.get(first("batch"), "service_tier"), undefined);
  });

  for (const before of [[], [start], events.slice(0, 3)]) {
    it(`pitfall 11: fails with an error frame and no terminator, after ${before.length} events`, () => {
      const writer = chatCompletionsClientTranslator.createStreamWriter(replyContext());
      const sent = before.map((event) => writer.write(event)).join("");
      const stream = sent + writer.fail(new GatewayError("upstream_error", "It broke."), { requestId: "r" });
      assert.deepEqual(chunks(stream).at(-1), {
        error: { message: "It broke.", type: "server_error", param: null, code: "upstream_error" },
      });
      assert.ok(!stream.includes("[DONE]"));
      assert.deepEqual(checkGrammar("openai-chat", Buffer.from(stream)), []);
    });
  }
});

describe("chat completions stream writer: deltas", () => {
  const first = { role: "assistant", content: "", refusal: null };

  it("pitfall 25: puts all parts of a candidate into one choice", () => {
    const said = deltas([
      start,
      open(0, { kind: "reasoning" }),
      delta(0, "T"),
      close(0),
      open(1, text),
      delta(1, "a"),
      close(1),
      open(2, { kind: "refusal" }),
      delta(2, "no"),
      close(2),
      finish(),
    ]);
    assert.deepEqual(said, [first, { reasoning_content: "T" }, { content: "a" }, { refusal: "no" }, {}]);
  });

  it("hides thinking from a client that wants none of it", () => {
    const context = replyContext({ reasoning: { effort: "low", exclude: true } });
    const said = deltas([start, open(0, { kind: "reasoning" }), delta(0, "T"), close(0), finish()], context);
    assert.deepEqual(said, [first, {}]);
  });

  it("pitfall 26: counts calls from 0, whatever stands before them, and says id and name once", () => {
    const said = deltas([
      start,
      open(0, text),
      delta(0, "a"),
      close(0),
      open(1, call("c1", "f")),
      open(2, call("c2", "g")),
      delta(1, '{"x":'),
      delta(2, "{}"),
      delta(1, "1}"),
      close(1),
      close(2),
      finish("tool-calls"),
    ]);
    const opening = (index: number, id: string, name: string) => ({
      tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }],
    });
    const growing = (index: number, args: string) => ({ tool_calls: [{ index, function: { arguments: args } }] });
    assert.deepEqual(said.slice(2), [
      opening(0, "c1", "f"),
      opening(1, "c2", "g"),
      growing(0, '{"x":'),
      growing(1, "{}"),
      growing(0, "1}"),
      {},
    ]);
  });

  it("pitfall 28: a call without arguments ends as {}", () => {
    const said = deltas([start, open(0, call("c", "f")), close(0), finish("tool-calls")]);
    assert.deepEqual(said[2], { tool_calls: [{ index: 0, function: { arguments: "{}" } }] });
  });

  it("gives an id to a call that has none", () => {
    const said = deltas([start, open(0, call(undefined, "f")), delta(0, "{}"), close(0), finish("tool-calls")]);
    assert.match(JSON.stringify(said[1]), /"id":"call_\d+"/);
  });

  it("says calls of custom tools in their own members", () => {
    const said = deltas([
      start,
      open(0, call("c", "sql", "custom")),
      delta(0, "select"),
      close(0),
      finish("tool-calls"),
    ]);
    assert.deepEqual(said.slice(1, 3), [
      { tool_calls: [{ index: 0, id: "c", type: "custom", custom: { name: "sql", input: "" } }] },
      { tool_calls: [{ index: 0, custom: { input: "select" } }] },
    ]);
  });

  it("serves a client of the older functions in their form", () => {
    const context = replyContext({ functions: [{ name: "f" }] });
    const events = [start, open(0, call("c", "f")), delta(0, "{}"), close(0), finish("tool-calls"), end];
    const stream = writeStream(events, context);
    assert.deepEqual(deltas(events, replyContext({ functions: [{ name: "f" }] })).slice(1, 3), [
      { function_call: { name: "f", arguments: "" } },
      { function_call: { arguments: "{}" } },
    ]);
    assert.match(stream, /"finish_reason":"function_call"/);
  });

  it("sends pictures and sounds where vendors put them", () => {
    const said = deltas([
      start,
      open(0, { kind: "media", mime: "image/png", base64: "AAAA" }),
      close(0),
      open(1, { kind: "media", mime: "audio/wav", base64: "BBBB", transcript: "hi" }),
      close(1),
      finish(),
    ]);
    assert.deepEqual(said.slice(1, 3), [
      { images: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] },
      { audio: { id: "audio_2", data: "BBBB", expires_at: 1_790_000_000, transcript: "hi" } },
    ]);
  });

  it("tells of files that it has no place for (11.4)", () => {
    const video = { kind: "media", mime: "video/mp4", url: "https://a.example/v" } as const;
    const said = deltas([start, open(0, video), close(0), finish()]);
    assert.deepEqual(said.slice(1, 2), [{ content: "[video omitted]" }]);
  });

  it("never makes text of what a provider's own tool did", () => {
    const hosted = { kind: "hosted", tool: "code", type: "code_interpreter_call", code: "1+1", output: "2" } as const;
    assert.deepEqual(deltas([start, open(0, hosted), close(0), finish()]), [first, {}]);
  });

  it("pitfall 128: sends all sources together before the finish, their offsets moved to the whole content", () => {
    const cite = (part: number, url: string, place: object = {}): ReplyEvent => ({
      type: "citation",
      candidate: 0,
      part,
      citation: { url, title: url, ...place },
    });
    const said = deltas([
      start,
      open(0, text),
      delta(0, "four"),
      close(0),
      open(1, text),
      cite(1, "whole"),
      delta(1, "seventy"),
      cite(1, "some", { start: 1, end: 3 }),
      close(1),
      finish(),
    ]);
    const note = (url: string, start_index: number, end_index: number) => ({
      type: "url_citation",
      url_citation: { start_index, end_index, title: url, url },
    });
    assert.deepEqual(said.slice(-2), [{ annotations: [note("whole", 4, 11), note("some", 5, 7)] }, {}]);
  });

  it("sends probabilities with an empty piece of content, bytes of formats that have none among them", () => {
    const tokens = [{ token: "é", logprob: -1, top: [] }];
    const stream = writeStream([
      start,
      open(0, text),
      delta(0, "é"),
      { type: "logprobs", candidate: 0, part: 0, tokens },
    ]);
    const choice = Reflect.get(Object(chunks(stream).at(-1)), "choices")[0];
    assert.deepEqual(choice, {
      index: 0,
      delta: { content: "" },
      logprobs: { content: [{ token: "é", logprob: -1, bytes: [195, 169], top_logprobs: [] }], refusal: null },
      finish_reason: null,
    });
  });

  it("pitfall 131: has a role and a finish for each candidate, and one id on all chunks", () => {
    const stream = writeStream([
      start,
      open(0, text, 1),
      delta(0, "b", 1),
      open(0, text),
      delta(0, "a"),
      close(0),
      close(0, 1),
      finish("stop", 1),
      finish("length"),
      end,
    ]);
    const all = chunks(stream)
      .filter((chunk) => chunk !== "[DONE]")
      .map((chunk) => Object(chunk));
    assert.equal(new Set(all.map(({ id }) => id)).size, 1);
    const said = all.flatMap(({ choices }) => choices);
    for (const index of [0, 1]) {
      const own = said.filter((choice: { index: number }) => choice.index === index);
      assert.equal(own[0].delta.role, "assistant");
      assert.equal(own.filter(({ delta }: { delta: object }) => "role" in delta).length, 1);
      assert.equal(own.filter(({ finish_reason }: { finish_reason: unknown }) => finish_reason !== null).length, 1);
    }
  });
});

describe("chat completions stream writer: provider state", () => {
  const thinking = { kind: "thinking", text: "T", signature: "SIG" } as const;
  const signature = { kind: "thought-signature", data: "TSIG" } as const;

  it("pitfall 33: keeps signed thinking under the id of the call that follows it", () => {
    const states = new OpenStates();
    const events = [
      start,
      open(0, { kind: "reasoning" }),
      delta(0, "T"),
      state(0, thinking),
      close(0),
      open(1, call("c1", "f")),
      close(1),
      open(2, call("c2", "f")),
      close(2),
      finish("tool-calls"),
      end,
    ];
    const stream = writeStream(events, replyContext({}, { states }));
    assert.deepEqual([...states.remembered], [["c1", [thinking]]]);
    assert.ok(!stream.includes("SIG"));
  });

  it("pitfall 87: keeps a call's signature under its own id and sends it sealed where Google has it", () => {
    const states = new OpenStates();
    const events = [
      start,
      open(0, call("c1", "f")),
      state(0, signature),
      delta(0, "{}"),
      close(0),
      open(1, call("c2", "f")),
      close(1),
    ];
    const said = deltas(events, replyContext({}, { states }));
    assert.deepEqual([...states.remembered], [["c1", [signature]]]);
    assert.deepEqual(said[2], {
      tool_calls: [
        {
          index: 0,
          function: { arguments: "" },
          extra_content: { google: { thought_signature: states.seal([signature]) } },
        },
      ],
    });
  });

  it("sends the signature of a call to a custom tool as a piece of such a call", () => {
    const states = new OpenStates();
    const custom = { kind: "call", id: "c1", name: "sql", tool: "custom" } as const;
    const [, , piece] = deltas([start, open(0, custom), state(0, signature)], replyContext({}, { states }));
    const extra_content = { google: { thought_signature: states.seal([signature]) } };
    assert.deepEqual(piece, { tool_calls: [{ index: 0, custom: { input: "" }, extra_content }] });
  });

  it("pitfall 89: shows nothing of a signature that came without a call", () => {
    const said = deltas([start, open(0, text), delta(0, "a"), state(0, signature), close(0), finish()]);
    assert.equal(JSON.stringify(said).includes("TSIG"), false);
  });
});

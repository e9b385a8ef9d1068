import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { messagesClientTranslator } from "#proxy/formats/messages/translate/client-translator";
import type { ReplyContext } from "#proxy/formats/translator";
import type { Finish, OpenedBlock, ReplyEvent } from "#proxy/neutral/reply";
import { zeroUsage } from "#proxy/settle/usage";
import { checkGrammar } from "#test/support/digest/grammar";
import { OpenStates } from "#test/support/translation/exchange";
import { conversation, framesOf, replyContext, writeStream } from "#test/support/translation/messages-exchange";

const start: ReplyEvent = { type: "start", id: "up_1", model: "upstream-model" };
const open = (part: number, block: OpenedBlock): ReplyEvent => ({ type: "open", candidate: 0, part, block });
const delta = (part: number, text: string): ReplyEvent => ({ type: "delta", candidate: 0, part, text });
const close = (part: number): ReplyEvent => ({ type: "close", candidate: 0, part });
const callBlock = (id: string | undefined, name = "f", tool: "function" | "custom" = "function"): OpenedBlock => ({
  kind: "call",
  id,
  name,
  tool,
});
const text = { kind: "text" } as const;
const reasoning = { kind: "reasoning" } as const;
const tsig = { kind: "thought-signature", data: "TSIG" } as const;
const state = (part: number): ReplyEvent => ({ type: "state", candidate: 0, part, state: tsig });

function end(reason: Finish["reason"] = "stop"): ReplyEvent[] {
  return [{ type: "finish", candidate: 0, finish: { reason } }, { type: "end" }];
}

function thinkingContext(
  reasoningWish: NonNullable<ReplyContext["conversation"]["reasoning"]> | undefined,
): ReplyContext {
  return replyContext({ conversation: conversation({ reasoning: reasoningWish }) });
}

/** Each frame between start and end in a few words. Sealed state is spelled out. */
function sketch(events: readonly ReplyEvent[], context: ReplyContext = replyContext()): string[] {
  const stream = writeStream([start, ...events, ...end()], context);
  assert.deepEqual(checkGrammar("anthropic-messages", Buffer.from(stream)), []);
  return framesOf(stream).slice(1, -2).map(sketchFrame);
}

function sketchFrame(frame: unknown): string {
  const { type, index, content_block: block, delta: piece } = Object(frame);
  if (type === "content_block_start")
    return `${index} ${block.type}${block.id === undefined ? "" : ` ${block.id} ${block.name}`}`;
  if (type === "content_block_stop") return `${index} stop`;
  if (piece.type === "citations_delta") return `${index} from ${piece.citation.url}`;
  if (piece.type === "signature_delta") {
    return `${index} signed ${Buffer.from(piece.signature.slice(4), "base64url").toString("utf8")}`;
  }
  return `${index} ${piece.text ?? piece.thinking ?? piece.partial_json}`;
}

const empty = "[]";
const sealed = JSON.stringify([tsig]);

describe("messages: stream writer, blocks", () => {
  for (const row of [
    {
      name: "writes text",
      events: [open(0, text), delta(0, "a"), delta(0, "b"), close(0)],
      want: ["0 text", "0 a", "0 b", "0 stop"],
    },
    {
      name: "pitfall 36: opens no block for text that says nothing",
      events: [open(0, text), close(0), open(1, callBlock("a")), delta(1, "{}"), close(1)],
      want: ["0 tool_use a f", "0 {}", "0 stop"],
    },
    {
      name: "signs thinking just before it stops",
      events: [open(0, reasoning), delta(0, "T"), state(0), close(0)],
      want: ["0 thinking", "0 T", `0 signed ${sealed}`, "0 stop"],
    },
    {
      name: "marks thinking without state as the gateway's own",
      events: [open(0, reasoning), delta(0, "T"), close(0), open(1, text), delta(1, "a"), close(1)],
      want: ["0 thinking", "0 T", `0 signed ${empty}`, "0 stop", "1 text", "1 a", "1 stop"],
    },
    {
      name: "carries state without text in an empty block",
      events: [open(0, reasoning), state(0), close(0)],
      want: ["0 thinking", `0 signed ${sealed}`, "0 stop"],
    },
    { name: "opens no block for thinking that says nothing", events: [open(0, reasoning), close(0)], want: [] },
    {
      name: "pitfall 38: gives a call that comes whole its arguments in a delta",
      events: [open(0, callBlock("a")), delta(0, '{"x":1}'), close(0)],
      want: ["0 tool_use a f", '0 {"x":1}', "0 stop"],
    },
    {
      name: "pitfall 28: gives a call without arguments an empty object",
      events: [open(0, callBlock("a")), close(0)],
      want: ["0 tool_use a f", "0 {}", "0 stop"],
    },
    {
      name: "carries the state of a call in a block before it",
      events: [open(0, callBlock("a")), state(0), delta(0, "{}"), close(0)],
      want: ["0 thinking", `0 signed ${sealed}`, "0 stop", "1 tool_use a f", "1 {}", "1 stop"],
    },
    {
      name: "pitfall 43: writes calls that came at once one after another",
      events: [
        open(0, callBlock("a")),
        open(1, callBlock("b", "g")),
        delta(1, '{"y"'),
        delta(0, '{"x"'),
        delta(1, ":2}"),
        close(1),
        delta(0, ":1}"),
        close(0),
      ],
      want: ["0 tool_use a f", '0 {"x"', "0 :1}", "0 stop", "1 tool_use b g", '1 {"y":2}', "1 stop"],
    },
    {
      name: "goes on with the second call as it comes once the first is closed",
      events: [
        open(0, callBlock("a")),
        open(1, callBlock("b")),
        delta(1, '{"y"'),
        delta(0, "{}"),
        close(0),
        delta(1, ":2}"),
        close(1),
      ],
      want: ["0 tool_use a f", "0 {}", "0 stop", "1 tool_use b f", '1 {"y"', "1 :2}", "1 stop"],
    },
    {
      name: "pitfall 37: keeps a call in one block while text comes beside it",
      events: [
        open(0, text),
        delta(0, "a"),
        open(1, callBlock("c")),
        delta(1, '{"x"'),
        delta(0, "b"),
        delta(1, ":1}"),
        close(1),
        delta(0, "c"),
        close(0),
      ],
      want: [
        "0 text",
        "0 a",
        "0 stop",
        "1 tool_use c f",
        '1 {"x"',
        "1 :1}",
        "1 stop",
        "2 text",
        "2 b",
        "2 c",
        "2 stop",
      ],
    },
    {
      name: "lets text give way to a call at once",
      events: [open(0, text), delta(0, "a"), open(1, callBlock("c")), delta(1, "{}"), close(1), close(0)],
      want: ["0 text", "0 a", "0 stop", "1 tool_use c f", "1 {}", "1 stop"],
    },
    {
      name: "lets what comes beside thinking wait until it is signed",
      events: [open(0, reasoning), delta(0, "T"), open(1, text), delta(1, "a"), close(1), delta(0, "U"), close(0)],
      want: ["0 thinking", "0 T", "0 U", `0 signed ${empty}`, "0 stop", "1 text", "1 a", "1 stop"],
    },
    {
      name: "wraps the free text of a custom tool",
      events: [open(0, callBlock("a", "sql", "custom")), delta(0, 'SELECT "'), delta(0, '1"'), close(0)],
      want: ["0 tool_use a sql", '0 {"input":"SELECT \\"1\\""}', "0 stop"],
    },
    {
      name: "wraps it also when it had to wait",
      events: [
        open(0, callBlock("a")),
        open(1, callBlock("b", "sql", "custom")),
        delta(1, "x"),
        delta(0, "{}"),
        close(0),
        delta(1, "y"),
        close(1),
      ],
      want: ["0 tool_use a f", "0 {}", "0 stop", "1 tool_use b sql", '1 {"input":"xy"}', "1 stop"],
    },
    {
      name: "gives a call without id one, and an id that is not valid or taken another",
      events: [undefined, "a.b", "a", "a"].flatMap((id, part) => [open(part, callBlock(id)), close(part)]),
      want: ["0 tool_use toolu_2 f", "1 tool_use a_b_2e7336dc f", "2 tool_use a f", "3 tool_use a_2 f"].flatMap(
        (first, index) => [first, `${index} {}`, `${index} stop`],
      ),
    },
    {
      name: "writes a refusal as text",
      events: [open(0, { kind: "refusal" }), delta(0, "no"), close(0)],
      want: ["0 text", "0 no", "0 stop"],
    },
    {
      name: "tells of files, and makes no text of what the provider did (11.4)",
      events: [
        open(0, { kind: "media", mime: "image/png", base64: "AAAA" }),
        close(0),
        open(1, { kind: "hosted", tool: "web-search", type: "web_search" }),
        close(1),
        open(2, text),
        delta(2, "a"),
        close(2),
      ],
      want: ["0 text", "0 [image omitted]", "0 stop", "1 text", "1 a", "1 stop"],
    },
    {
      name: "tells sources in the block of their text, also those that come first",
      events: [
        open(0, text),
        { type: "citation", candidate: 0, part: 0, citation: { url: "u" } } as const,
        delta(0, "a"),
        { type: "citation", candidate: 0, part: 0, citation: { url: "v" } } as const,
        close(0),
      ],
      want: ["0 text", "0 from u", "0 a", "0 from v", "0 stop"],
    },
    {
      name: "leaves out other candidates and what has no place",
      events: [
        open(0, text),
        { type: "open", candidate: 1, part: 0, block: text } as const,
        { type: "delta", candidate: 1, part: 0, text: "z" } as const,
        { type: "logprobs", candidate: 0, part: 0, tokens: [] } as const,
        delta(0, "a"),
        close(0),
      ],
      want: ["0 text", "0 a", "0 stop"],
    },
    {
      name: "closes what a cut reply left open",
      events: [open(0, text), delta(0, "a"), open(1, callBlock("a")), delta(1, '{"x')],
      want: ["0 text", "0 a", "0 stop", "1 tool_use a f", '1 {"x', "1 stop"],
    },
  ]) {
    it(row.name, () => assert.deepEqual(sketch(row.events), row.want));
  }

  const thoughts = [open(0, reasoning), delta(0, "T"), state(0), close(0)];
  it("hides thinking where the client wants none shown, and still carries its state", () => {
    const context = thinkingContext({ mode: "on", show: false, carriesBlocks: true });
    assert.deepEqual(sketch(thoughts, context), ["0 thinking", `0 signed ${sealed}`, "0 stop"]);
    assert.deepEqual(sketch([open(0, reasoning), delta(0, "T"), close(0)], context), []);
  });

  for (const [name, wish] of [
    ["did not ask for thinking", undefined],
    ["switched it off", { mode: "off", show: false }],
    ["only named an effort", { mode: "auto", effort: "low", show: false }],
  ] as const) {
    it(`writes no thinking for a client that ${name}, and keeps its state under the next call`, () => {
      const states = new OpenStates();
      const context = { ...thinkingContext(wish), states };
      const call = [open(1, callBlock("a")), delta(1, "{}"), close(1), open(2, callBlock("b")), close(2)];
      assert.deepEqual(sketch([...thoughts, ...call], context), [
        "0 tool_use a f",
        "0 {}",
        "0 stop",
        "1 tool_use b f",
        "1 {}",
        "1 stop",
      ]);
      assert.deepEqual(
        [...states.remembered],
        [
          ["a", [tsig]],
          ["b", []],
        ],
      );
    });
  }

  it("keeps state that comes behind the arguments of its call in memory, under the id that the client sees", () => {
    const states = new OpenStates();
    const context = { ...replyContext(), states };
    sketch([open(0, callBlock("a:b")), delta(0, "{}"), state(0), close(0)], context);
    assert.deepEqual([...states.remembered], [["a_b_6783a31e", [tsig]]]);
  });
});

describe("messages: stream writer, frames", () => {
  it("begins with the name that the client asked for, an id of its own and an estimate of the prompt", () => {
    const [first, ...rest] = framesOf(writeStream([start, ...end()]));
    assert.deepEqual(first, {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 7, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
      },
    });
    assert.equal(rest.length, 2);
  });

  it("pitfall 132: has usage with numbers in its start, and pings behind it", () => {
    const writer = messagesClientTranslator.createStreamWriter(replyContext());
    const written = writer.write(start);
    assert.match(
      written,
      /^event: message_start\ndata: \{.*"usage":\{"input_tokens":7,.*\}\}\n\nevent: ping\ndata: \{"type":"ping"\}\n\n$/,
    );
  });

  it("pitfall 35: ends with the numbers that the upstream told", () => {
    const usage = { ...zeroUsage, input: 10, cacheRead: 90, cacheWrite: 5, output: 7 };
    const frames = framesOf(
      writeStream([start, { type: "usage", usage: zeroUsage }, { type: "usage", usage }, ...end()]),
    );
    assert.deepEqual(frames.at(-2), {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 5,
        cache_read_input_tokens: 90,
        output_tokens: 7,
      },
    });
    assert.deepEqual(frames.at(-1), { type: "message_stop" });
  });

  it("waits for the end with the reason, because usage may come behind it", () => {
    const writer = messagesClientTranslator.createStreamWriter(replyContext());
    writer.write(start);
    assert.equal(writer.write({ type: "finish", candidate: 0, finish: { reason: "stop" } }), "");
    assert.equal(writer.write({ type: "usage", usage: zeroUsage }), "");
    assert.match(writer.write({ type: "end" }), /^event: message_delta\n.*\n\nevent: message_stop\n/);
  });

  it("pitfall 45: tells numbers where the upstream told none", () => {
    const frames = framesOf(writeStream([start, ...end()]));
    assert.equal(Object(frames.at(-2)).usage.output_tokens, 0);
  });

  it("pitfall 11: ends a failed stream with an error and no sign of success", () => {
    const writer = messagesClientTranslator.createStreamWriter(replyContext());
    writer.write(start);
    writer.write(open(0, text));
    writer.write(delta(0, "a"));
    const failure = writer.fail(new GatewayError("upstream_overloaded", "Busy."), { requestId: "req_1" });
    assert.deepEqual(framesOf(failure), [
      { type: "error", error: { type: "overloaded_error", message: "Busy." }, request_id: "req_1" },
    ]);
    assert.match(failure, /^event: error\n/);
  });

  it("pitfall 56: tells a prompt that is too long in the words on which agents shorten it", () => {
    const writer = messagesClientTranslator.createStreamWriter(replyContext());
    const failure = writer.fail(new GatewayError("context_length", "200001 tokens."), { requestId: "req_1" });
    assert.match(Object(framesOf(failure)[0]).error.message, /^prompt is too long/);
  });

  it("puts no line end of a text into a frame", () => {
    const stream = writeStream([start, open(0, text), delta(0, "a\n\nevent: error\r"), close(0), ...end()]);
    assert.deepEqual(checkGrammar("anthropic-messages", Buffer.from(stream)), []);
    assert.equal(Object(framesOf(stream)[2]).delta.text, "a\n\nevent: error\r");
  });
});

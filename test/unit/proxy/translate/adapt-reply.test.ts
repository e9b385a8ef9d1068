import assert from "node:assert/strict";
import fc from "fast-check";
import type { ReplyAdaptation } from "#proxy/formats/translator";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import type { ReplyEvent } from "#proxy/neutral/reply";
import { zeroUsage } from "#proxy/settle/usage";
import { ReplyAdapter } from "#proxy/translate/adapt-reply";

const at = { candidate: 0, part: 0 };

function textEvents(pieces: readonly string[]): ReplyEvent[] {
  return [
    { type: "start", id: "r", model: "m" },
    { type: "open", ...at, block: { kind: "text" } },
    ...pieces.map((text) => ({ type: "delta" as const, ...at, text })),
    { type: "close", ...at },
    { type: "finish", candidate: 0, finish: { reason: "stop" } },
    { type: "end" },
  ];
}

function callEvents(name: string, pieces: readonly string[]): ReplyEvent[] {
  return [
    { type: "start", id: "r", model: "m" },
    { type: "open", ...at, block: { kind: "call", id: "a", name, tool: "function" } },
    ...pieces.map((text) => ({ type: "delta" as const, ...at, text })),
    { type: "close", ...at },
    { type: "finish", candidate: 0, finish: { reason: "tool-calls" } },
    { type: "end" },
  ];
}

function adapted(
  adaptation: ReplyAdaptation,
  events: readonly ReplyEvent[],
): { text: string; finish: string; isCut: boolean } {
  const adapter = new ReplyAdapter(adaptation, 10);
  const { candidates } = aggregateReply(events.flatMap((event) => adapter.adapt(event)));
  const [block] = candidates[0]?.blocks ?? [];
  const text =
    block?.kind === "text"
      ? block.text
      : block?.kind === "call"
        ? `${block.tool} ${block.name} ${block.arguments}`
        : "";
  return { text, finish: candidates[0]?.finish.reason ?? "", isCut: adapter.isCut };
}

describe("ReplyAdapter", () => {
  const fence = "```";
  for (const row of [
    { name: "passes what needs nothing", adaptation: {}, events: textEvents(["a", "b"]), want: "ab", finish: "stop" },
    {
      name: "gives tools back their names",
      adaptation: { toolNames: new Map([["a_b", "a.b"]]) },
      events: callEvents("a_b", ["{}"]),
      want: "function a.b {}",
      finish: "tool-calls",
    },
    {
      name: "gives a custom tool its free text",
      adaptation: { customTools: new Set(["shell"]) },
      events: callEvents("shell", ['{"inp', 'ut":"ls -l"}']),
      want: "custom shell ls -l",
      finish: "tool-calls",
    },
    {
      name: "gives a custom tool what the model wrote instead",
      adaptation: { customTools: new Set(["shell"]) },
      events: callEvents("shell", ["ls"]),
      want: "custom shell ls",
      finish: "tool-calls",
    },
    {
      name: "turns the reply's function into text (pitfall 83)",
      adaptation: { outputTool: "answer" },
      events: callEvents("answer", ['{"n":', "1}"]),
      want: '{"n":1}',
      finish: "stop",
    },
    {
      name: "takes a word out of its object",
      adaptation: { unwrapMember: "value" },
      events: textEvents(['{"val', 'ue":"red"}']),
      want: "red",
      finish: "stop",
    },
    {
      name: "takes a list out of its object",
      adaptation: { unwrapMember: "value" },
      events: textEvents(['{"value":[1,12345678901234567890]}']),
      want: "[1,12345678901234567890]",
      finish: "stop",
    },
    {
      name: "leaves a reply alone that is not wrapped",
      adaptation: { unwrapMember: "value" },
      events: textEvents(["sorry"]),
      want: "sorry",
      finish: "stop",
    },
    {
      name: "takes a fence off",
      adaptation: { isFencedJson: true },
      events: textEvents(["``", '`json\n{"a":1}\n', "```"]),
      want: '{"a":1}',
      finish: "stop",
    },
    {
      name: "leaves text before a fence alone",
      adaptation: { isFencedJson: true },
      events: textEvents(["Here: ", `${fence}json\n{}\n${fence}`]),
      want: `Here: ${fence}json\n{}\n${fence}`,
      finish: "stop",
    },
  ] as const) {
    it(row.name, () => {
      const { text, finish } = adapted(row.adaptation, row.events);
      assert.deepEqual([text, finish], [row.want, row.finish]);
    });
  }

  for (const [name, adaptation, text] of [
    ["a fenced answer", { isFencedJson: true }, `${fence}json\n"x`],
    ["white space", { isFencedJson: true }, "  "],
    ["a wrapped answer", { unwrapMember: "value" }, '{"value":"'],
  ] as const) {
    it(`holds ${name} of many pieces back without copying it for each`, () => {
      const adapter = new ReplyAdapter(adaptation, 10);
      adapter.adapt({ type: "open", ...at, block: { kind: "text" } });
      adapter.adapt({ type: "delta", ...at, text });
      const startedMs = performance.now();
      const piece = text.trim() === "" ? "          " : "0123456789";
      for (let pieces = 0; pieces < 40_000; pieces += 1) adapter.adapt({ type: "delta", ...at, text: piece });
      assert.ok(performance.now() - startedMs < 2_000, `${performance.now() - startedMs} ms`);
    });
  }

  it("cuts at the first stop sequence, wherever the pieces end", () => {
    const said = "one END two STOP three";
    fc.assert(
      fc.property(fc.array(fc.nat(said.length), { maxLength: 6 }), (cuts) => {
        const ends = [...new Set([...cuts, said.length])].sort((left, right) => left - right);
        const pieces = ends.map((end, index) => said.slice(ends[index - 1] ?? 0, end)).filter((piece) => piece !== "");
        assert.deepEqual(adapted({ stop: ["STOP", "END"] }, textEvents(pieces)), {
          text: "one ",
          finish: "stop-sequence",
          isCut: true,
        });
      }),
    );
  });

  it("tells an estimate of what a cut reply took: the upstream's own words where it has said any", () => {
    const taken = (before: readonly ReplyEvent[]): unknown => {
      const adapter = new ReplyAdapter({ stop: ["END"] }, 10);
      const events = [...before, ...textEvents(["12345678END and more"])].flatMap((event) => adapter.adapt(event));
      return events.findLast(({ type }) => type === "usage");
    };
    assert.deepEqual(taken([]), { type: "usage", usage: { ...zeroUsage, input: 10, output: 5 } });
    const first = { ...zeroUsage, input: 7, reasoning: 2 };
    assert.deepEqual(taken([{ type: "usage", usage: first }]), { type: "usage", usage: { ...first, output: 3 } });
    const all = { ...zeroUsage, input: 7, output: 30 };
    assert.deepEqual(taken([{ type: "usage", usage: all }]), { type: "usage", usage: all });
  });

  it("holds back only what may begin a sequence, and lets it go at the end", () => {
    const adapter = new ReplyAdapter({ stop: ["END"] }, 10);
    const [start, open, first] = textEvents(["say EN"]);
    assert.ok(start && open && first);
    adapter.adapt(start);
    adapter.adapt(open);
    assert.deepEqual(adapter.adapt(first), [{ type: "delta", ...at, text: "say " }]);
    assert.deepEqual(adapter.adapt({ type: "close", ...at }), [
      { type: "delta", ...at, text: "EN" },
      { type: "close", ...at },
    ]);
    assert.equal(adapter.isCut, false);
  });
});

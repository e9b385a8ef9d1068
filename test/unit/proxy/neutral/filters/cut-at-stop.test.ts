import assert from "node:assert/strict";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { CutAtStop } from "#proxy/neutral/filters/cut-at-stop";
import { WaitingTokens } from "#proxy/neutral/filters/waiting-tokens";
import type { ReplyEvent } from "#proxy/neutral/reply";
import { zeroUsage } from "#proxy/settle/usage";

const open = (candidate: number, part = 0): ReplyEvent => ({
  type: "open",
  candidate,
  part,
  block: { kind: "text" },
});
const say = (candidate: number, text: string, part = 0): ReplyEvent => ({ type: "delta", candidate, part, text });
const close = (candidate: number, part = 0): ReplyEvent => ({ type: "close", candidate, part });
const finish = (candidate: number): ReplyEvent => ({ type: "finish", candidate, finish: { reason: "stop" } });
const counted: ReplyEvent = { type: "usage", usage: { ...zeroUsage, input: 3, output: 40 } };

/** What a client of two candidates gets. */
function twoCandidates(events: readonly ReplyEvent[]) {
  const filter = new CutAtStop(["END"], 10, 2);
  const taken = events.flatMap((event) => filter.apply(event));
  const { candidates, usage } = aggregateReply(taken);
  const said = candidates.map(({ blocks, finish: { reason } }) => {
    const texts = blocks.flatMap((block) => (block.kind === "text" ? [block.text] : []));
    return [texts.join("|"), reason];
  });
  return { said, usage, isCut: filter.isCut, events: taken };
}

describe("CutAtStop", () => {
  it("cuts one candidate and lets the others come to their end, with what the upstream counted", () => {
    const { said, usage, isCut } = twoCandidates([
      open(0),
      say(0, "first E"),
      open(1),
      say(1, "second EN"),
      say(0, "ND rest"),
      say(0, " and END more"),
      close(0),
      say(1, " answer"),
      close(1),
      finish(0),
      finish(1),
      counted,
      { type: "end" },
    ]);
    assert.deepEqual(said, [
      ["first ", "stop-sequence"],
      ["second EN answer", "stop"],
    ]);
    assert.deepEqual(usage, { ...zeroUsage, input: 3, output: 40 });
    assert.equal(isCut, false);
  });

  it("leaves the upstream when the last candidate is cut, and estimates all that was said", () => {
    const { said, usage, isCut, events } = twoCandidates([
      open(0),
      say(0, "123 END 890"),
      open(1),
      say(0, "12345678"),
      say(1, "abc"),
      say(1, "d END"),
      say(1, "more"),
      close(1),
      finish(1),
      { type: "end" },
    ]);
    assert.deepEqual(said, [
      ["123 ", "stop-sequence"],
      ["abcd ", "stop-sequence"],
    ]);
    assert.deepEqual(usage, { ...zeroUsage, input: 10, output: Math.ceil("123 END 89012345678abcd END".length / 4) });
    assert.equal(isCut, true);
    assert.equal(events.filter(({ type }) => type === "end").length, 1);
  });

  for (const { name, text, want } of [
    { name: "up to the cut", text: "abc END b", want: [["https://a"], ["abc"], "stop-sequence"] },
    {
      name: "of all of it where nothing is cut",
      text: "abc d b",
      want: [["https://a", "https://b"], ["abc", " d b"], "stop"],
    },
  ]) {
    it(`keeps what a whole reply says of its text: ${name}`, () => {
      const filter = new CutAtStop(["END"], 10, 1, true);
      const part = { candidate: 0, part: 0 } as const;
      const cite = (url: string, end: number): ReplyEvent => ({
        type: "citation",
        ...part,
        citation: { url, start: 0, end },
      });
      const tokens = ["abc", text.slice(3)].map((token) => ({ token, logprob: -1, top: [] }));
      const events: readonly ReplyEvent[] = [
        ...[open(0), say(0, text), cite("https://a", 3), cite("https://b", text.length)],
        { type: "logprobs", ...part, tokens },
        ...[close(0), finish(0)],
        { type: "end" },
      ];
      const [candidate] = aggregateReply(events.flatMap((event) => filter.apply(event))).candidates;
      const [block] = candidate?.blocks ?? [];
      assert.ok(block?.kind === "text");
      const said = [block.citations.map(({ url }) => url), block.logprobs.map(({ token }) => token)];
      assert.deepEqual([...said, candidate?.finish.reason], want);
    });
  }

  it("gives what another text of the cut candidate held back, and closes it", () => {
    const { said, events } = twoCandidates([
      open(0),
      open(0, 1),
      say(0, "one EN"),
      say(0, "two END", 1),
      finish(0),
      { type: "end" },
    ]);
    assert.deepEqual(said, [["one EN|two ", "stop-sequence"]]);
    assert.equal(events.filter(({ type }) => type === "close").length, 2);
  });

  const token = (text: string): ReplyEvent => ({
    type: "logprobs",
    candidate: 0,
    part: 0,
    tokens: [{ token: text, logprob: -1, top: [] }],
  });

  it("lets no token out of a text that does not go out", () => {
    const filter = new CutAtStop(["END"], 10, 1);
    const pieces = ["ab", "EN", "-", "E", "ND secret"];
    const taken = [open(0), ...pieces.flatMap((text) => [token(text), say(0, text)])].flatMap((it) => filter.apply(it));
    const [block] = aggregateReply(taken).candidates[0]?.blocks ?? [];
    assert.ok(block?.kind === "text");
    assert.equal(block.text, "abEN-");
    assert.deepEqual(
      block.logprobs.map(({ token: text }) => text),
      ["ab", "EN", "-"],
    );
  });

  it("lets all tokens out of a text that ends by itself", () => {
    const filter = new CutAtStop(["END"], 10, 1);
    const events = [
      open(0),
      token("a"),
      say(0, "a"),
      say(0, "E"),
      token("E"),
      close(0),
      finish(0),
      { type: "end" } as const,
    ];
    const [block] = aggregateReply(events.flatMap((it) => filter.apply(it))).candidates[0]?.blocks ?? [];
    assert.ok(block?.kind === "text");
    assert.deepEqual([block.text, block.logprobs.map(({ token: text }) => text)], ["aE", ["a", "E"]]);
  });

  it("hears calls that are under way to their ends, and no more text", () => {
    const filter = new CutAtStop(["END"], 10, 1);
    const call: ReplyEvent = {
      type: "open",
      candidate: 0,
      part: 1,
      block: { kind: "call", id: "c", name: "f", tool: "function" },
    };
    const taken = [call, say(0, '{"a":', 1), open(0), say(0, "helloEND"), say(0, "more"), say(0, "1}", 1)].flatMap(
      (it) => filter.apply(it),
    );
    assert.equal(filter.isCut, false);
    taken.push(...filter.apply(open(0, 2)), ...filter.apply(say(0, "later", 2)), ...filter.apply(close(0, 1)));
    assert.equal(filter.isCut, true);
    const { blocks, finish: end } = aggregateReply(taken).candidates[0] ?? {};
    assert.deepEqual(
      blocks?.map((block) => (block.kind === "text" ? block.text : block.kind === "call" ? block.arguments : "")),
      ["hello", '{"a":1}'],
    );
    assert.deepEqual(end, { reason: "stop-sequence", stopSequence: "END" });
  });

  const callOf = (...pieces: readonly string[]): readonly ReplyEvent[] => [
    { type: "open", candidate: 0, part: 1, block: { kind: "call", id: "c", name: "f", tool: "function" } },
    open(0),
    say(0, "helloEND"),
    ...pieces.map((text) => say(0, text, 1)),
    close(0, 1),
  ];

  for (const [reason, want] of [
    ["length", "length"],
    ["content-filter", "content-filter"],
    ["tool-calls", "stop-sequence"],
  ] as const) {
    it(`says why half a call ends as the upstream does: ${reason}`, () => {
      const filter = new CutAtStop(["END"], 10, 1);
      const taken = callOf('{"a":"x').flatMap((it) => filter.apply(it));
      assert.equal(filter.isCut, false);
      taken.push(...filter.apply({ type: "finish", candidate: 0, finish: { reason } }));
      assert.equal(filter.isCut, true);
      assert.equal(aggregateReply(taken).candidates[0]?.finish.reason, want);
    });
  }
});

describe("WaitingTokens", () => {
  const token = (text: string, bytes?: readonly number[]) => ({ token: text, logprob: -1, bytes, top: [] });
  const texts = (tokens: readonly { readonly token: string }[]): readonly string[] => tokens.map((it) => it.token);

  it("are taken with the text they spell, in front of it or behind it", () => {
    const before = new WaitingTokens();
    before.add([token("ab")]);
    before.addText("ab");
    before.add([token("cd")]);
    before.addText("cd");
    assert.deepEqual(
      [texts(before.release(1)), texts(before.release(2)), texts(before.release(4))],
      [[], ["ab"], ["cd"]],
    );
    const behind = new WaitingTokens();
    behind.addText("ab");
    behind.add([token("ab")]);
    behind.addText("cd");
    behind.add([token("c"), token("d")]);
    assert.deepEqual([texts(behind.release(3)), texts(behind.release(4))], [["ab", "c"], ["d"]]);
  });

  it("count characters by their bytes, and are set right by the text where they have none", () => {
    const told = new WaitingTokens();
    told.add([token("bytes:1", [0xf0, 0x9f, 0x98]), token("bytes:2", [0x80]), token(" hi", [32, 104, 105])]);
    told.addText("\u{1f600} hi");
    assert.deepEqual(texts(told.release(5)), ["bytes:1", "bytes:2", " hi"]);
    told.add([token("long spelling of x")]);
    told.addText("x");
    told.add([token("y")]);
    told.addText("y");
    assert.deepEqual(texts(told.release(7)), []);
    assert.deepEqual(texts(told.release(Number.POSITIVE_INFINITY)), ["long spelling of x", "y"]);
  });

  it("take time that grows with the text alone", () => {
    const told = new WaitingTokens();
    const startedMs = performance.now();
    for (let index = 0; index < 100_000; index += 1) {
      told.add([token("far too long a spelling")]);
      told.addText("x");
      told.release(index);
    }
    assert.ok(performance.now() - startedMs < 2_000);
  });
});

import assert from "node:assert/strict";
import { argumentsObject, parseJsonText } from "#proxy/json/json-text";
import type { Conversation, MediaPart } from "#proxy/neutral/conversation";
import { newId } from "#proxy/neutral/ids/new-id";
import { declareLosses } from "#proxy/neutral/losses/declare-losses";
import { Losses } from "#proxy/neutral/losses/losses";
import { mediaToFetch, replaceMedia } from "#proxy/neutral/media/inline-media";
import { budgetOf, effortOf, wantedEffort } from "#proxy/neutral/reasoning-levels";
import { droppedHeader, droppedLabel } from "#proxy/translate/dropped-fields";

const empty: Conversation = { model: "m", stream: false, turns: [], tools: [], sampling: {}, unmapped: [] };

describe("parseJsonText()", () => {
  for (const text of [
    '{"a":12345678901234567890}',
    '{"a":[0.12345678901234567890]}',
    '{"a":1}',
    '{"a":-9007199254740993}',
  ]) {
    it(`keeps every digit of ${text}`, () => assert.equal(JSON.stringify(parseJsonText(text)), text));
  }
  it("takes what libraries write of a double for that double", () => {
    assert.deepEqual(parseJsonText('{"t":0.69999999999999996,"p":-1.0000000000000002e-3}'), {
      t: 0.7,
      p: -1.0000000000000002e-3,
    });
  });
  it("makes no prototype of a member's name (pitfall 86)", () => {
    const value = parseJsonText('{"__proto__":{"polluted":12345678901234567890}}');
    assert.equal(Reflect.get(Object.prototype, "polluted"), undefined);
    assert.equal(JSON.stringify(value), '{"__proto__":{"polluted":12345678901234567890}}');
  });
});

describe("argumentsObject()", () => {
  for (const row of [
    { text: "", want: {} },
    { text: " \n", want: {} },
    { text: '{"x":1}', want: { x: 1 } },
    { text: "[1]", want: undefined },
    { text: "null", want: undefined },
    { text: '{"x":', want: undefined },
  ]) {
    it(`reads ${JSON.stringify(row.text)} (pitfall 84)`, () => assert.deepEqual(argumentsObject(row.text), row.want));
  }
});

describe("declareLosses()", () => {
  const declare = (
    conversation: Conversation,
    policy: "Ignore" | "Reject",
    carried: readonly "seed"[] = [],
  ): readonly string[] => {
    const losses = new Losses(policy);
    declareLosses(conversation, new Set(carried), (field) => `client.${field}`, losses);
    return losses.dropped;
  };
  const asking: Conversation = { ...empty, sampling: { seed: 0, topK: 3 }, unmapped: ["x_new"] };

  it("names what was dropped as the client spells it", () => {
    assert.deepEqual(declare(asking, "Ignore"), ["client.topK", "client.seed", "x_new"]);
  });
  it("says nothing of what is carried", () =>
    assert.deepEqual(declare({ ...empty, sampling: { seed: 0 } }, "Ignore", ["seed"]), []));
  it("says nothing of values that ask for nothing", () => {
    const nothing: Conversation = {
      ...empty,
      serviceTier: "auto",
      store: false,
      parallelTools: true,
      sampling: { candidates: 1, presencePenalty: 0, stop: [] },
    };
    assert.deepEqual(declare(nothing, "Ignore"), []);
  });
  it("refuses everything where the channel rejects", () => {
    assert.throws(() => declare(asking, "Reject"), { code: "unsupported_parameter", param: "client.topK" });
  });
  for (const row of [
    { name: "several candidates", conversation: { ...empty, sampling: { candidates: 2 } }, param: "client.candidates" },
    {
      name: "tools",
      conversation: { ...empty, tools: [{ kind: "function" as const, name: "f" }] },
      param: "client.tools",
    },
    {
      name: "an output format",
      conversation: { ...empty, outputFormat: { kind: "json" as const } },
      param: "client.outputFormat",
    },
  ]) {
    it(`refuses the loss of ${row.name} whatever the channel says`, () => {
      assert.throws(() => declare(row.conversation, "Ignore"), { code: "unsupported_parameter", param: row.param });
    });
  }
});

describe("droppedHeader()", () => {
  it("is absent when nothing was dropped", () => assert.equal(droppedHeader([]), undefined));
  it("lists the fields", () => assert.equal(droppedHeader(["seed", "tools[0].strict"]), "seed, tools[0].strict"));
  it("holds nothing that could break a header", () =>
    assert.equal(droppedHeader(["a\r\nset-cookie: x", "é"]), "a??set-cookie??x, ?"));
  it("ends somewhere", () => {
    const header = droppedHeader(Array.from({ length: 500 }, (_, index) => `field_${index}`)) ?? "";
    assert.ok(header.length < 1_050);
    assert.match(header, /, and \d+ more$/);
  });
});

describe("droppedLabel()", () => {
  it("knows the format's own parameters", () => assert.equal(droppedLabel("ChatCompletions", "seed"), "seed"));
  it("knows second spellings", () => assert.equal(droppedLabel("ChatCompletions", "max_tokens"), "max_tokens"));
  it("calls everything else other", () =>
    assert.equal(droppedLabel("ChatCompletions", "x_client_made_this_up"), "other"));
});

describe("reasoning levels", () => {
  for (const [budget, effort] of [
    [1024, "minimal"],
    [1025, "low"],
    [4096, "medium"],
    [16_384, "high"],
    [32_768, "xhigh"],
  ] as const) {
    it(`call ${budget} tokens ${effort}`, () => assert.equal(effortOf(budget), effort));
  }
  it("never spend more than the model may", () => {
    assert.equal(budgetOf("high", 10_000), 10_000);
    assert.equal(budgetOf("max", 60_000), 60_000);
    assert.equal(budgetOf("low", 60_000), 2_048);
  });
  it("prefer the effort that was said", () => {
    assert.equal(wantedEffort({ effort: "low", budget: 50_000 }), "low");
    assert.equal(wantedEffort({ budget: 50_000 }), "xhigh");
    assert.equal(wantedEffort({}), undefined);
  });
});

describe("newId()", () => {
  it("has the prefix and 24 letters and digits", () => assert.match(newId("call_"), /^call_[0-9A-Za-z]{24}$/));
  it("is another each time", () => assert.equal(new Set(Array.from({ length: 1_000 }, () => newId("x"))).size, 1_000));
});

describe("mediaToFetch() and replaceMedia()", () => {
  const image = (url: string): MediaPart => ({
    kind: "media",
    media: "image",
    source: { type: "url", url },
    where: url,
  });
  const [first, second] = [image("https://a.example/1"), image("https://a.example/2")];
  const conversation: Conversation = {
    ...empty,
    turns: [
      { role: "user", parts: [{ kind: "text", text: "look" }, first] },
      { role: "tool", parts: [{ kind: "result", callId: "a", content: [second] }] },
    ],
  };

  it("find files in messages and in results", () =>
    assert.deepEqual(
      mediaToFetch(conversation, () => true),
      [first, second],
    ));
  it("leave out those that may stay", () =>
    assert.deepEqual(
      mediaToFetch(conversation, (part) => part !== first),
      [second],
    ));
  it("put others in their places", () => {
    const data: MediaPart = {
      kind: "media",
      media: "image",
      mime: "image/png",
      source: { type: "data", base64: "AA==" },
    };
    const replaced = replaceMedia(
      conversation,
      new Map([
        [first, data],
        [second, data],
      ]),
    );
    assert.deepEqual(
      mediaToFetch(replaced, () => true),
      [],
    );
    assert.deepEqual(replaced.turns[1]?.parts[0], { kind: "result", callId: "a", content: [data] });
    assert.deepEqual(
      mediaToFetch(conversation, () => true),
      [first, second],
      "the one before is unchanged",
    );
  });
});

/** Legacy completions, moderations and token counts, with the official SDKs and without. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { list, member, text } from "#examples/demo-upstream/json-view";
import { anthropicGenerations, genaiGenerations, openaiGenerations } from "#test/support/official-clients";
import { eventsOf, type RunningDemoUpstream, startDemoUpstream } from "#test/support/start-demo-upstream";

describe("demo upstream, text", () => {
  let demo: RunningDemoUpstream;

  before(async () => {
    demo = await startDemoUpstream();
  });

  after(() => demo.close());

  for (const { name, load } of openaiGenerations) {
    const create = () => new (load())({ baseURL: `${demo.origin}/v1`, apiKey: "demo", maxRetries: 0 });

    it(`completes each prompt n times, whole and streamed alike, for ${name}`, async () => {
      const call = { model: "m", prompt: ["Once upon", "Long ago"], n: 2, max_tokens: 100 };
      const whole = await create().completions.create(call);
      assert.deepEqual(
        whole.choices.map(({ index }) => index),
        [0, 1, 2, 3],
      );
      assert.match(whole.choices[3]?.text ?? "", /having read: Long ago$/);
      const said = ["", "", "", ""];
      let usage: unknown;
      const stream = await create().completions.create({
        ...call,
        stream: true,
        stream_options: { include_usage: true },
      });
      for await (const chunk of stream) {
        for (const choice of chunk.choices) said[choice.index] += choice.text;
        usage = chunk.usage ?? usage;
      }
      assert.deepEqual(
        said,
        whole.choices.map((choice) => choice.text),
      );
      assert.deepEqual(usage, whole.usage);
    });

    it(`flags the texts that hold a word of its list, for ${name}`, async () => {
      const { results } = await create().moderations.create({ input: ["good morning", "I will attack you"] });
      assert.deepEqual(
        results.map(({ flagged }) => flagged),
        [false, true],
      );
      assert.deepEqual(
        Object.entries(results[1]?.categories ?? {}).filter(([, isFlagged]) => isFlagged),
        [["violence", true]],
      );
      assert.equal(Object.keys(results[0]?.category_scores ?? {}).length, 13);
    });
  }

  it("completes 16 tokens where nothing is said, repeats the prompt when asked, and counts only what it made", async () => {
    const cut = await demo.json("/v1/completions", { model: "m", prompt: "a ".repeat(30) });
    assert.equal(member(list(member(cut, "choices"))[0], "finish_reason"), "length");
    assert.equal(member(member(cut, "usage"), "completion_tokens"), 16);
    const echoed = await demo.json("/v1/completions", { model: "m", prompt: "Once", echo: true, max_tokens: 2 });
    assert.match(text(member(list(member(echoed, "choices"))[0], "text")) ?? "", /^Once \.\.\. said$/);
    assert.equal(member(member(echoed, "usage"), "completion_tokens"), 2);
  });

  it("takes token numbers and a suffix", async () => {
    const call = { model: "m", prompt: [[1, 2], [3]], suffix: "the end", max_tokens: 99 };
    const choices = list(member(await demo.json("/v1/completions", call), "choices"));
    assert.match(text(member(choices[0], "text")) ?? "", /tokens 1 2 \(to be followed by: the end\)/);
    assert.equal(choices.length, 2);
  });

  it("ends a stream with its terminator, and fails inside one when asked", async () => {
    const call = { prompt: "Once", stream: true };
    assert.match(await (await demo.post("/v1/completions", { model: "m", ...call })).text(), /data: \[DONE\]\n\n$/);
    const failed = await (await demo.post("/v1/completions", { model: "demo-fault-error-event", ...call })).text();
    assert.ok(member(eventsOf(failed).at(-1), "error"));
    assert.equal(failed.includes("[DONE]"), false);
  });

  it("moderates parts as one input, and says what each category was held against", async () => {
    const moderated = await demo.json("/v1/moderations", {
      input: [
        { type: "text", text: "you idiot" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      ],
    });
    const [result, ...others] = list(member(moderated, "results"));
    assert.equal(others.length, 0);
    assert.equal(member(member(result, "categories"), "harassment"), true);
    assert.deepEqual(member(member(result, "category_applied_input_types"), "violence"), ["text", "image"]);
  });

  for (const [name, path, body, param] of [
    ["a completion without a model", "completions", { prompt: "a" }, "model"],
    ["a prompt that is an object", "completions", { model: "m", prompt: {} }, "prompt"],
    ["a prompt list with a number beside a text", "completions", { model: "m", prompt: ["a", 1] }, "prompt"],
    ["an n of 0", "completions", { model: "m", prompt: "a", n: 0 }, "n"],
    ["a moderation of nothing", "moderations", {}, "input"],
    ["a moderation of an unknown part", "moderations", { input: [{ type: "audio" }] }, "input"],
  ] as const) {
    it(`refuses ${name}`, async () => {
      const response = await demo.post(`/v1/${path}`, body);
      assert.equal(response.status, 400);
      assert.equal(member(member(await response.json(), "error"), "param"), param);
    });
  }

  for (const { name, load } of anthropicGenerations) {
    it(`counts the tokens that a message would use, for ${name}`, async () => {
      const client = new (load())({ baseURL: demo.origin, apiKey: "demo", maxRetries: 0 });
      const messages = [{ role: "user" as const, content: "good morning" }];
      const counted = await client.messages.countTokens({ model: "m", messages });
      const used = await client.messages.create({ model: "m", max_tokens: 9, messages });
      assert.equal(counted.input_tokens, used.usage.input_tokens);
    });
  }

  for (const { name, load } of genaiGenerations) {
    it(`counts the tokens that a content would use, for ${name}`, async () => {
      const client = new (load())({ apiKey: "demo", httpOptions: { baseUrl: demo.origin } });
      const counted = await client.models.countTokens({ model: "m", contents: "good morning" });
      const used = await client.models.generateContent({ model: "m", contents: "good morning" });
      assert.equal(counted.totalTokens, used.usageMetadata?.promptTokenCount);
    });
  }

  it("counts a whole generateContent call", async () => {
    const counted = await demo.json("/v1beta/models/m:countTokens", {
      generateContentRequest: { model: "models/m", contents: [{ parts: [{ text: "good morning" }] }] },
    });
    assert.equal(member(counted, "totalTokens"), 3);
  });
});

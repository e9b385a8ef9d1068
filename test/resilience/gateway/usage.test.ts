/**
 * docs/design/reliability.md H4, H5: what is charged when attempts fail and when an upstream's numbers are missing, odd
 * or hostile.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { chunk, reply, streamHead } from "#test/support/resilience/byte-upstream";
import { formatNamed } from "#test/support/resilience/formats";
import { apiKey, channel, route, secret } from "#test/support/resilience/manifests";
import { type Rig, startRig } from "#test/support/resilience/rig";
import { waitFor } from "#test/support/wait-for";

const chat = formatNamed("ChatCompletions");
const contextWindow = 10_000;

describe("charging", function () {
  this.timeout(60_000);
  let rig: Rig;

  before(async () => {
    const limits = [{ name: "tokens", unit: "Tokens", limit: "1G", period: "Day" }];
    rig = await startRig({
      upstreams: 3,
      objects: (ports) => [
        secret(),
        apiKey("main", { limits }),
        ...ports.map((port, index) => channel(`c${index}`, port, { limits: [{ ...limits[0] }] })),
        route("echo", ["c0", "c1", "c2"], { failover: { maxAttempts: 3 } }),
        route("single", ["c0"], { info: { contextWindow, maxOutputTokens: 4_000 } }),
        route("searching", ["c0"], { price: { inputPerMillion: "0", outputPerMillion: "0", perSearch: "0.01" } }),
      ],
    });
  });
  after(() => rig?.close());

  async function lineOf(act: () => Promise<unknown>): Promise<Record<string, unknown>> {
    const logged = rig.gateway.accessLog.length;
    await act();
    return await waitFor("the access line", () => rig.gateway.accessLog[logged]);
  }

  it("a call that two targets failed is charged for the third alone", async () => {
    rig.upstreams[0]?.replyWith(({ socket }) =>
      socket.write(reply('{"error":{"message":"x"},"usage":{"prompt_tokens":500}}', "500 Oops")),
    );
    rig.upstreams[1]?.replyWith(({ socket }) => socket.resetAndDestroy());
    rig.upstreams[2]?.replyWith(({ socket }) => socket.write(reply(chat.reply())));
    const line = await lineOf(async () => assert.equal((await rig.call({ format: chat, stream: false })).status, 200));
    const usage = JSON.parse(chat.reply()).usage;
    assert.deepEqual(line["tokens"], { input: usage.prompt_tokens, output: usage.completion_tokens });
    assert.equal(line["attempts"], 3);
    assert.equal(line["channel"], "default/c2");
    assert.equal(line["cost_nanos"], usage.prompt_tokens * 1000 + usage.completion_tokens * 2000);
    await rig.settleDown();
  });

  const usageOf = (prompt: number | string | null, completion: number | string | null): string =>
    JSON.stringify({ prompt_tokens: prompt, completion_tokens: completion, total_tokens: 0 });

  for (const row of [
    { name: "omitted", usages: [], estimated: true, most: 100 },
    {
      name: "sent twice: the last counts",
      usages: [usageOf(5, 1), usageOf(5, 7)],
      estimated: undefined,
      output: 7,
      most: 7,
    },
    { name: "negative", usages: [usageOf(-5, -7)], estimated: true, most: 100 },
    { name: "huge", usages: [usageOf(5, 1e15)], estimated: true, most: contextWindow },
    { name: "not a number", usages: [usageOf("many", null)], estimated: true, most: 100 },
    { name: "fractional: cut to whole tokens", usages: [usageOf(5.5, 7.5)], estimated: undefined, output: 7, most: 7 },
    { name: "zero though text came", usages: [usageOf(0, 0)], estimated: true, most: 100 },
  ] as const) {
    for (const stream of [false, true]) {
      it(`usage ${row.name}, ${stream ? "" : "not "}streamed`, async () => {
        rig.upstream.replyWith(({ socket }) => {
          if (!stream) {
            const whole = JSON.parse(chat.reply());
            const last = row.usages.at(-1);
            delete whole.usage;
            if (last !== undefined) whole.usage = JSON.parse(last);
            socket.write(reply(JSON.stringify(whole)));
            return;
          }
          const events = chat.events().filter((event) => !event.includes('"choices":[]'));
          const usages = row.usages.map(
            (usage) => `data: {"id":"a","object":"chat.completion.chunk","choices":[],"usage":${usage}}\n\n`,
          );
          const all = [...events.slice(0, -1), ...usages, ...events.slice(-1)];
          socket.write(Buffer.concat([Buffer.from(streamHead), ...all.map((event) => chunk(event)), chunk("")]));
        });
        const line = await lineOf(async () => {
          const answer = await rig.call({ format: chat, model: "single", stream });
          assert.equal(answer.status, 200);
          assert.equal(answer.isComplete, true);
        });
        const output = Number(Reflect.get(Object(line["tokens"]), "output"));
        assert.equal(line["estimated"], row.estimated);
        assert.ok(output > 0 && output <= row.most, `output ${output}`);
        if ("output" in row) assert.equal(output, row.output);
        assert.ok(Number(line["cost_nanos"]) > 0);
      });
    }
  }

  const gemini = formatNamed("GenerateContent");
  const grounded = (...queries: string[]): string =>
    JSON.stringify({ candidates: [{ index: 0, groundingMetadata: { webSearchQueries: queries } }] });

  for (const stream of [false, true])
    it(`each search that a Gemini-style upstream ran is charged once, ${stream ? "" : "not "}streamed`, async () => {
      rig.upstream.replyWith(({ socket }) => {
        if (stream) {
          const [last = "", ...others] = gemini.events().toReversed();
          const searches = [grounded("a", "b"), grounded("b", "c")].map((frame) => `data: ${frame}\n\n`);
          const events = [...others.toReversed(), ...searches, last].join("");
          socket.write(Buffer.concat([Buffer.from(streamHead), chunk(events), chunk("")]));
        } else {
          const whole = JSON.parse(gemini.reply());
          whole.candidates[0].groundingMetadata = { webSearchQueries: ["a", "b", "c"] };
          socket.write(reply(JSON.stringify(whole)));
        }
      });
      const line = await lineOf(() => rig.call({ format: gemini, model: "searching", stream }));
      assert.deepEqual(line["tokens"], { input: 1, output: 10, searches: 3 });
      assert.equal(line["cost_nanos"], 30_000_000);
    });

  it("what has no price is counted", async () => {
    rig.upstream.replyWith(({ socket }) => {
      const whole = JSON.parse(gemini.reply());
      whole.candidates[0].groundingMetadata = { webSearchQueries: ["a"] };
      socket.write(reply(JSON.stringify(whole)));
    });
    await rig.call({ format: gemini, model: "single", stream: false });
    const labels = { route: "default/single", class: "searches" };
    await waitFor("the counter", async () => (await rig.gateway.metric("tollgate_unpriced_usage_total", labels)) === 1);
  });
});

/**
 * docs/design/reliability.md I1 and I6 and docs/design/limits-and-money.md 3 over the wire: ceilings hold, refusals
 * have their shape, nothing stays reserved.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { chunk, reply, streamHead } from "#test/support/resilience/byte-upstream";
import type { Answer } from "#test/support/resilience/call-gateway";
import { type FormatUnderTest, formatNamed, formatOf, formats } from "#test/support/resilience/formats";
import { account, apiKey, channel, route, secret } from "#test/support/resilience/manifests";
import { type Rig, startRig } from "#test/support/resilience/rig";
import { waitFor } from "#test/support/wait-for";

const chat = formatNamed("ChatCompletions");
/** Every call costs one credit and nothing else. */
const flat = { price: { inputPerMillion: "0", outputPerMillion: "0", perRequest: "1" } };

describe("quotas over the wire", function () {
  this.timeout(60_000);
  let rig: Rig;

  before(async () => {
    const limit = (unit: string, amount: string, period: string, more: object = {}): object => ({
      limits: [{ name: "cap", unit, limit: amount, period, ...more }],
    });
    const everyFormat = (name: string, spec: object): object[] =>
      formats.map((format) => apiKey(`${name}-${format.name.toLowerCase()}`, spec));
    rig = await startRig({
      upstreams: 2,
      objects: ([one = 0, two = 0]) => [
        secret(),
        channel("c0", one),
        channel("c1", two),
        channel("narrow", one, limit("Requests", "3", "Day")),
        channel("thin", one, { concurrency: { maxInFlight: 1 } }),
        route("flat", ["c0"], flat),
        route("echo", ["c0"]),
        route("fallback", ["narrow", "c1"]),
        route("fallback-thin", ["thin", "c1"]),
        route("capped", ["c0"], limit("Requests", "5", "Day")),
        apiKey("main"),
        apiKey("daily", limit("Requests", "50", "Day")),
        apiKey("credits", limit("Cost", "30", "Lifetime")),
        apiKey("shadow", limit("Requests", "2", "Day", { mode: "Shadow" })),
        ...everyFormat("quota", limit("Requests", "1", "Day")),
        ...everyFormat("rate", limit("Requests", "1", "Minute", { algorithm: "FixedWindow" })),
        ...everyFormat("busy", { concurrency: { maxInFlight: 1 } }),
        ...["a", "b", "c"].map((name) => apiKey(`shared-${name}`, { accountRef: { name: "team" } })),
        account("team", { credit: "40" }),
        apiKey("tokens", limit("Tokens", "1M", "Day")),
      ],
      served: ["tokens", "echo"],
    });
    for (const [index, upstream] of rig.upstreams.entries()) {
      upstream.replyWith(({ socket, head }) => {
        const answer = reply(formatOf(head).reply(`upstream ${index}`));
        setTimeout(() => socket.write(answer), 20);
      });
    }
  });
  after(() => rig?.close());

  /** Many calls at once; how many were served. */
  async function burst(
    count: number,
    key: (index: number) => string,
    model: string,
  ): Promise<{ served: number; refused: Answer[] }> {
    const answers = await Promise.all(
      Array.from({ length: count }, (_, index) => rig.call({ format: chat, key: key(index), model, stream: false })),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    return { served: count - refused.length, refused };
  }

  for (const row of [
    { name: "a limit of 50 requests", key: () => "daily", model: "echo", limit: 50 },
    { name: "a limit of 30 credits", key: () => "credits", model: "flat", limit: 30 },
    {
      name: "an account's credit of 40, shared by three keys",
      key: (index: number) => `shared-${"abc"[index % 3]}`,
      model: "flat",
      limit: 40,
    },
    { name: "a model's limit of 5 requests", key: () => "main", model: "capped", limit: 5 },
  ]) {
    it(`${row.name} admits exactly that of 200 at once`, async () => {
      const { served, refused } = await burst(200, row.key, row.model);
      console.log(`      admitted ${served}, limit ${row.limit}`);
      assert.equal(served, row.limit);
      for (const answer of refused) {
        assert.equal(answer.status, 429);
        assert.equal(chat.errorType(answer.json()), "insufficient_quota");
      }
      await rig.settleDown();
      assert.equal((await burst(5, row.key, row.model)).served, 0, "still used up when all have ended");
    });
  }

  it("a limit in shadow mode refuses nobody", async () => {
    assert.equal((await burst(10, () => "shadow", "echo")).served, 10);
  });

  const isMessages = (format: FormatUnderTest): boolean => format.name === "Messages";

  it("a used-up quota has the status, words and headers that stop retries, in each format", async () => {
    const types = {
      ChatCompletions: "insufficient_quota",
      Responses: "insufficient_quota",
      Messages: "billing_error",
      GenerateContent: "RESOURCE_EXHAUSTED",
    };
    for (const format of formats) {
      const key = `quota-${format.name.toLowerCase()}`;
      assert.equal((await rig.call({ format, key, stream: false })).status, 200);
      for (const stream of [false, true]) {
        const answer = await rig.call({ format, key, stream });
        assert.equal(answer.status, isMessages(format) ? 402 : 429);
        assert.equal(format.errorType(answer.json()), types[format.name]);
        assert.match(answer.text, /insufficient quota/);
        assert.equal(answer.header("x-should-retry"), "false");
        assert.equal(answer.header("retry-after"), undefined);
      }
    }
  });

  it("a rate limit tells when to try again, in each format", async () => {
    const types = {
      ChatCompletions: "rate_limit_exceeded",
      Responses: "rate_limit_exceeded",
      Messages: "rate_limit_error",
      GenerateContent: "RESOURCE_EXHAUSTED",
    };
    for (const format of formats) {
      const key = `rate-${format.name.toLowerCase()}`;
      let answer = await rig.call({ format, key, stream: false });
      // The window may turn between two calls, once.
      for (let round = 0; round < 2 && answer.status === 200; round += 1)
        answer = await rig.call({ format, key, stream: false });
      assert.equal(answer.status, 429);
      assert.equal(format.errorType(answer.json()), types[format.name]);
      assert.doesNotMatch(answer.text, /insufficient quota/);
      assert.equal(answer.header("x-should-retry"), undefined);
      const seconds = Number(answer.header("retry-after"));
      assert.ok(seconds >= 1 && seconds <= 60, `retry-after ${seconds}`);
      if (format.name === "GenerateContent") assert.match(answer.text, /retryDelay/);
    }
  });

  it("a concurrency limit is a rate limit, and free again when the call has ended", async () => {
    for (const format of formats) {
      const key = `busy-${format.name.toLowerCase()}`;
      const answers = await Promise.all(Array.from({ length: 6 }, () => rig.call({ format, key, stream: false })));
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      assert.equal(answers.filter(({ status }) => status === 429).length, 5);
      for (const answer of answers.filter(({ status }) => status === 429))
        assert.ok(Number(answer.header("retry-after")) >= 1);
      assert.equal((await rig.call({ format, key, stream: false })).status, 200);
    }
  });

  it("a channel whose limit is used up, or that is full, is skipped and no client refused", async () => {
    const first = await burst(12, () => "main", "fallback");
    assert.equal(first.served, 12);
    const byChannel = (model: string): Map<unknown, number> => {
      const seen = new Map<unknown, number>();
      for (const line of rig.gateway.accessLog.filter((each) => each["model"] === model))
        seen.set(line["channel"], (seen.get(line["channel"]) ?? 0) + 1);
      return seen;
    };
    await waitFor("all lines", () => [...byChannel("fallback").values()].reduce((sum, count) => sum + count, 0) === 12);
    assert.equal(byChannel("fallback").get("default/narrow"), 3);
    assert.equal((await burst(12, () => "main", "fallback-thin")).served, 12);
    await waitFor(
      "all lines",
      () => [...byChannel("fallback-thin").values()].reduce((sum, count) => sum + count, 0) === 12,
    );
    assert.ok((byChannel("fallback-thin").get("default/thin") ?? 0) >= 1);
    assert.ok((byChannel("fallback-thin").get("default/c1") ?? 0) >= 6);
  });

  it("every refusal and failure frees what it had reserved", async () => {
    const remaining = async (): Promise<number> => {
      rig.upstream.replyWith(({ socket }) => socket.write(reply(chat.reply("x"))));
      const answer = await rig.call({ format: chat, key: "tokens", stream: false });
      return Number(answer.header("x-ratelimit-remaining-tokens"));
    };
    await remaining();
    const cost = (await remaining()) - (await remaining());
    const failures: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["400 of the gateway", () => rig.call({ format: chat, key: "tokens", changes: { n: 0 } })],
      ["404", () => rig.call({ format: chat, key: "tokens", model: "no-such-model" })],
      ["500", () => failWith(reply("{}", "500 Oops"))],
      ["429", () => failWith(reply("{}", "429 Slow"))],
      ["garbage", () => failWith("garbage\r\n\r\n")],
      ["an empty stream", () => failWith(Buffer.concat([Buffer.from(streamHead), chunk("")]))],
      ["a reset", () => failWith(undefined)],
    ];
    for (const [name, fail] of failures) {
      const start = await remaining();
      for (let round = 0; round < 3; round += 1) await fail();
      assert.equal(start - (await remaining()), cost, name);
    }
    await rig.settleDown();
  });

  async function failWith(bytes: Buffer | string | undefined): Promise<void> {
    rig.upstream.replyWith(({ socket }) => {
      if (bytes === undefined) socket.resetAndDestroy();
      else socket.write(bytes);
    });
    const answer = await rig.call({ format: chat, key: "tokens" });
    assert.ok(answer.status >= 400);
  }
});

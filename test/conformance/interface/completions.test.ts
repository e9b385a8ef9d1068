/** `/v1/completions` in front of upstreams that serve the same: passed on, charged, limited and cut as chat calls are. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type CallOptions, useEndpointRig } from "#test/support/conformance/endpoint-rig";
import type { HttpAnswer } from "#test/support/conformance/http-call";
import {
  channelManifest,
  channelSecret,
  clientKey,
  keyManifest,
  pairManifest,
  routeManifest,
} from "#test/support/conformance/manifests";
import { itOfRecordings } from "#test/support/conformance/other-recordings";
import { itRefusesRestrictedKeys, restrictedKeyManifests } from "#test/support/conformance/restricted-keys";
import {
  completionChunks,
  completionStream,
  eventsOf,
  replyAsAsked,
  streamScript,
  wholeCompletion,
} from "#test/support/conformance/text-completions";
import { at } from "#test/support/digest/facts";
import type { ScriptedReply } from "#test/support/fake-upstream";
import { waitFor } from "#test/support/wait-for";

const capabilities = ["Completion"];

const formats = [{ type: "Completions" }];
const onText = { capabilities, targets: [{ name: "main", channelRef: { name: "text" } }] };

describe("completions", () => {
  const rig = useEndpointRig({
    path: "/v1/completions",
    reply: replyAsAsked,
    manifests: (origin, spare) => [
      ...restrictedKeyManifests,
      keyManifest("small", { limits: [{ name: "all", unit: "OutputTokens", limit: "1000", period: "Lifetime" }] }),
      channelManifest("text", origin, { formats, models: [{ name: "*", upstreamName: "davinci-1" }] }),
      channelManifest("spare", spare, { formats }),
      channelManifest("reranker", origin, { formats: [{ type: "Rerank" }] }),
      routeManifest("text", { capabilities }),
      pairManifest("both", ["text", "spare"], { capabilities }),
      routeManifest("plain", { ...onText, parameters: [{ name: "suffix", support: "Unsupported" }] }),
      routeManifest("small-window", { ...onText, info: { contextWindow: 100 } }),
      routeManifest("chat-only", { targets: onText.targets }),
      routeManifest("reranker", { capabilities }),
    ],
  });

  function complete(body: object | string, options: CallOptions = {}): Promise<HttpAnswer> {
    return rig.call(typeof body === "string" ? body : { model: "text", prompt: "Once", ...body }, options);
  }

  describe("what passes", () => {
    for (const path of ["/v1/completions", "/completions", "/v1/v1/completions"]) {
      it(`POST ${path}: the call under the upstream's name, and the reply back`, async () => {
        const own = { prompt: ["a", "b"], echo: true, suffix: "!", logprobs: 5, best_of: 2, min_p: 0.05, user: "u" };
        const answer = await complete(own, { path });
        assert.equal(answer.status, 200, answer.body.toString());
        assert.equal(answer.header("content-type"), "application/json");
        assert.equal(answer.body.toString(), JSON.stringify(wholeCompletion));
        const [sent] = rig.upstream.requests;
        assert.equal(sent?.target, "/v1/completions");
        assert.equal(sent?.headers["authorization"], `Bearer ${channelSecret}`);
        assert.deepEqual(sent?.json(), { model: "davinci-1", ...own });
        assert.equal(answer.header("x-tollgate-dropped"), undefined);
      });
    }

    it("a stream with usage, where the client asks for it, byte for byte", async () => {
      const answer = await complete({ stream: true, stream_options: { include_usage: true } });
      assert.equal(answer.header("content-type"), "text/event-stream; charset=utf-8");
      assert.equal(answer.body.toString(), completionStream);
    });

    it("a stream without usage, where the client does not: the upstream is asked all the same", async () => {
      const answer = await complete({ stream: true, stream_options: { include_obfuscation: true } });
      const shown = completionChunks.slice(0, 3).map(({ ...chunk }) => {
        Reflect.deleteProperty(chunk, "usage");
        return chunk;
      });
      assert.equal(answer.body.toString(), eventsOf(...shown, "[DONE]"));
      assert.deepEqual(at(rig.upstream.requests[0]?.json(), "stream_options"), { include_usage: true });
      assert.equal((await rig.recordOf(answer)).usage?.output, 3);
    });

    it("a reply that came whole, as a stream to who asked for one, and the reverse", async () => {
      rig.upstream.replyWith({ body: JSON.stringify(wholeCompletion) });
      const streamed = await complete({ stream: true, stream_options: { include_usage: true } });
      const { usage, ...rest } = wholeCompletion;
      assert.equal(streamed.body.toString(), eventsOf(rest, { ...rest, choices: [], usage }, "[DONE]"));
      const logprobs = { tokens: ["a"], token_logprobs: [-0.5] };
      const other = { ...completionChunks[0], choices: [{ text: "b", index: 1, logprobs, finish_reason: "length" }] };
      const more = { ...other, choices: [{ text: "c", index: 1, logprobs, finish_reason: null }] };
      rig.upstream.replyWith(streamScript(eventsOf(more, other, ...completionChunks, "[DONE]")));
      const twice = { tokens: ["a", "a"], token_logprobs: [-0.5, -0.5] };
      assert.deepEqual((await complete({ n: 2 })).json(), {
        ...wholeCompletion,
        choices: [...wholeCompletion.choices, { text: "cb", index: 1, logprobs: twice, finish_reason: "length" }],
      });
    });

    it("without what the route's model does not take, which is declared", async () => {
      const answer = await complete({ model: "plain", suffix: "end" });
      assert.equal(answer.header("x-tollgate-dropped"), "suffix");
      assert.deepEqual(rig.upstream.requests[0]?.json(), { model: "davinci-1", prompt: "Once" });
    });

    it("prompts as token ids, and none", async () => {
      for (const prompt of [[1, 2], [[1, 2], [3]], null, "", ["a"]]) {
        const answer = await complete({ prompt });
        assert.equal(answer.status, 200, answer.body.toString());
        assert.deepEqual(at(rig.upstream.requests.at(-1)?.json(), "prompt"), prompt);
      }
    });
  });

  describe("what it costs", () => {
    it("the tokens that the upstream reports, whole and streamed", async () => {
      for (const stream of [false, true]) {
        const { usage, costNanos, isEstimated, format } = await rig.recordOf(await complete({ stream }));
        assert.deepEqual([usage?.input, usage?.output, costNanos], [5, 3, 5_000n + 6_000n]);
        assert.deepEqual([isEstimated, format], [false, "Completions"]);
      }
    });

    it("tokens that are counted where the upstream reports none, and token ids by their number", async () => {
      const { usage: _usage, ...silent } = wholeCompletion;
      rig.upstream.replyWith({ body: JSON.stringify(silent) });
      const { usage, costNanos, isEstimated } = await rig.recordOf(await complete({ prompt: [[1, 2, 3], [4]] }));
      const { input = 0, output = 0 } = usage ?? {};
      assert.ok(input >= 4 && input <= 8, `${input} tokens of input`);
      assert.ok(output >= 2 && output <= 5, `${output} tokens of output`);
      assert.equal(costNanos, BigInt(input) * 1_000n + BigInt(output) * 2_000n);
      assert.equal(isEstimated, true);
    });

    it("what was produced until a client left, and the upstream is left too", async () => {
      const text = "word ".repeat(50);
      const first = { ...completionChunks[0], choices: [{ text, index: 0, logprobs: null, finish_reason: null }] };
      const body = eventsOf(first, ...completionChunks, "[DONE]");
      rig.upstream.replyWith(streamScript(body, { stallAt: eventsOf(first).length }));
      const leaving = new AbortController();
      const known = rig.gateway.records.length;
      const response = await fetch(`${rig.gateway.origin}/v1/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${clientKey("k")}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "text", prompt: "Once", stream: true }),
        signal: leaving.signal,
      });
      await response.body?.getReader().read();
      leaving.abort();
      await waitFor("the upstream to be left", () => rig.upstream.requests[0]?.abortedAtMs);
      const { usage, isEstimated } = await waitFor("the record", () => rig.gateway.records[known]);
      assert.ok((usage?.output ?? 0) >= 40, `${usage?.output} tokens`);
      assert.equal(isEstimated, true);
    });

    it("at most what a key has left: all prompts and all that is made for each is reserved", async () => {
      const sizes: readonly [object, number][] = [
        [{ max_tokens: 100, prompt: Array(11).fill("a") }, 429],
        [{ max_tokens: 100, n: 2, best_of: 11 }, 429],
        [{ max_tokens: 100, prompt: Array(5).fill("a"), n: 2 }, 200],
      ];
      for (const [body, status] of sizes) {
        const answer = await complete(body, { key: "small" });
        const isRefused = at(answer.json(), "error", "code") === "insufficient_quota";
        assert.equal(isRefused, status === 429, answer.body.toString());
      }
      assert.equal(rig.upstream.requests.length, 1);
    });
  });

  describe("what is refused before any upstream is called", () => {
    for (const row of [
      { name: "with a number as prompt", body: { prompt: 4 }, param: "prompt" },
      { name: "with no prompt in a list", body: { prompt: [] }, param: "prompt" },
      { name: "with an empty list of token ids", body: { prompt: [[1], []] }, param: "prompt[1]" },
      { name: "with texts beside token ids", body: { prompt: ["a", 1] }, param: "prompt[0]" },
      { name: "with a token id below 0", body: { prompt: [1, -1] }, param: "prompt[0]" },
      { name: "with n 0", body: { n: 0 }, param: "n" },
      { name: "with n 129", body: { n: 129 }, param: "n" },
      { name: "with fewer made than wanted", body: { n: 3, best_of: 2 }, param: "best_of" },
      { name: "with max_tokens -1", body: { max_tokens: -1 }, param: "max_tokens" },
      { name: "with temperature 2.1", body: { temperature: 2.1 }, param: "temperature" },
      { name: "with logprobs -1", body: { logprobs: -1 }, param: "logprobs" },
      { name: "with messages", body: { prompt: undefined, messages: [] }, param: "messages" },
      { name: "of a model for chat", body: { model: "chat-only" }, param: "model" },
      { name: "of a channel without the format", body: { model: "reranker" }, param: "model" },
      { name: "of no model", body: { model: undefined }, param: "model" },
    ]) {
      it(`a call ${row.name}`, async () => {
        const answer = await complete(row.body);
        assert.equal(answer.status, 400, answer.body.toString());
        assert.equal(at(answer.json(), "error", "param"), row.param);
        assert.equal(rig.upstream.requests.length, 0);
      });
    }
  });

  describe("restrictions", () => {
    itRefusesRestrictedKeys(
      (key) => complete({}, { key }),
      () => rig.upstream,
    );
  });

  describe("upstreams that misbehave", () => {
    const whole = JSON.stringify(wholeCompletion);
    const chat = { ...wholeCompletion, choices: [{ index: 0, message: { role: "assistant", content: "hi" } }] };
    for (const row of [
      { name: "an error body under a status of success", script: { body: '{"error":{"message":"no"}}' } },
      { name: "a page of HTML", script: { body: "<html>", headers: { "content-type": "text/html" } } },
      { name: "nothing", script: { body: "" } },
      { name: "no choice", script: { body: JSON.stringify({ ...wholeCompletion, choices: [] }) } },
      { name: "a chat completion", script: { body: JSON.stringify(chat) } },
      { name: "a reply that is cut", script: { body: whole, framing: "length", cutAt: 20 } },
      { name: "a status of 500", script: { status: 500, body: "oops" } },
    ] as const) {
      it(`never passes ${row.name} as a completion`, async () => {
        rig.upstream.replyWith(row.script);
        const answer = await complete({});
        assert.ok(answer.status >= 400, `${answer.status}`);
        assert.equal(typeof at(answer.json(), "error", "message"), "string");
      });
    }

    it("never lets a stream look whole that was cut, wherever it was", async () => {
      const end = completionStream.length - "[DONE]\n\n".length;
      for (let cutAt = 0; cutAt < end; cutAt += 17) {
        rig.upstream.replyWith(streamScript(completionStream, { cutAt } satisfies ScriptedReply));
        const answer = await complete({ stream: true });
        const text = answer.body.toString();
        assert.ok(!text.includes("[DONE]"), `cut at ${cutAt}: ${text}`);
        assert.ok(answer.status >= 400 || /data: \{"error":/.test(text), `cut at ${cutAt}: ${text}`);
      }
    });

    it("waits for the end of each of hundreds of candidates", async () => {
      const prompts = Array.from({ length: 150 }, () => "Once");
      const choices = Array.from({ length: 300 }, (_, index) => ({ text: "a", index, logprobs: null }));
      const chunkOf = (choice: object): object => ({ id: "cmpl-1", object: "text_completion", choices: [choice] });
      const begun = choices.map((choice) => chunkOf({ ...choice, finish_reason: null }));
      const ended = choices.map((choice) => chunkOf({ ...choice, finish_reason: "stop" }));
      for (const [finished, isWhole] of [
        [299, false],
        [300, true],
      ] as const) {
        rig.upstream.replyWith(streamScript(eventsOf(...begun, ...ended.slice(0, finished), "[DONE]")));
        const answer = await complete({ prompt: prompts, n: 2, stream: true });
        assert.equal(answer.body.toString().includes("[DONE]"), isWhole, `${finished} that ended`);
      }
    });

    for (const [said, charged] of [
      [600, 600],
      [900, 600],
    ] as const) {
      it(`charges ${charged} of ${said} output tokens for three prompts of two candidates and a window of 100`, async () => {
        const reply = {
          ...wholeCompletion,
          usage: { prompt_tokens: 5, completion_tokens: said, total_tokens: said + 5 },
        };
        rig.upstream.replyWith({ body: JSON.stringify(reply) });
        const answer = await complete({ model: "small-window", prompt: ["a", "b", "c"], n: 2 });
        assert.equal((await rig.recordOf(answer)).usage?.output, charged);
      });
    }

    it("tells an error in a stream as an event, and passes nothing behind it", async () => {
      const [first = {}] = completionChunks;
      const body = eventsOf(first, { error: { message: "overloaded", type: "server_error" } }, "[DONE]");
      rig.upstream.replyWith(streamScript(body));
      const text = (await complete({ stream: true })).body.toString();
      assert.match(text, /data: \{"error":\{/);
      assert.doesNotMatch(text, /DONE/);
    });

    it("asks the next target where the first fails before its first byte", async () => {
      for (const stream of [false, true]) {
        rig.upstream.replyWith({ status: 503, body: "{}" });
        const answer = await complete({ model: "both", stream });
        assert.equal(answer.status, 200);
        assert.match(answer.body.toString(), /time/);
      }
      assert.deepEqual([rig.upstream.requests.length, rig.spare.requests.length], [2, 2]);
    });
  });

  describe("recorded replies", () => {
    itOfRecordings(
      "a completion and its stream pass as they are, and are charged by their usage",
      ["openai-completion.request.json", "openai-completion.json", "openai-completion-stream.sse"],
      async (request = Buffer.alloc(0), whole = Buffer.alloc(0), stream = Buffer.alloc(0)) => {
        const body = { ...JSON.parse(request.toString()), model: "text" };
        rig.upstream.replyWith(({ body: sent }) =>
          at(JSON.parse(String(sent)), "stream") === true ? streamScript(stream.toString()) : { body: whole },
        );
        for (const [asked, want] of [
          [{}, whole],
          [{ stream: true, stream_options: { include_usage: true } }, stream],
        ] as const) {
          const answer = await complete({ ...body, ...asked });
          assert.deepEqual(answer.body, want);
          const { usage } = await rig.recordOf(answer);
          assert.deepEqual([usage?.input, usage?.output], [31, 25]);
        }
      },
    );
  });
});

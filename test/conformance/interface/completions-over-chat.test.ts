/** `/v1/completions` in front of upstreams that know chat alone: asked as one user message, answered as a text. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useEndpointRig } from "#test/support/conformance/endpoint-rig";
import type { HttpAnswer } from "#test/support/conformance/http-call";
import { channelManifest, keyManifest, pairManifest, routeManifest } from "#test/support/conformance/manifests";
import { naturalReply } from "#test/support/conformance/natural-replies";
import { eventsOf, replyAsAsked, streamScript } from "#test/support/conformance/text-completions";
import { at } from "#test/support/digest/facts";

const formats = ["ChatCompletions", "Responses", "Messages", "GenerateContent"] as const;
const capabilities = ["Completion"];
const prompt = 'Once "upon"\n';

const paths: Readonly<Record<(typeof formats)[number], string>> = {
  ChatCompletions: "/v1/chat/completions",
  Responses: "/v1/responses",
  Messages: "/v1/messages",
  GenerateContent: "/v1beta/models/m-1:generateContent",
};

/** Where each format has what the user says. */
const places: Readonly<Record<(typeof formats)[number], readonly (string | number)[]>> = {
  ChatCompletions: ["messages", 0, "content"],
  Responses: ["input", 0, "content"],
  Messages: ["messages", 0, "content"],
  GenerateContent: ["contents", 0, "parts", 0, "text"],
};

const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m-1" };

function said(delta: object, finish: string | null = null, index = 0): object {
  return { ...chunk, choices: [{ index, delta, finish_reason: finish }] };
}

const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
const chunks = [
  said({ role: "assistant", content: "" }),
  said({ reasoning_content: "hm" }),
  said({ content: "a " }),
  said({ content: "time" }, null, 1),
  said({}, "length"),
  said({ content: "!" }, "tool_calls", 1),
  { ...chunk, choices: [], usage },
];

describe("completions over chat", () => {
  const rig = useEndpointRig({ path: "/v1/completions", reply: naturalReply, manifests });

  function manifests(origin: string): readonly object[] {
    const channel = (name: string, spec: object): object =>
      channelManifest(name, origin, { baseURL: origin, models: [{ name: "*", upstreamName: "m-1" }], ...spec });
    return [
      keyManifest("few", { limits: [{ name: "quota", unit: "Tokens", limit: "50k", period: "Lifetime" }] }),
      ...formats.map((type) =>
        channel(type.toLowerCase(), { formats: [{ type, path: paths[type].replace(":generateContent", ":{verb}") }] }),
      ),
      channel("reasoner", { provider: "OpenAI", formats: [{ type: "ChatCompletions", path: "/v1/chat/completions" }] }),
      channel("strict", {
        unsupportedParameters: "Reject",
        formats: [{ type: "Messages", path: "/v1/messages" }],
      }),
      channel("both", {
        formats: [
          { type: "Completions", path: "/v1/completions" },
          { type: "ChatCompletions", path: "/v1/chat/completions" },
        ],
        models: [
          { name: "both-chat", upstreamName: "m-1", capabilities: ["Chat"] },
          { name: "both-text", upstreamName: "m-1", capabilities: ["Chat", "Completion"] },
          { name: "both-deaf", upstreamName: "m-1", capabilities: ["Embeddings"] },
        ],
      }),
      ...["both-chat", "both-text", "both-deaf"].map((name) =>
        routeManifest(name, { capabilities, targets: [{ name: "main", channelRef: { name: "both" } }] }),
      ),
      channel("text", { formats: [{ type: "Completions", path: "/v1/completions" }] }),
      ...[...formats.map((type) => type.toLowerCase()), "reasoner", "strict"].map((name) =>
        routeManifest(name, { capabilities }),
      ),
      pairManifest("mixed", ["chatcompletions", "text"], { capabilities }),
    ];
  }

  function complete({ key = "k", ...body }: { readonly key?: string; readonly [name: string]: unknown }) {
    return rig.call({ prompt, ...body }, { key });
  }

  async function billOf(answer: HttpAnswer): Promise<readonly unknown[]> {
    const record = await rig.recordOf(answer);
    return [record.format, record.usage?.input, record.usage?.output, record.costNanos, record.isEstimated];
  }

  for (const format of formats) {
    const model = format.toLowerCase();
    // The shortest replies of some formats say nothing.
    const text = format === "Responses" ? "" : "hi";
    const streamed = format === "Messages" ? "" : text;

    it(`asks a channel of ${format} as one user message, and gives the reply as a text`, async () => {
      const answer = await complete({ model, max_tokens: 9, temperature: 0.5 });
      assert.equal(answer.status, 200, answer.body.toString());
      const [sent] = rig.upstream.requests;
      assert.equal(sent?.target, paths[format]);
      const content = at(sent?.json(), ...places[format]);
      assert.equal(Array.isArray(content) ? at(content, 0, "text") : content, prompt);
      assert.match(String(sent?.body), /(max_tokens|max_output_tokens|maxOutputTokens)":9/);
      assert.doesNotMatch(String(sent?.body), /"prompt"/);
      const { object, choices, usage: told } = JSON.parse(answer.body.toString());
      assert.equal(object, "text_completion");
      assert.deepEqual(choices, [{ text, index: 0, logprobs: null, finish_reason: "stop" }]);
      assert.deepEqual([told.prompt_tokens, told.completion_tokens, told.total_tokens], [2, 1, 3]);
      assert.deepEqual(await billOf(answer), ["Completions", 2, 1, 4_000n, false]);
    });

    it(`streams from a channel of ${format} in text completions, with usage where it is asked for`, async () => {
      for (const include_usage of [true, false]) {
        const answer = await complete({ model, stream: true, stream_options: { include_usage } });
        assert.equal(answer.header("content-type"), "text/event-stream; charset=utf-8");
        const events = answer.body.toString().trimEnd().split("\n\n");
        assert.equal(events.pop(), "data: [DONE]");
        const parsed = events.map((event): unknown => JSON.parse(event.slice("data: ".length)));
        assert.ok(parsed.every((event) => at(event, "object") === "text_completion"));
        assert.equal(parsed.map((event) => at(event, "choices", 0, "text") ?? "").join(""), streamed);
        assert.equal(parsed.filter((event) => at(event, "usage", "total_tokens") === 3).length, include_usage ? 1 : 0);
        assert.deepEqual(await billOf(answer), ["Completions", 2, 1, 4_000n, false]);
      }
    });

    it(`never lets a stream from a channel of ${format} look whole that was cut`, async () => {
      rig.upstream.replyWith((request) => {
        const { body = "", ...script } = naturalReply(request);
        return { ...script, body, framing: "chunked", cutAt: body.length - 30 };
      });
      const answer = await complete({ model, stream: true });
      const text_ = answer.body.toString();
      assert.doesNotMatch(text_, /DONE/);
      assert.match(text_, /"error":/);
    });
  }

  it("tells each candidate's text and end, and nothing that completions do not know", async () => {
    rig.upstream.replyWith(streamScript(eventsOf(...chunks, "[DONE]")));
    const options = { include_usage: true };
    const answer = await complete({ model: "chatcompletions", n: 2, stream: true, stream_options: options });
    const base = { id: "chatcmpl-1", created: 1, model: "m-1", object: "text_completion" };
    const piece = (text: string, finish_reason: string | null, index: number): object => ({
      ...base,
      choices: [{ text, index, logprobs: null, finish_reason }],
    });
    const want = [piece("a ", null, 0), piece("time", null, 1), piece("", "length", 0), piece("!", "stop", 1)];
    const got = answer.body.toString().split("\n\n");
    const parsed = got.slice(0, 4).map((event): unknown => JSON.parse(event.slice("data: ".length)));
    assert.deepEqual(parsed, want);
    assert.match(got[4] ?? "", /"total_tokens":8/);
    assert.deepEqual(got.slice(5), ["data: [DONE]", ""]);
  });

  it("makes a stream of a reply that came whole, and a text of one that came in a stream", async () => {
    const message = { role: "assistant", content: null, refusal: "No." };
    const choices = [{ index: 0, message, finish_reason: "content_filter" }];
    rig.upstream.replyWith({ body: JSON.stringify({ ...chunk, object: "chat.completion", choices, usage }) });
    const streamed = (await complete({ model: "chatcompletions", stream: true })).body.toString();
    assert.match(
      streamed,
      /^data: \{[^\n]*"text":"No\."[^\n]*"finish_reason":"content_filter"[^\n]*\n\ndata: \[DONE\]/,
    );
    rig.upstream.replyWith(streamScript(eventsOf(...chunks, "[DONE]")));
    const whole = await complete({ model: "chatcompletions", n: 2 });
    assert.deepEqual(
      [0, 1].map((index) => at(whole.json(), "choices", index, "text")),
      ["a ", "time!"],
    );
    assert.deepEqual(await billOf(whole), ["Completions", 5, 3, 11_000n, false]);
  });

  it("counts what was said where the upstream reports no usage", async () => {
    const { usage: _usage, ...silent } = { ...chunk, usage };
    const choices = [
      { index: 0, message: { role: "assistant", content: "four words of text" }, finish_reason: "stop" },
    ];
    rig.upstream.replyWith({ body: JSON.stringify({ ...silent, object: "chat.completion", choices }) });
    const [, input, output, , isEstimated] = await billOf(await complete({ model: "chatcompletions" }));
    assert.ok(Number(input) >= 3 && Number(input) <= 10, `${input} tokens of input`);
    assert.ok(Number(output) >= 3 && Number(output) <= 6, `${output} tokens of output`);
    assert.equal(isEstimated, true);
  });

  it("sends the cap where the provider takes it, and a vendor's own members to chat completions", async () => {
    await complete({ model: "reasoner", max_tokens: 9 });
    await complete({ model: "chatcompletions", max_tokens: 9, min_p: 0.1, best_of: 1, echo: false, logprobs: null });
    const [reasoner, compatible] = rig.upstream.requests.map((request) => request.json());
    const message = [{ role: "user", content: prompt }];
    assert.deepEqual(reasoner, { model: "m-1", messages: message, max_completion_tokens: 9 });
    assert.deepEqual(compatible, { model: "m-1", max_tokens: 9, min_p: 0.1, messages: message });
  });

  it("declares what another format cannot carry, or refuses it where the channel says so", async () => {
    const answer = await complete({ model: "messages", min_p: 0.1, logit_bias: { 50256: -100 } });
    assert.deepEqual(String(answer.header("x-tollgate-dropped")).split(", ").sort(), ["logit_bias", "min_p"]);
    const refused = await complete({ model: "strict", logit_bias: { 50256: -100 } });
    assert.equal(refused.status, 400);
    assert.equal(at(refused.json(), "error", "param"), "logit_bias");
    assert.equal(rig.upstream.requests.length, 1);
  });

  for (const row of [
    { name: "several prompts", body: { prompt: ["a", "b"] }, param: "prompt" },
    { name: "token ids", body: { prompt: [1, 2] }, param: "prompt" },
    { name: "one list of token ids", body: { prompt: [[1, 2]] }, param: "prompt" },
    { name: "no prompt", body: { prompt: null }, param: "prompt" },
    { name: "a suffix", body: { suffix: "end" }, param: "suffix" },
    { name: "the prompt back", body: { echo: true }, param: "echo" },
    { name: "the best of two", body: { best_of: 2 }, param: "best_of" },
    { name: "probabilities", body: { logprobs: 0 }, param: "logprobs" },
  ]) {
    it(`refuses a call for ${row.name}, before any upstream is called and without a charge`, async () => {
      const answer = await complete({ model: "chatcompletions", ...row.body });
      assert.equal(answer.status, 400, answer.body.toString());
      assert.equal(at(answer.json(), "error", "param"), row.param);
      assert.equal(at(answer.json(), "error", "code"), "unsupported_parameter");
      assert.equal(rig.upstream.requests.length, 0);
      assert.equal((await rig.recordOf(answer)).costNanos ?? 0n, 0n);
    });
  }

  it("takes a list of one text for one", async () => {
    assert.equal((await complete({ model: "chatcompletions", prompt: [prompt] })).status, 200);
    assert.equal(at(rig.upstream.requests[0]?.json(), "messages", 0, "content"), prompt);
  });

  it("goes on to a channel of completions with what a chat cannot say, and after one that failed", async () => {
    rig.upstream.replyWith((request) =>
      request.target === "/v1/completions" ? replyAsAsked(request) : { status: 500, body: "{}" },
    );
    for (const body of [{ prompt: ["a", "b"] }, {}]) {
      const answer = await complete({ model: "mixed", ...body });
      assert.equal(at(answer.json(), "choices", 0, "text"), " upon a time");
    }
    assert.deepEqual(
      rig.upstream.requests.map(({ target }) => target),
      ["/v1/completions", "/v1/chat/completions", "/v1/completions"],
    );
  });

  it("asks a channel of both in chat where its model can do nothing else", async () => {
    rig.upstream.replyWith((request) =>
      request.target === "/v1/completions" ? replyAsAsked(request) : naturalReply(request),
    );
    assert.equal((await complete({ model: "both-chat" })).status, 200);
    assert.equal((await complete({ model: "both-text" })).status, 200);
    const refused = await complete({ model: "both-deaf" });
    assert.deepEqual([refused.status, at(refused.json(), "error", "param")], [400, "model"]);
    assert.deepEqual(
      rig.upstream.requests.map(({ target }) => target),
      ["/v1/chat/completions", "/v1/completions"],
    );
  });

  it("reserves the larger of two caps, whichever the model is given", async () => {
    for (const model of formats.map((format) => format.toLowerCase())) {
      const answer = await complete({ model, key: "few", max_tokens: 1, max_completion_tokens: 100_000 });
      assert.equal(at(answer.json(), "error", "code"), "insufficient_quota", answer.body.toString());
    }
    assert.equal(rig.upstream.requests.length, 0);
  });
});

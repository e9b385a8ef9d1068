/** Vendors that refuse members which others of their format take: calls reach them without these, or renamed. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useCapture } from "#test/support/conformance/capture";
import { callForms } from "#test/support/conformance/chat-calls";
import { channelManifest, keyManifest, routeManifest } from "#test/support/conformance/manifests";

const presets = ["mistral", "groq", "together"] as const;

const form = callForms.find(({ format }) => format === "ChatCompletions") ?? assert.fail();

interface Row {
  readonly name: string;
  readonly preset: (typeof presets)[number];
  readonly stream?: boolean;
  readonly body: object;
  /** Members besides `model`, `messages` and `stream` that arrive. */
  readonly arrives: object;
  readonly dropped?: string;
}

const rows: readonly Row[] = [
  {
    name: "mistral gets the cap and the seed under its own names",
    preset: "mistral",
    body: { max_completion_tokens: 7, seed: 3, temperature: 0.5 },
    arrives: { max_tokens: 7, random_seed: 3, temperature: 0.5 },
  },
  {
    name: "mistral gets one cap of two, the one that it knows",
    preset: "mistral",
    body: { max_completion_tokens: 7, max_tokens: 5 },
    arrives: { max_tokens: 5 },
  },
  {
    name: "mistral gets no member that it does not know, and the client is told",
    preset: "mistral",
    body: { logit_bias: { 1: 2 }, store: false, n: 1 },
    arrives: { n: 1 },
    dropped: "logit_bias, store",
  },
  { name: "mistral is not asked for usage in a stream", preset: "mistral", stream: true, body: {}, arrives: {} },
  {
    name: "mistral is not asked for usage by a client either",
    preset: "mistral",
    stream: true,
    body: { stream_options: { include_usage: true } },
    arrives: {},
  },
  {
    name: "groq gets no log probabilities asked, and the client is told",
    preset: "groq",
    body: { logprobs: true, max_completion_tokens: 7, seed: 3 },
    arrives: { max_completion_tokens: 7, seed: 3 },
    dropped: "logprobs",
  },
  {
    name: "groq is asked for usage in a stream",
    preset: "groq",
    stream: true,
    body: {},
    arrives: { stream_options: { include_usage: true } },
  },
  {
    name: "a vendor without quirks gets what the client says",
    preset: "together",
    body: { max_completion_tokens: 7, seed: 3, logit_bias: { 1: 2 }, top_k: 4 },
    arrives: { max_completion_tokens: 7, seed: 3, logit_bias: { 1: 2 }, top_k: 4 },
  },
];

describe("quirks of a preset", () => {
  const capture = useCapture((origin) => [
    keyManifest("main"),
    ...presets.flatMap((preset) => {
      const spec = { preset, provider: undefined, formats: undefined };
      const strict = { ...spec, unsupportedParameters: "Reject" };
      return [
        channelManifest(preset, origin, spec),
        routeManifest(preset),
        channelManifest(`${preset}-strict`, origin, strict),
        routeManifest(`${preset}-strict`),
      ];
    }),
  ]);

  for (const { name, preset, stream = false, body, arrives, dropped } of rows) {
    it(name, async () => {
      const { answer, received } = await capture().send({ form, model: preset, stream, body });
      assert.equal(answer.status, 200, answer.body.toString());
      const { model: _model, messages: _messages, stream: _stream, ...rest } = Object(received?.json());
      assert.deepEqual(rest, arrives);
      assert.equal(answer.headers["x-tollgate-dropped"], dropped);
    });
  }

  it("refuse what they do not take on a channel that is strict, but for what the gateway renames or adds", async () => {
    const model = "mistral-strict";
    const { answer, received } = await capture().send({ form, model, body: { logit_bias: { 1: 2 } } });
    assert.equal(answer.status, 400);
    assert.equal(Object(answer.json()).error.param, "logit_bias");
    assert.equal(received, undefined);
    const served = await capture().send({ form, model, stream: true, body: { max_completion_tokens: 7 } });
    assert.equal(served.answer.status, 200, served.answer.body.toString());
  });
});

/** A preset decides where a call goes and where the secret stands; what the channel says itself counts before it. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useCapture } from "#test/support/conformance/capture";
import { callForms } from "#test/support/conformance/chat-calls";
import {
  channelManifest,
  channelSecret,
  channelSecretManifest,
  keyManifest,
  routeManifest,
} from "#test/support/conformance/manifests";

interface Row {
  readonly name: string;
  readonly spec: Readonly<Record<string, unknown>>;
  /** Behind the origin of the fake upstream. */
  readonly base: string;
  /** What a client calls in; the format that the preset speaks too. */
  readonly format: (typeof callForms)[number]["format"];
  readonly target: string;
  readonly header: readonly [name: string, value: string];
}

const bearer = ["authorization", `Bearer ${channelSecret}`] as const;

const rows: readonly Row[] = [
  {
    name: "groq",
    spec: { preset: "groq" },
    base: "/openai/v1",
    format: "ChatCompletions",
    target: "/openai/v1/chat/completions",
    header: bearer,
  },
  {
    name: "groq-with-provider",
    spec: { preset: "groq", provider: "OpenAICompatible" },
    base: "/openai/v1",
    format: "Responses",
    target: "/openai/v1/responses",
    header: bearer,
  },
  {
    name: "groq-with-own-words",
    spec: {
      preset: "groq",
      formats: [{ type: "ChatCompletions", path: "/relay/chat/completions" }],
      auth: { location: { header: "x-own-key" }, scheme: "Raw" },
    },
    base: "",
    format: "ChatCompletions",
    target: "/relay/chat/completions",
    header: ["x-own-key", channelSecret],
  },
  {
    name: "anthropic",
    spec: { preset: "anthropic" },
    base: "",
    format: "Messages",
    target: "/v1/messages",
    header: ["x-api-key", channelSecret],
  },
  {
    name: "gemini",
    spec: { preset: "gemini" },
    base: "/v1beta",
    format: "GenerateContent",
    target: "/v1beta/models/gemini:generateContent",
    header: ["x-goog-api-key", channelSecret],
  },
  {
    name: "azure",
    spec: { preset: "azure-openai", azure: { apiVersion: "2024-10-21" } },
    base: "",
    format: "ChatCompletions",
    target: "/openai/deployments/azure/chat/completions?api-version=2024-10-21",
    header: ["api-key", channelSecret],
  },
  {
    name: "azure-v1",
    spec: { preset: "azure-openai-v1" },
    base: "",
    format: "ChatCompletions",
    target: "/openai/v1/chat/completions",
    header: ["api-key", channelSecret],
  },
  {
    name: "cohere",
    spec: { preset: "cohere" },
    base: "",
    format: "ChatCompletions",
    target: "/compatibility/v1/chat/completions",
    header: bearer,
  },
  {
    name: "deepseek-messages",
    spec: { preset: "deepseek", provider: "AnthropicCompatible" },
    base: "/anthropic",
    format: "Messages",
    target: "/anthropic/v1/messages",
    header: ["x-api-key", channelSecret],
  },
];

describe("a channel with a preset", () => {
  const capture = useCapture((origin) => [
    channelSecretManifest(),
    keyManifest("main"),
    ...rows.flatMap(({ name, spec, base }) => {
      const absent = { provider: undefined, formats: undefined };
      return [channelManifest(name, origin, { ...absent, baseURL: `${origin}${base}`, ...spec }), routeManifest(name)];
    }),
  ]);

  for (const { name, format, target, header } of rows) {
    it(`${name}: is called at ${target} with the secret in ${header[0]}`, async () => {
      const form = callForms.find((one) => one.format === format) ?? assert.fail(format);
      const { answer, received } = await capture().send({ form, model: name });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(received?.target, target);
      assert.equal(received?.headers[header[0]], header[1]);
      const places = Object.entries(received?.headers ?? {}).filter(([, value]) =>
        String(value).includes(channelSecret),
      );
      assert.deepEqual(
        places.map(([place]) => place),
        [header[0]],
        "the secret stands in one place",
      );
    });
  }
});

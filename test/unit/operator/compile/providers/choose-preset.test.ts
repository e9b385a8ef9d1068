import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { refuseURL } from "#operator/compile/egress-rules";
import { choosePreset, formatOf } from "#operator/compile/providers/choose-preset";
import { defaultPresets, presets } from "#operator/compile/providers/presets.gen";
import { servedFormats } from "#operator/compile/served.gen";
import type { ChannelSpec, PresetName } from "#operator/resources/types.gen";
import { EgressPolicy } from "#proxy/snapshot/egress-policy";
import type { Channel, WireFormat } from "#proxy/snapshot/types.gen";
import { validateObject } from "#proxy/snapshot/validate";
import { compileText } from "#test/support/compile-manifests";

const names = Object.keys(presets).filter((name): name is PresetName => Object.hasOwn(presets, name));

/** The spec as the schema leaves it, with everything that has a default. */
function specOf(spec: Partial<ChannelSpec>): ChannelSpec {
  return Object.assign(Object.create(null), spec);
}

/** The wire object of a channel that has a Secret with its credential, and what `Accepted` says. */
function compiled(spec: object): { readonly channel: Channel; readonly accepted: string | undefined } {
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "up", namespace: "a" },
    stringData: { apiKey: "x" },
  };
  const credentials = [{ name: "one", secretKeyRef: { name: "up" } }];
  const metadata = { name: "it", namespace: "a" };
  const channel = { apiVersion: "tollgate.dev/v1alpha1", kind: "Channel", metadata, spec: { credentials, ...spec } };
  const text = [secret, channel].map((object) => JSON.stringify(object)).join("\n---\n");
  const { objects, results } = compileText(text, { egressAllowCIDRs: ["127.0.0.0/8"] });
  const accepted = results.get("channel/a/it")?.accepted;
  const found = [...objects.values()].find((object): object is Channel => object.kind === "channel");
  return { channel: found ?? assert.fail(accepted?.message), accepted: accepted?.reason };
}

describe("presets", () => {
  for (const name of names) {
    const preset = presets[name];
    const baseURL = preset.baseURL ?? "https://models.example.com";
    const smallest = {
      preset: name,
      ...(preset.baseURL === undefined && { baseURL }),
      ...(name === "azure-openai" && { azure: { apiVersion: "2024-10-21" } }),
    };

    it(`${name} makes a channel that proxies take, of all its formats`, () => {
      const formats = preset.formats.map(({ type }) => ({ type }));
      const { channel } = compiled({ ...smallest, formats });
      assert.equal(validateObject(channel).problem, undefined);
      assert.equal(channel.provider, preset.provider);
      assert.equal(channel.baseURL, baseURL);
      assert.deepEqual(channel.auth, preset.auth);
      assert.deepEqual(
        channel.formats.map(({ type }) => type),
        preset.formats.map(({ type }) => type),
      );
      for (const { path } of channel.formats) assert.doesNotMatch(path.replace(/\{(model|verb)\}/g, ""), /[{}]/);
    });

    it(`${name} without a list speaks what is served, and the status is silent about the rest`, () => {
      const types = preset.formats.map(({ type }) => type);
      const served = types.filter((type) => servedFormats.has(type));
      const { channel, accepted } = compiled(smallest);
      assert.deepEqual(
        channel.formats.map(({ type }) => type),
        served.length > 0 ? served : types,
      );
      assert.equal(accepted, served.length > 0 ? "Valid" : "PartiallyValid");
    });

    it(`${name} is called with TLS at an address that egress allows, or on this machine`, () => {
      const url = new URL(baseURL);
      if (url.hostname === "localhost") return;
      assert.equal(url.protocol, "https:");
      assert.equal(refuseURL(baseURL, new EgressPolicy([]), "spec.baseURL"), undefined);
    });

    it(`${name} says a dialect only of formats that have some`, () => {
      const withDialect = [...preset.formats, ...preset.otherFormats].filter(({ dialect }) => dialect !== undefined);
      assert.deepEqual(
        withDialect.filter(({ type }) => type !== "Embeddings" && type !== "Rerank"),
        [],
      );
    });

    it(`${name} has each format once, and variants of another provider`, () => {
      const types = [...preset.formats, ...preset.otherFormats].map(({ type }) => type);
      assert.equal(new Set(types).size, types.length);
      for (const [provider, variant] of Object.entries(preset.variants ?? {})) {
        assert.notEqual(provider, preset.provider);
        assert.equal(presets[variant].provider, provider);
      }
    });
  }

  it("are those of their provider where they are its default", () => {
    for (const [provider, name] of Object.entries(defaultPresets)) assert.equal(presets[name].provider, provider);
  });
});

describe("the preset of a channel", () => {
  const rows: readonly { name: string; spec: Partial<ChannelSpec>; want: PresetName }[] = [
    { name: "is the one that it names", spec: { preset: "groq" }, want: "groq" },
    { name: "fits the provider that it gives", spec: { preset: "groq", provider: "OpenAICompatible" }, want: "groq" },
    {
      name: "is the vendor's other one for the other provider",
      spec: { preset: "deepseek", provider: "AnthropicCompatible" },
      want: "deepseek-anthropic",
    },
    { name: "is the provider's own without a name", spec: { provider: "Cohere" }, want: "cohere" },
    {
      name: "is the deployments of Azure for a version by date",
      spec: { provider: "AzureOpenAI", azure: { apiVersion: "2024-10-21" } },
      want: "azure-openai",
    },
    {
      name: "is Azure's newer API for version v1",
      spec: { provider: "AzureOpenAI", azure: { apiVersion: "v1" } },
      want: "azure-openai-v1",
    },
  ];
  for (const { name, spec, want } of rows) it(name, () => assert.equal(choosePreset(specOf(spec)), presets[want]));

  const refusals: readonly { name: string; spec: object; want: RegExp }[] = [
    {
      name: "does not fit another provider",
      spec: { preset: "deepseek", provider: "GeminiCompatible" },
      want: /^spec\.preset: deepseek needs spec\.provider OpenAICompatible or AnthropicCompatible or none, not GeminiCompatible$/,
    },
    {
      name: "is one of those that there are",
      spec: { preset: "acme" },
      want: /^spec\.preset: "acme" is unknown; .*, groq, /,
    },
    {
      name: "is no member of every object",
      spec: { preset: "toString" },
      want: /^spec\.preset: "toString" is unknown/,
    },
    {
      name: "is missing for providers that sign",
      spec: { provider: "Bedrock" },
      want: /^spec\.provider: Bedrock is not served/,
    },
  ];
  for (const { name, spec, want } of refusals)
    it(name, () => assert.throws(() => choosePreset(specOf(spec)), { message: want }));
});

describe("the path of a format", () => {
  const rows: readonly { preset: PresetName; format: WireFormat; base: string; want: string | undefined }[] = [
    { preset: "groq", format: "ChatCompletions", base: "https://x.example/v1", want: "/chat/completions" },
    { preset: "anthropic", format: "Messages", base: "https://x.example", want: "/v1/messages" },
    { preset: "anthropic", format: "Messages", base: "https://x.example/v1", want: "/messages" },
    { preset: "anthropic", format: "Messages", base: "http://v1", want: "/v1/messages" },
    { preset: "gemini", format: "Predict", base: "https://x.example/v1beta", want: "/models/{model}:predict" },
    { preset: "azure-openai-v1", format: "Speech", base: "https://x.example/openai/v1", want: "/audio/speech" },
    { preset: "mistral", format: "Rerank", base: "https://x.example/v1", want: "/rerank" },
    { preset: "mistral", format: "CountTokens", base: "https://x.example", want: "/v1/messages/count_tokens" },
    {
      preset: "gemini",
      format: "CountTokens",
      base: "https://x.example",
      want: "/v1beta/models/{model}:countTokens",
    },
    { preset: "cohere", format: "Messages", base: "https://x.example", want: undefined },
    { preset: "openai", format: "Passthrough", base: "https://x.example", want: undefined },
  ];
  for (const { preset, format, base, want } of rows) {
    it(`${format} of ${preset} is at ${want ?? "no usual place"} below ${base}`, () =>
      assert.equal(formatOf(presets[preset], format, base, undefined)?.path, want));
  }

  const chat = "https://x.example/compatibility/v1/chat/completions";
  for (const { preset, base, format, own, want } of [
    { preset: "cohere", base: "", format: "Rerank", want: "https://x.example/v2/rerank" },
    { preset: "cohere", base: "/v2", format: "Rerank", want: "https://x.example/v2/rerank" },
    { preset: "cohere", base: "/v1", format: "Embeddings", want: "https://x.example/v2/embed" },
    { preset: "cohere", base: "/compatibility/v1", format: "Embeddings", want: "https://x.example/v2/embed" },
    { preset: "cohere", base: "", format: "ChatCompletions", want: chat },
    { preset: "cohere", base: "/v2", format: "ChatCompletions", want: chat },
    { preset: "cohere", base: "/compatibility/v1", format: "ChatCompletions", want: chat },
    { preset: "cohere", base: "/proxy/v1", format: "Rerank", want: "https://x.example/proxy/v2/rerank" },
    { preset: "cohere", base: "/v2", format: "Rerank", own: "/rank", want: "https://x.example/v2/rank" },
    { preset: "cohere", base: "/v2", format: "Passthrough", own: "/classify", want: "https://x.example/v2/classify" },
    { preset: "tei", base: "/v1", format: "Rerank", want: "https://x.example/rerank" },
    { preset: "tei", base: "/v1", format: "Embeddings", want: "https://x.example/v1/embeddings" },
    { preset: "openai", base: "/api/v3", format: "ChatCompletions", want: "https://x.example/api/v3/chat/completions" },
    { preset: "anthropic", base: "/api/v3", format: "Messages", want: "https://x.example/api/v3/messages" },
  ] satisfies readonly { preset: PresetName; base: string; format: WireFormat; own?: string; want: string }[]) {
    it(`${format} of ${preset} below '${base}'${own === undefined ? "" : ` with the path ${own}`} is called at ${want}`, () => {
      const baseURL = `https://x.example${base}`;
      const { channel } = compiled({
        preset,
        baseURL,
        formats: [{ type: format, ...(own && (format === "Passthrough" ? { paths: [own] } : { path: own })) }],
      });
      assert.deepEqual(
        channel.formats.map(({ path }) => channel.baseURL + path),
        [want],
      );
    });
  }

  it("holds the version of Azure's older API, encoded", () => {
    const found = formatOf(presets["azure-openai"], "Responses", "https://x.example", "2024 10");
    assert.equal(found?.path, "/openai/responses?api-version=2024%2010");
  });
});

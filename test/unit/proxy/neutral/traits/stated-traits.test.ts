import assert from "node:assert/strict";
import { knownName, statedTraits } from "#proxy/neutral/traits/stated-traits";

const models = [
  { name: "fast", upstreamName: "deployment-7", traits: { like: "gpt-5.4" } },
  { name: "also-fast", upstreamName: "deployment-7" },
  { name: "team/*", upstreamName: "prod-*-eu", traits: { maxOutputTokens: 1 } },
  { name: "claude-*", traits: { maxOutputTokens: 2 } },
  { name: "claude-opus-*", traits: { maxOutputTokens: 3 } },
  { name: "claude-opus-x" },
  { name: "*", traits: { maxOutputTokens: 4 } },
];
const privacy = {
  store: "PassThrough",
  safetyIdentifier: "Forward",
  streamObfuscation: "Strip",
  clientMetadata: "Forward",
} as const;
const channel = { provider: "OpenAI", baseURL: "https://api.example", privacy, models } as const;

describe("statedTraits()", () => {
  for (const row of [
    { model: "deployment-7", want: { like: "gpt-5.4" } },
    { model: "prod-a-eu", want: { maxOutputTokens: 1 } },
    { model: "prod-eu", want: { maxOutputTokens: 4 } },
    { model: "claude-sonnet", want: { maxOutputTokens: 2 } },
    { model: "claude-opus-9", want: { maxOutputTokens: 3 } },
    { model: "claude-opus-x", want: {} },
    { model: "fast", want: { maxOutputTokens: 4 } },
  ]) {
    it(`finds what is said of ${row.model} at the upstream`, () =>
      assert.deepEqual(statedTraits({ channel, upstreamModel: row.model }), row.want));
  }

  it("is nothing on a channel without models", () => {
    const { provider, baseURL } = channel;
    assert.deepEqual(statedTraits({ channel: { provider, baseURL, privacy }, upstreamModel: "m" }), {});
  });

  it("names the model that the tables are asked for", () => {
    assert.equal(knownName({ channel, upstreamModel: "deployment-7" }), "gpt-5.4");
    assert.equal(knownName({ channel, upstreamModel: "claude-opus-x" }), "claude-opus-x");
  });
});

import assert from "node:assert/strict";
import type { Effort } from "#proxy/neutral/conversation";
import { type ClaudeTraits, claudeEffort, claudeTraitsOf } from "#proxy/neutral/traits/claude-models";

function modelTraits(upstreamModel: string, provider: "Anthropic" | "AnthropicCompatible"): ClaudeTraits {
  const privacy = {
    store: "PassThrough",
    safetyIdentifier: "Forward",
    streamObfuscation: "Strip",
    clientMetadata: "Forward",
  } as const;
  return claudeTraitsOf({ channel: { provider, baseURL: "https://api.example", privacy }, upstreamModel });
}

describe("traits of Claude's models", () => {
  for (const row of [
    { model: "claude-3-haiku-20240307", thinking: "none", cap: 4096, schemas: false },
    { model: "claude-3-5-sonnet-20241022", thinking: "none", cap: 8192, schemas: false },
    { model: "claude-3-7-sonnet-latest", thinking: "manual", cap: 64_000, schemas: false },
    { model: "claude-opus-4-20250514", thinking: "manual", cap: 32_000, schemas: false },
    { model: "claude-opus-4-1", thinking: "manual", cap: 32_000, schemas: true },
    { model: "claude-sonnet-4-0", thinking: "manual", cap: 64_000, schemas: false },
    { model: "claude-sonnet-4-5-20250929", thinking: "manual", cap: 64_000, schemas: true },
    { model: "anthropic.claude-haiku-4-5-20251001-v1:0", thinking: "manual", cap: 64_000, schemas: true },
    { model: "claude-opus-4-6", thinking: "adaptive", cap: 128_000, schemas: true },
    { model: "anthropic/claude-sonnet-4.6", thinking: "adaptive", cap: 128_000, schemas: true },
    { model: "claude-opus-5@20260801", thinking: "adaptive", cap: 128_000, schemas: true },
    { model: "claude-fable-5", thinking: "adaptive", cap: 128_000, schemas: true },
    { model: "something-new", thinking: "adaptive", cap: undefined, schemas: true },
  ]) {
    it(`knows ${row.model}`, () => {
      const { thinking, outputTokensMax, keepsSchemas } = modelTraits(row.model, "Anthropic");
      assert.deepEqual(
        { thinking, outputTokensMax, keepsSchemas },
        {
          thinking: row.thinking,
          outputTokensMax: row.cap,
          keepsSchemas: row.schemas,
        },
      );
    });
  }

  for (const row of [
    { model: "claude-opus-4-6", sampling: true, both: false, continues: false, laterSystem: false },
    { model: "claude-opus-4-7", sampling: false, both: false, continues: false, laterSystem: false },
    { model: "claude-opus-4-8", sampling: false, both: false, continues: false, laterSystem: true },
    { model: "claude-sonnet-4-5", sampling: true, both: false, continues: true, laterSystem: false },
    { model: "claude-3-5-haiku", sampling: true, both: true, continues: true, laterSystem: false },
    // Nothing is lost where the safe form is taken, so an unknown model gets system text as text of the user.
    { model: "something-new", sampling: false, both: false, continues: false, laterSystem: false },
  ]) {
    it(`knows what ${row.model} refuses`, () => {
      const traits = modelTraits(row.model, "Anthropic");
      const { takesSampling, takesBothSampling, continuesPrefill, takesLaterSystem } = traits;
      assert.deepEqual(
        [takesSampling, takesBothSampling, continuesPrefill, takesLaterSystem],
        [row.sampling, row.both, row.continues, row.laterSystem],
      );
    });
  }

  it("asks a compatible server for nothing new, whatever its model is called", () => {
    const unknown = modelTraits("glm-9", "AnthropicCompatible");
    assert.deepEqual([unknown.thinking, unknown.keepsSchemas, unknown.takesSampling], ["manual", false, true]);
    assert.equal(modelTraits("claude-opus-5", "AnthropicCompatible").takesLaterSystem, false);
    assert.equal(modelTraits("claude-opus-5", "AnthropicCompatible").thinking, "adaptive");
  });
});

describe("pitfall 168: what the newest of Claude's models refuse", () => {
  for (const row of [
    { model: "claude-opus-5-5", stops: false, forced: false },
    { model: "claude-sonnet-5-5", stops: false, forced: false },
    { model: "claude-sonnet-5-5@20261001", stops: false, forced: false },
    { model: "us.anthropic.claude-opus-5-5-20261001-v1:0", stops: false, forced: false },
    { model: "anthropic/claude-opus-5.5", stops: false, forced: false },
    { model: "claude-fable-5-1", stops: false, forced: false },
    { model: "claude-mythos-5-1", stops: false, forced: false },
    { model: "claude-fable-5", stops: false, forced: true },
    { model: "claude-opus-6", stops: false, forced: false },
    { model: "claude-haiku-5-5", stops: true, forced: true },
    { model: "claude-opus-5", stops: true, forced: true },
    { model: "claude-sonnet-5-20260801", stops: true, forced: true },
    { model: "claude-opus-4-8", stops: true, forced: true },
    { model: "claude-opus-4-20250514", stops: true, forced: true },
  ]) {
    it(`knows ${row.model}`, () => {
      const { canStopThinking, takesForcedTools } = modelTraits(row.model, "Anthropic");
      assert.deepEqual(
        { canStopThinking, takesForcedTools },
        { canStopThinking: row.stops, takesForcedTools: row.forced },
      );
    });
  }
});

describe("knownEffort()", () => {
  const rows: { model: string; wanted: Effort; want: Effort | undefined }[] = [
    { model: "claude-opus-4-6", wanted: "minimal", want: "low" },
    { model: "claude-opus-4-6", wanted: "medium", want: "medium" },
    { model: "claude-opus-4-6", wanted: "xhigh", want: "max" },
    { model: "claude-opus-4-7", wanted: "xhigh", want: "xhigh" },
    { model: "claude-sonnet-4-5", wanted: "high", want: undefined },
  ];
  for (const { model, wanted, want } of rows) {
    it(`pitfall 95: says ${wanted} to ${model} as ${want ?? "nothing"}`, () =>
      assert.equal(claudeEffort(wanted, modelTraits(model, "Anthropic")), want));
  }
});

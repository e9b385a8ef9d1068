import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import type { Conversation } from "#proxy/neutral/conversation";
import { targetOf, writeFor } from "#test/unit/proxy/formats/generate-content/translate/replay";

describe("writeRequest() of generateContent: parameters", () => {
  for (const row of [
    {
      name: "pitfall 101: keeps zeros",
      sampling: { temperature: 0, topP: 0, presencePenalty: 0, seed: 0 },
      config: { temperature: 0, topP: 0, presencePenalty: 0, seed: 0 },
    },
    {
      name: "clamps the temperature",
      sampling: { temperature: 3 },
      config: { temperature: 2 },
      dropped: ["temperature"],
    },
    { name: "rounds top k", sampling: { topK: 39.6 }, config: { topK: 40 } },
    { name: "says nothing of one candidate", sampling: { candidates: 1 }, config: undefined },
    { name: "asks for candidates", sampling: { candidates: 2 }, config: { candidateCount: 2 } },
    { name: "drops a seed beyond 32 bits", sampling: { seed: 2 ** 40 }, config: undefined, dropped: ["seed"] },
    {
      name: "asks for probabilities",
      sampling: { logprobs: true, topLogprobs: 2 },
      config: { responseLogprobs: true, logprobs: 2 },
    },
    { name: "drops a bias", sampling: { logitBias: { "1": 5 } }, config: undefined, dropped: ["logitBias"] },
  ]) {
    it(row.name, () => {
      const written = writeFor({ sampling: row.sampling });
      assert.deepEqual(written.body["generationConfig"], row.config);
      assert.deepEqual(written.dropped, row.dropped ?? []);
    });
  }

  it("pitfall 107: sends the output cap", () => {
    assert.deepEqual(writeFor({ outputCap: 9 }).body["generationConfig"], { maxOutputTokens: 9 });
  });

  it("sends five stop sequences and looks for the others in the reply", () => {
    const written = writeFor({ sampling: { stop: ["1", "2", "3", "4", "5", "6"] } });
    assert.deepEqual(written.body["generationConfig"], { stopSequences: ["1", "2", "3", "4", "5"] });
    assert.deepEqual(written.adaptation.stop, ["6"]);
  });

  it("declares what Google has no member for", () => {
    const written = writeFor({
      user: "u",
      metadata: { a: "b" },
      promptCacheKey: "k",
      parallelTools: false,
      verbosity: "low",
      store: true,
      unmapped: ["prediction"],
    });
    assert.deepEqual(
      new Set(written.dropped),
      new Set(["user", "metadata", "promptCacheKey", "parallelTools", "verbosity", "store", "prediction"]),
    );
    assert.throws(() => writeFor({ user: "u" }, targetOf("gemini-3-pro"), "Reject"), GatewayError);
  });

  for (const row of [
    { tier: "default", want: "standard" },
    { tier: "flex", want: "flex" },
    { tier: "auto", want: undefined },
    { tier: "scale", want: undefined, dropped: ["serviceTier"] },
    { tier: "constructor", want: undefined, dropped: ["serviceTier"] },
  ]) {
    it(`writes the service tier ${row.tier}`, () => {
      const written = writeFor({ serviceTier: row.tier });
      assert.deepEqual([written.body["serviceTier"], written.dropped], [row.want, row.dropped ?? []]);
    });
  }

  for (const row of [
    { name: "JSON", format: { kind: "json" }, want: { responseMimeType: "application/json" } },
    {
      name: "G5: a schema",
      format: { kind: "schema", schema: { type: "object", properties: { n: { type: "integer" } } } },
      want: {
        responseMimeType: "application/json",
        responseJsonSchema: { type: "object", properties: { n: { type: "integer" } } },
      },
    },
    {
      name: "a schema for a model that knows no JSON Schema",
      model: "gemini-2.0-flash",
      format: {
        kind: "schema",
        schema: { type: "object", properties: { n: { type: "integer" }, a: { type: "string" } } },
      },
      want: {
        responseMimeType: "application/json",
        responseSchema: {
          type: "OBJECT",
          properties: { n: { type: "INTEGER" }, a: { type: "STRING" } },
          propertyOrdering: ["n", "a"],
        },
      },
    },
    {
      name: "words",
      format: { kind: "enum", values: ["a"] },
      want: { responseMimeType: "text/x.enum", responseSchema: { type: "STRING", enum: ["a"] } },
    },
  ] as const) {
    it(`writes the output format: ${row.name}`, () => {
      const written = writeFor({ outputFormat: row.format }, targetOf("model" in row ? row.model : "gemini-3-pro"));
      assert.deepEqual(written.body["generationConfig"], row.want);
    });
  }

  it("asks image models for images, speech models for audio, and others for what the client wants", () => {
    const modalities = (model: string, asked: Partial<Conversation> = {}): unknown =>
      Reflect.get(writeFor(asked, targetOf(model)).body["generationConfig"] ?? {}, "responseModalities");
    assert.deepEqual(modalities("gemini-2.5-flash-image"), ["TEXT", "IMAGE"]);
    assert.deepEqual(modalities("gemini-2.5-pro-preview-tts"), ["AUDIO"]);
    assert.deepEqual(modalities("gemini-3-pro", { modalities: ["text", "image"] }), ["TEXT", "IMAGE"]);
    assert.equal(modalities("gemini-3-pro", { modalities: ["text"] }), undefined);
  });

  it("names the voice", () => {
    const { body } = writeFor({ modalities: ["audio"], audioOutput: { voice: "Kore", format: "wav" } });
    assert.deepEqual(body["generationConfig"], {
      responseModalities: ["AUDIO"],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } },
    });
  });
});

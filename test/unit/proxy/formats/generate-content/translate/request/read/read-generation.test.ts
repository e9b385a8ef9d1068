import assert from "node:assert/strict";
import { generateContentClientTranslator } from "#proxy/formats/generate-content/translate/client-translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { Conversation } from "#proxy/neutral/conversation";
import { endpoint } from "#test/unit/proxy/formats/generate-content/translate/replay";

function read(body: JsonObject): Conversation {
  return generateContentClientTranslator.readRequest(body, endpoint);
}

/** What a body says beyond its turns, without members that are absent. */
function present(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe("readRequest() of generateContent: parameters", () => {
  it("takes model and streaming from the path", () => {
    const streamed = generateContentClientTranslator.readRequest(
      { contents: "hi" },
      { ...endpoint, geminiStream: "array" },
    );
    assert.deepEqual([streamed.model, streamed.stream, read({ contents: "hi" }).stream], ["m", true, false]);
  });

  for (const row of [
    {
      name: "pitfall 101: keeps zeros",
      config: { temperature: 0, topP: 0, presencePenalty: 0, seed: 0 },
      want: { sampling: { temperature: 0, topP: 0, presencePenalty: 0, seed: 0 } },
    },
    {
      name: "reads every sampling parameter",
      config: {
        topK: 40,
        frequencyPenalty: 1,
        stopSequences: ["END"],
        candidateCount: 2,
        responseLogprobs: true,
        logprobs: 3,
        maxOutputTokens: 5,
      },
      want: {
        sampling: { topK: 40, frequencyPenalty: 1, stop: ["END"], candidates: 2, logprobs: true, topLogprobs: 3 },
        outputCap: 5,
      },
    },
    {
      name: "pitfall 112: reads snake_case",
      config: { top_p: 0.5, max_output_tokens: 7, thinking_config: { thinking_budget: 0, include_thoughts: true } },
      want: { sampling: { topP: 0.5 }, outputCap: 7, reasoning: { mode: "off", show: true } },
    },
    { name: "reads a number that is a text", config: { maxOutputTokens: "9" }, want: { outputCap: 9 } },
    {
      name: "a negative budget leaves thinking to the model",
      config: { thinkingConfig: { thinkingBudget: -1 } },
      want: { reasoning: { mode: "auto", show: false } },
    },
    {
      name: "a budget switches thinking on",
      config: { thinkingConfig: { thinkingBudget: 512 } },
      want: { reasoning: { mode: "on", budget: 512, show: false } },
    },
    {
      name: "a level is an effort",
      config: { thinkingConfig: { thinkingLevel: "LOW", includeThoughts: true } },
      want: { reasoning: { mode: "on", effort: "low", show: true } },
    },
    {
      name: "thoughts alone leave thinking to the model",
      config: { thinkingConfig: { includeThoughts: true } },
      want: { reasoning: { mode: "auto", show: true } },
    },
    { name: "an empty thinking config says nothing", config: { thinkingConfig: {} }, want: {} },
    {
      name: "JSON without a schema",
      config: { responseMimeType: "application/json" },
      want: { outputFormat: { kind: "json" } },
    },
    { name: "plain text says nothing", config: { responseMimeType: "text/plain" }, want: {} },
    {
      name: "a response schema becomes JSON Schema",
      config: {
        responseMimeType: "application/json",
        responseSchema: { type: "OBJECT", properties: { n: { type: "INTEGER" } } },
      },
      want: {
        outputFormat: {
          kind: "schema",
          schema: { type: "object", properties: { n: { type: "integer" } } },
          strict: false,
        },
      },
    },
    {
      name: "G5: a JSON Schema stays what it is, and is strict where it keeps the rules",
      config: {
        responseMimeType: "application/json",
        responseJsonSchema: {
          type: "object",
          properties: { n: { type: "integer" } },
          required: ["n"],
          additionalProperties: false,
        },
      },
      want: {
        outputFormat: {
          kind: "schema",
          schema: {
            type: "object",
            properties: { n: { type: "integer" } },
            required: ["n"],
            additionalProperties: false,
          },
          strict: true,
        },
      },
    },
    {
      name: "the newer spelling of a schema",
      config: { responseFormat: { text: { mimeType: "APPLICATION_JSON", schema: { type: "object" } } } },
      want: { outputFormat: { kind: "schema", schema: { type: "object" }, strict: false } },
    },
    {
      name: "the newer spelling of JSON",
      config: { responseFormat: [{ text: { mimeType: "APPLICATION_JSON" } }] },
      want: { outputFormat: { kind: "json" } },
    },
    {
      name: "a language of the voice has no neutral place",
      config: { speechConfig: { languageCode: "de-DE" } },
      want: { unmapped: ["generationConfig.speechConfig.languageCode"] },
    },
    {
      name: "a voice of another kind has no neutral place",
      config: { speechConfig: { voiceConfig: { replicatedVoiceConfig: { voiceSampleAudio: "AAAA" } } } },
      want: { unmapped: ["generationConfig.speechConfig.voiceConfig.replicatedVoiceConfig"] },
    },
    {
      name: "a level by its number",
      config: { thinkingConfig: { thinkingLevel: 2 } },
      want: { reasoning: { mode: "on", effort: "medium", show: false } },
    },
    {
      name: "the number of no level",
      config: { thinkingConfig: { thinkingLevel: 0 } },
      want: {},
    },
    {
      name: "modalities by their numbers",
      config: { responseModalities: [1, 3] },
      want: { modalities: ["text", "audio"] },
    },
    {
      name: "an enum is one of its words",
      config: { responseMimeType: "text/x.enum", responseSchema: { type: "STRING", enum: ["a", "b"] } },
      want: { outputFormat: { kind: "enum", values: ["a", "b"] } },
    },
    {
      name: "modalities and a voice",
      config: {
        responseModalities: ["TEXT", "AUDIO"],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } },
      },
      want: { modalities: ["text", "audio"], audioOutput: { voice: "Kore" } },
    },
    {
      name: "pitfall 110: declares what has no neutral place, and refuses nothing for it",
      config: { imageConfig: { imageSize: "1K" }, mediaResolution: "MEDIA_RESOLUTION_LOW" },
      want: { unmapped: ["generationConfig.imageConfig", "generationConfig.mediaResolution"] },
    },
  ] satisfies { name: string; config: JsonObject; want: JsonObject }[]) {
    it(row.name, () => {
      const got = read({ contents: "hi", generationConfig: row.config });
      const want = { model: "m", stream: false, tools: [], sampling: {}, unmapped: [], ...row.want };
      const { turns: _turns, ...rest } = got;
      assert.deepEqual(present(rest), want);
    });
  }

  it("pitfall 112: reads generation parameters at the top level, the config wins", () => {
    const got = read({ contents: "hi", temperature: 1, max_output_tokens: 3, generation_config: { temperature: 0.5 } });
    assert.deepEqual(present([got.sampling, got.outputCap]), [{ temperature: 0.5 }, 3]);
    assert.deepEqual(got.unmapped, []);
  });

  it("reads common members of the interface", () => {
    const got = read({
      contents: "hi",
      user: { id: "u1" },
      metadata: { a: "b", n: 1 },
      safety_identifier: "s",
      serviceTier: "standard",
      store: false,
      safetySettings: [{ category: "C", threshold: "T" }],
      labels: { team: "x" },
    });
    assert.deepEqual(
      [got.user, got.metadata, got.safetyIdentifier, got.serviceTier, got.store, got.safetySettings, got.unmapped],
      ["u1", { a: "b", n: "1" }, "s", "default", false, [{ category: "C", threshold: "T" }], ["labels"]],
    );
  });
});

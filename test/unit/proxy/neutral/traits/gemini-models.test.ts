import assert from "node:assert/strict";
import { type GeminiTraits, geminiTraitsOf } from "#proxy/neutral/traits/gemini-models";
import { targetOf } from "#test/unit/proxy/formats/generate-content/translate/replay";

describe("geminiTraitsOf()", () => {
  for (const row of [
    { model: "gemini-3-pro-preview", want: { thinking: "level", hasMediumLevel: false, checksSignatures: true } },
    { model: "gemini-3.1-pro", want: { thinking: "level", hasMediumLevel: true, lowestLevel: "LOW" } },
    { model: "gemini-3-flash-preview", want: { thinking: "level", lowestLevel: "MINIMAL" } },
    { model: "gemini-3.6-flash", want: { lowestLevel: "MINIMAL" } },
    { model: "gemini-3.7-flash", want: { lowestLevel: "LOW" } },
    { model: "gemini-flash-latest", want: { thinking: "level", lowestLevel: "LOW" } },
    { model: "gemini-2.5-pro", want: { thinking: "budget", canSwitchOff: false, budgetMin: 128, budgetMax: 32_768 } },
    { model: "models/gemini-2.5-flash", want: { thinking: "budget", canSwitchOff: true, checksSignatures: false } },
    { model: "publishers/google/models/gemini-2.5-flash-lite", want: { budgetMin: 512, takesResultParts: false } },
    { model: "gemini-2.5-flash-image", want: { thinking: "none", defaultModalities: ["TEXT", "IMAGE"] } },
    { model: "gemini-2.0-flash-preview-image-generation", want: { defaultModalities: ["TEXT", "IMAGE"] } },
    { model: "gemini-3-pro-image-preview", want: { defaultModalities: ["TEXT", "IMAGE"], checksSignatures: true } },
    { model: "gemini-2.5-flash-preview-tts", want: { defaultModalities: ["AUDIO"], takesSystemInstruction: false } },
    { model: "gemini-2.0-flash", want: { thinking: "none", takesJsonSchema: false, takesValidatedMode: false } },
    { model: "gemini-1.5-pro", want: { thinking: "none", takesJsonSchema: false } },
    { model: "gemma-3-27b-it", want: { takesSystemInstruction: false, thinking: "none" } },
    { model: "GEMINI-2.5-PRO", want: { budgetMin: 128 } },
    { model: "nova", want: { thinking: "level", checksSignatures: true, takesCallIds: true } },
    { model: "nova", provider: "VertexAI", want: { thinking: "level", takesCallIds: false } },
    {
      model: "nova",
      provider: "GeminiCompatible",
      want: { thinking: "budget", takesJsonSchema: false, checksSignatures: false },
    },
    { model: "gemini-3-pro", provider: "GeminiCompatible", want: { thinking: "level", takesCallIds: false } },
  ] as const satisfies readonly { model: string; provider?: string; want: Partial<GeminiTraits> }[]) {
    const provider = "provider" in row ? row.provider : "Gemini";
    it(`knows ${row.model} at ${provider}`, () => {
      const traits: Partial<GeminiTraits> = geminiTraitsOf(targetOf(row.model, provider));
      assert.deepEqual({ ...traits, ...row.want }, traits);
    });
  }
});

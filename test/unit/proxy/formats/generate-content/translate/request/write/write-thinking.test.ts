import assert from "node:assert/strict";
import { targetOf, writeFor } from "#test/unit/proxy/formats/generate-content/translate/replay";

describe("writeRequest() of generateContent: thinking", () => {
  const on = { mode: "on", show: true } as const;
  for (const row of [
    { name: "nothing asked, nothing sent", model: "gemini-3-pro", reasoning: undefined, want: undefined },
    {
      name: "an effort",
      model: "gemini-3.5-flash",
      reasoning: { ...on, effort: "medium" },
      want: { thinkingLevel: "MEDIUM", includeThoughts: true },
    },
    {
      name: "medium for a model without it",
      model: "gemini-3-pro-preview",
      reasoning: { ...on, effort: "medium" },
      want: { thinkingLevel: "HIGH", includeThoughts: true },
    },
    {
      name: "more than high",
      model: "gemini-3-pro",
      reasoning: { mode: "on", effort: "max" },
      want: { thinkingLevel: "HIGH" },
    },
    {
      name: "pitfall 97: minimal where there is no MINIMAL",
      model: "gemini-flash-latest",
      reasoning: { mode: "on", effort: "minimal" },
      want: { thinkingLevel: "LOW" },
    },
    {
      name: "pitfall 97: off where there is no MINIMAL",
      model: "gemini-3.7-flash",
      reasoning: { mode: "off" },
      want: { thinkingLevel: "LOW" },
    },
    {
      name: "pitfall 97: off where there is MINIMAL",
      model: "gemini-3-flash",
      reasoning: { mode: "off", show: true },
      want: { thinkingLevel: "MINIMAL" },
    },
    {
      name: "a budget for a model of levels",
      model: "gemini-3-pro",
      reasoning: { mode: "on", budget: 2000 },
      want: { thinkingLevel: "LOW" },
    },
    {
      name: "auto for a model of levels",
      model: "gemini-3-pro",
      reasoning: { mode: "auto", show: true },
      want: { includeThoughts: true },
    },
    {
      name: "G1: an effort for a model of budgets",
      model: "gemini-2.5-flash",
      reasoning: { ...on, effort: "medium" },
      want: { thinkingBudget: 8192, includeThoughts: true },
    },
    {
      name: "all that a model of budgets has",
      model: "gemini-2.5-pro",
      reasoning: { mode: "on", effort: "max" },
      want: { thinkingBudget: 32_768 },
    },
    {
      name: "too much for a model of budgets",
      model: "gemini-2.5-flash",
      reasoning: { mode: "on", budget: 99_999 },
      want: { thinkingBudget: 24_576 },
    },
    {
      name: "too little for the small model",
      model: "gemini-2.5-flash-lite",
      reasoning: { mode: "on", budget: 10 },
      want: { thinkingBudget: 512 },
    },
    { name: "off", model: "gemini-2.5-flash", reasoning: { mode: "off" }, want: { thinkingBudget: 0 } },
    {
      name: "off for a model that always thinks",
      model: "gemini-2.5-pro",
      reasoning: { mode: "off" },
      want: { thinkingBudget: 128 },
    },
    {
      name: "auto for a model of budgets",
      model: "gemini-2.5-pro",
      reasoning: { mode: "auto" },
      want: { thinkingBudget: -1 },
    },
    {
      name: "a model that does not think",
      model: "gemini-2.0-flash",
      reasoning: { ...on, effort: "high" },
      want: undefined,
      dropped: ["reasoning"],
    },
    {
      name: "an unknown model of the vendor",
      model: "models/nova",
      reasoning: { ...on, effort: "low" },
      want: { thinkingLevel: "LOW", includeThoughts: true },
    },
    {
      name: "an unknown model elsewhere",
      model: "nova",
      provider: "GeminiCompatible",
      reasoning: { mode: "on", effort: "low" },
      want: { thinkingBudget: 2048 },
    },
  ] as const) {
    it(row.name, () => {
      const written = writeFor(
        { reasoning: row.reasoning },
        targetOf(row.model, "provider" in row ? row.provider : "Gemini"),
      );
      assert.deepEqual(Reflect.get(written.body["generationConfig"] ?? {}, "thinkingConfig"), row.want);
      assert.deepEqual(written.dropped, "dropped" in row ? row.dropped : []);
    });
  }
});

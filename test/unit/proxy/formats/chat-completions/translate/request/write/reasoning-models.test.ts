import assert from "node:assert/strict";
import type { Conversation } from "#proxy/neutral/conversation";
import { conversationOf, type TargetChanges, writtenRequest } from "#test/support/translation/chat-exchange";

const compatible = { provider: "OpenAICompatible", baseURL: "http://models.internal:8000/v1" } as const;

describe("writeRequest(): what reasoning models refuse", () => {
  const sampling = {
    temperature: 0.5,
    topP: 0.9,
    presencePenalty: 1,
    frequencyPenalty: 1,
    logitBias: { 5: 1 },
    logprobs: true,
    topLogprobs: 2,
  };
  const names = [
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
  ];
  const sentTo = (model: string, changes: Partial<Conversation> = {}, target: TargetChanges = {}) => {
    const { body, dropped } = writtenRequest({ ...conversationOf(), sampling, ...changes }, { model, ...target });
    const sent = names.filter((name) => name in body);
    assert.deepEqual(new Set([...sent, ...dropped]), new Set(names));
    return sent;
  };

  for (const model of ["gpt-5", "gpt-5-mini", "o3", "o4-mini", "openai/o1", "gpt-5.1", "gpt-6"]) {
    it(`drops and declares them for ${model}`, () => assert.deepEqual(sentTo(model), []));
  }

  for (const model of ["gpt-4o", "gpt-4.1-mini", "gpt-3.5-turbo", "gpt-5-chat-latest", "my-deployment"]) {
    it(`keeps them for ${model}`, () => assert.deepEqual(sentTo(model), names));
  }

  it("keeps temperature, top_p and logprobs for newer models that are asked not to reason", () => {
    const reasoning = { mode: "off" } as const;
    assert.deepEqual(sentTo("gpt-5.1", { reasoning }), ["temperature", "top_p", "logprobs", "top_logprobs"]);
  });

  it("keeps them for the same name at another vendor", () => assert.deepEqual(sentTo("o3", {}, compatible), names));

  it("declares no temperature and no top_p that are as without a word", () => {
    const usual = { ...conversationOf(), sampling: { temperature: 1, topP: 1 } };
    const { body, dropped } = writtenRequest(usual, { model: "o3", policy: "Reject" });
    assert.deepEqual([Object.keys(body), dropped], [["model", "messages"], []]);
    const taken = writtenRequest(usual, { model: "gpt-4o" }).body;
    assert.deepEqual([taken["temperature"], taken["top_p"]], [1, 1]);
  });

  it("declares no penalty that is none", () => {
    const { dropped } = writtenRequest(
      { ...conversationOf(), sampling: { presencePenalty: 0, frequencyPenalty: 0 } },
      { model: "o3" },
    );
    assert.deepEqual(dropped, []);
  });
});

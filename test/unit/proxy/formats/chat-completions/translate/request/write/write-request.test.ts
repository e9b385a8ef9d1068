import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import type { Conversation } from "#proxy/neutral/conversation";
import { conversationOf, type TargetChanges, writtenRequest } from "#test/support/translation/chat-exchange";

const compatible = { provider: "OpenAICompatible", baseURL: "http://models.internal:8000/v1" } as const;

function bodyOf(conversation: Partial<Conversation>, target: TargetChanges = {}): Readonly<Record<string, unknown>> {
  return writtenRequest({ ...conversationOf(), ...conversation }, target).body;
}

function refusal(conversation: Partial<Conversation>, target: TargetChanges = {}): [string, string | undefined] {
  try {
    bodyOf(conversation, target);
  } catch (error) {
    if (error instanceof GatewayError) return [error.code, error.param];
    throw error;
  }
  return assert.fail("nothing was refused");
}

describe("writeRequest(): members", () => {
  it("writes nothing that the client did not say", () => {
    assert.deepEqual(bodyOf({}), { model: "m", messages: [{ role: "user", content: "hi" }] });
  });

  it("always asks for usage in a stream", () => {
    const { stream, stream_options } = bodyOf({ stream: true });
    assert.deepEqual({ stream, stream_options }, { stream: true, stream_options: { include_usage: true } });
  });

  it("pitfall 101: zeros survive", () => {
    const sampling = { temperature: 0, topP: 0, presencePenalty: 0, frequencyPenalty: 0, seed: 0 };
    const { temperature, top_p, presence_penalty, frequency_penalty, seed } = bodyOf({ sampling });
    assert.deepEqual([temperature, top_p, presence_penalty, frequency_penalty, seed], [0, 0, 0, 0, 0]);
  });

  it("carries every sampling parameter to a model that takes them", () => {
    const sampling = { candidates: 2, logitBias: { 5: 1 }, logprobs: true, topLogprobs: 3, stop: ["a"] };
    const { n, logit_bias, logprobs, top_logprobs, stop } = bodyOf({ sampling });
    assert.deepEqual([n, logit_bias, logprobs, top_logprobs, stop], [2, { 5: 1 }, true, 3, ["a"]]);
  });

  it("says what only OpenAI knows to OpenAI alone", () => {
    const conversation = {
      metadata: { a: "b" },
      safetyIdentifier: "s",
      promptCacheKey: "k",
      promptCacheRetention: "24h",
      serviceTier: "flex",
      store: true,
      verbosity: "low",
    };
    const own = writtenRequest({ ...conversationOf(), ...conversation });
    const { metadata, safety_identifier, prompt_cache_key, prompt_cache_retention, service_tier, store, verbosity } =
      own.body;
    assert.deepEqual(
      [metadata, safety_identifier, prompt_cache_key, prompt_cache_retention, service_tier, store, verbosity],
      [{ a: "b" }, "s", "k", "24h", "flex", true, "low"],
    );
    assert.deepEqual(own.dropped, []);
    const other = writtenRequest({ ...conversationOf(), ...conversation }, compatible);
    assert.deepEqual(Object.keys(other.body), ["model", "messages"]);
    assert.deepEqual(other.dropped, [
      "verbosity",
      "safety_identifier",
      "metadata",
      "prompt_cache_key",
      "prompt_cache_retention",
      "service_tier",
      "store",
    ]);
  });

  for (const row of [
    { tier: "standard", want: "default" },
    { tier: "standard_only", want: "default" },
    { tier: "auto", want: "auto" },
    { tier: "priority", want: "priority" },
  ]) {
    it(`says the tier ${row.tier} as ${row.want}`, () =>
      assert.equal(bodyOf({ serviceTier: row.tier })["service_tier"], row.want));
  }

  it("drops a tier of no known name and says so", () => {
    const { body, dropped } = writtenRequest({ ...conversationOf(), serviceTier: "batch" });
    assert.equal(body["service_tier"], undefined);
    assert.deepEqual(dropped, ["service_tier"]);
  });

  it("pitfall 106: carries a request to cache to the vendor that knows it, and declares it lost elsewhere", () => {
    const conversation = { ...conversationOf(), automaticCache: { ttl: "1h" } };
    const openRouter = writtenRequest(conversation, {
      provider: "OpenAICompatible",
      baseURL: "https://openrouter.ai/api/v1",
    });
    assert.deepEqual(openRouter.body["cache_control"], { type: "ephemeral", ttl: "1h" });
    assert.deepEqual(openRouter.dropped, []);
    assert.deepEqual(writtenRequest(conversation).dropped, ["cache_control"]);
  });

  it("shortens a user's name that OpenAI would refuse, the same name to the same", () => {
    const user = "u".repeat(65);
    assert.match(String(bodyOf({ user })["user"]), /^[0-9a-f]{64}$/);
    assert.equal(bodyOf({ user })["user"], bodyOf({ user })["user"]);
    assert.equal(bodyOf({ user }, compatible)["user"], user);
  });

  it("asks for audio where the client did", () => {
    const { modalities, audio } = bodyOf({
      modalities: ["text", "audio"],
      audioOutput: { voice: "alloy", format: "wav" },
    });
    assert.deepEqual([modalities, audio], [["text", "audio"], { voice: "alloy", format: "wav" }]);
  });

  for (const { name, asked, audio } of [
    { name: "a whole file", asked: {}, audio: { voice: "Kore", format: "wav" } },
    { name: "samples of a stream", asked: { stream: true }, audio: { voice: "Kore", format: "pcm16" } },
    { name: "some voice", asked: { audioOutput: undefined }, audio: { voice: "alloy", format: "wav" } },
  ]) {
    it(`names what other formats leave out: ${name}`, () => {
      const body = bodyOf({ modalities: ["audio"], audioOutput: { voice: "Kore" }, ...asked });
      assert.deepEqual([body["modalities"], body["audio"]], [["text", "audio"], audio]);
    });
  }

  it("drops a voice that nobody will hear", () => {
    const { body, dropped } = writtenRequest({
      ...conversationOf(),
      modalities: ["text"],
      audioOutput: { voice: "v" },
    });
    assert.deepEqual([body["audio"], dropped], [undefined, ["audio"]]);
  });

  it("refuses pictures of OpenAI's chat models", () => {
    assert.deepEqual(refusal({ modalities: ["text", "image"] }), ["unsupported_parameter", "modalities"]);
  });

  it("declares members that it never read", () => {
    assert.deepEqual(writtenRequest({ ...conversationOf(), unmapped: ["min_p"] }).dropped, ["min_p"]);
  });

  it("refuses what a rejecting channel may not drop, by the client's name", () => {
    const conversation = { ...conversationOf(), unmapped: ["min_p"] };
    assert.throws(
      () => writtenRequest(conversation, { policy: "Reject" }),
      (error) => error instanceof GatewayError && error.param === "min_p",
    );
  });
});

describe("writeRequest(): caps and stops", () => {
  for (const row of [
    { name: "OpenAI", target: {}, member: "max_completion_tokens" },
    { name: "Azure", target: { provider: "AzureOpenAI" } as const, member: "max_completion_tokens" },
    { name: "a compatible server", target: compatible, member: "max_tokens" },
  ]) {
    it(`pitfall 107: says the cap to ${row.name} as ${row.member}`, () => {
      const body = bodyOf({ outputCap: 7, outputCapIsVisibleText: true }, row.target);
      assert.deepEqual(
        Object.entries(body).filter(([name]) => name.startsWith("max")),
        [[row.member, 7]],
      );
    });
  }

  it("sends four stops and finds the others itself", () => {
    const { body, adaptation } = writtenRequest({ ...conversationOf(), sampling: { stop: ["1", "2", "3", "4", "5"] } });
    assert.deepEqual(body["stop"], ["1", "2", "3", "4"]);
    assert.deepEqual(adaptation.stop, ["5"]);
  });

  it("finds all stops itself for models that refuse them", () => {
    const { body, adaptation, dropped } = writtenRequest(
      { ...conversationOf(), sampling: { stop: ["E"] } },
      { model: "gpt-5" },
    );
    assert.equal(body["stop"], undefined);
    assert.deepEqual(adaptation.stop, ["E"]);
    assert.deepEqual(dropped, []);
  });
});

describe("writeRequest(): thinking", () => {
  const on = (effort: "minimal" | "low" | "medium" | "high" | "xhigh" | "max") => ({ mode: "on", effort }) as const;
  for (const row of [
    { name: "the same word", model: "gpt-5", reasoning: on("minimal"), want: { reasoning_effort: "minimal" } },
    {
      name: "the next word where minimal is unknown",
      model: "o3",
      reasoning: on("minimal"),
      want: { reasoning_effort: "low" },
    },
    { name: "the strongest word below", model: "gpt-5", reasoning: on("max"), want: { reasoning_effort: "high" } },
    { name: "max as xhigh", model: "gpt-5.2", reasoning: on("max"), want: { reasoning_effort: "xhigh" } },
    { name: "the only word there is", model: "gpt-5-pro", reasoning: on("low"), want: { reasoning_effort: "high" } },
    {
      name: "every word to a model of no known name",
      model: "m",
      reasoning: on("xhigh"),
      want: { reasoning_effort: "xhigh" },
    },
    { name: "off as none", model: "gpt-5.1", reasoning: { mode: "off" } as const, want: { reasoning_effort: "none" } },
    {
      name: "off as minimal",
      model: "gpt-5",
      reasoning: { mode: "off" } as const,
      want: { reasoning_effort: "minimal" },
    },
    {
      name: "a budget by its size",
      model: "o3",
      reasoning: { mode: "on", budget: 8192 } as const,
      want: { reasoning_effort: "medium" },
    },
    {
      name: "nothing where the model decides",
      model: "o3",
      reasoning: { mode: "auto", show: true } as const,
      want: {},
    },
    { name: "nothing where nothing was asked", model: "o3", reasoning: undefined, want: {} },
    {
      name: "classic words to compatible servers",
      model: "m",
      target: compatible,
      reasoning: on("xhigh"),
      want: { reasoning_effort: "high" },
    },
    {
      name: "OpenRouter's budget",
      model: "anthropic/claude",
      target: { provider: "OpenAICompatible", baseURL: "https://openrouter.ai/api/v1" } as const,
      reasoning: { mode: "on", budget: 2000 } as const,
      want: { reasoning: { max_tokens: 2000 } },
    },
    {
      name: "OpenRouter's effort",
      model: "x",
      target: { provider: "OpenAICompatible", baseURL: "https://openrouter.ai/api/v1" } as const,
      reasoning: on("high"),
      want: { reasoning: { effort: "high" } },
    },
    {
      name: "OpenRouter's switch",
      model: "x",
      target: { provider: "OpenAICompatible", baseURL: "https://openrouter.ai/api/v1" } as const,
      reasoning: { mode: "off" } as const,
      want: { reasoning: { enabled: false } },
    },
    {
      name: "DeepSeek's switch, which has no measure",
      model: "deepseek-chat",
      target: { provider: "OpenAICompatible", baseURL: "https://api.deepseek.com/v1" } as const,
      reasoning: on("high"),
      want: { thinking: { type: "enabled" } },
      lost: ["reasoning_effort"],
    },
    {
      name: "DeepSeek's switch where no measure was asked for",
      model: "deepseek-chat",
      target: { provider: "OpenAICompatible", baseURL: "https://api.deepseek.com/v1" } as const,
      reasoning: { mode: "auto", show: true } as const,
      want: { thinking: { type: "enabled" } },
    },
  ]) {
    it(`says ${row.name}`, () => {
      const { body, dropped } = writtenRequest(
        { ...conversationOf(), reasoning: row.reasoning },
        { model: row.model, ...row.target },
      );
      const { reasoning_effort, reasoning, thinking } = body;
      assert.deepEqual(JSON.parse(JSON.stringify({ reasoning_effort, reasoning, thinking })), row.want);
      assert.deepEqual(dropped, row.lost ?? []);
    });
  }

  for (const model of ["gpt-4o", "gpt-3.5-turbo"]) {
    it(`declares the options lost for ${model}, which does not reason`, () => {
      const { body, dropped } = writtenRequest({ ...conversationOf(), reasoning: on("low") }, { model });
      assert.equal(body["reasoning_effort"], undefined);
      assert.deepEqual(dropped, ["reasoning_effort"]);
    });
  }
});

describe("writeRequest(): output format", () => {
  const schema = {
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
    additionalProperties: false,
  };
  const kindOf = (conversation: Partial<Conversation>, target: TargetChanges = {}) => {
    const { body, adaptation } = writtenRequest({ ...conversationOf(), ...conversation }, target);
    return { format: body["response_format"], unwrap: adaptation.unwrapMember, messages: Object(body["messages"]) };
  };

  it("names a schema that has no name, and is strict where the schema is", () => {
    const { format } = kindOf({ outputFormat: { kind: "schema", schema } });
    assert.deepEqual(format, { type: "json_schema", json_schema: { name: "response", schema, strict: true } });
  });

  it("is not strict where the schema is open", () => {
    const open = { type: "object", properties: { n: { type: "integer" } } };
    const { format } = kindOf({ outputFormat: { kind: "schema", schema: open, name: "a b", description: "D" } });
    assert.deepEqual(format, {
      type: "json_schema",
      json_schema: { name: "a_b", description: "D", schema: open, strict: false },
    });
  });

  it("is not strict for a client who wants it of an open schema, and says so", () => {
    const outputFormat = { kind: "schema", strict: true, where: "text.format" } as const;
    const open = { type: "object", properties: { n: { type: "integer" } } };
    const { body, dropped } = writtenRequest({ ...conversationOf(), outputFormat: { ...outputFormat, schema: open } });
    assert.equal(Object(body["response_format"]).json_schema.strict, false);
    assert.deepEqual(dropped, ["text.format.strict"]);
    const kept = writtenRequest({ ...conversationOf(), outputFormat: { ...outputFormat, schema } });
    assert.equal(Object(kept.body["response_format"]).json_schema.strict, true);
    assert.deepEqual(kept.dropped, []);
  });

  it("wraps a root that is no object for OpenAI, and has the reply unwrapped", () => {
    const list = { type: "array", items: { type: "string" } };
    const { format, unwrap } = kindOf({ outputFormat: { kind: "schema", schema: list } });
    assert.equal(unwrap, "value");
    assert.deepEqual(Object(format).json_schema.schema.properties, { value: list });
    assert.equal(kindOf({ outputFormat: { kind: "schema", schema: list } }, compatible).unwrap, undefined);
  });

  it("asks for a word of an enum inside an object, and has it unwrapped", () => {
    for (const target of [{}, compatible]) {
      const { format, unwrap } = kindOf({ outputFormat: { kind: "enum", values: ["a", "b"] } }, target);
      assert.equal(unwrap, "value");
      assert.deepEqual(Object(format).json_schema.schema, {
        type: "object",
        properties: { value: { type: "string", enum: ["a", "b"] } },
        required: ["value"],
        additionalProperties: false,
      });
      assert.equal(Object(format).json_schema.strict, true);
    }
  });

  it("says the word JSON where JSON mode is asked for and no message has it", () => {
    const { format, messages } = kindOf({ outputFormat: { kind: "json" } });
    assert.deepEqual(format, { type: "json_object" });
    assert.deepEqual(messages[0], { role: "system", content: "Respond with one JSON object and nothing else." });
    const asked = conversationOf({ messages: [{ role: "user", content: "as Json please" }] });
    assert.equal(kindOf({ turns: asked.turns, outputFormat: { kind: "json" } }).messages.length, 1);
  });

  it("tells a model without schemas what is wanted", () => {
    for (const target of [
      { model: "gpt-3.5-turbo" },
      { provider: "OpenAICompatible", baseURL: "https://api.deepseek.com" } as const,
    ]) {
      const { format, messages } = kindOf({ outputFormat: { kind: "schema", schema } }, target);
      assert.deepEqual(format, { type: "json_object" });
      assert.ok(messages[0].content.includes(JSON.stringify(schema)));
    }
  });
});

import assert from "node:assert/strict";
import type { ChatCall } from "#proxy/formats/format";
import { upstreamFormats } from "#proxy/formats/registry";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { parameterNames } from "#proxy/parameters/parameter-names";
import {
  checkRouteParameters,
  checkTranslatedParameters,
  unsupportedMembers,
} from "#proxy/parameters/route-parameters";
import type { Route } from "#proxy/snapshot/types.gen";
import { channelOf, editedBody, readBody, refusalOf, routeOf } from "#test/support/calls/read-body";

type Rule = NonNullable<Route["parameters"]>[number];

const bases: Readonly<Record<ChatWireFormat, object>> = {
  ChatCompletions: { model: "m", messages: [{ role: "user", content: "hi" }] },
  Responses: { model: "m", input: "hi" },
  Messages: { model: "m", max_tokens: 16, messages: [{ role: "user", content: "hi" }] },
  GenerateContent: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
};

function callWith(format: ChatWireFormat, body: object): ChatCall {
  return readBody(upstreamFormats[format], { ...bases[format], ...body });
}

/** What a route with one rule says to a call. */
function verdict(rule: Rule, format: ChatWireFormat, body: object): string {
  const call = callWith(format, body);
  return refusalOf(() => checkRouteParameters(call, routeOf({ parameters: [rule] })));
}

describe("checkRouteParameters()", () => {
  const chat = "ChatCompletions";
  const rows: readonly { name: string; rule: Rule; format: ChatWireFormat; body: object; want: string }[] = [
    {
      name: "a value inside",
      rule: { name: "temperature", maximum: 1 },
      format: chat,
      body: { temperature: 1 },
      want: "accepted",
    },
    {
      name: "a value outside",
      rule: { name: "temperature", maximum: 1 },
      format: chat,
      body: { temperature: 1.5 },
      want: "invalid_value temperature",
    },
    { name: "what is absent", rule: { name: "temperature", minimum: 1 }, format: chat, body: {}, want: "accepted" },
    {
      name: "null for absent",
      rule: { name: "temperature", minimum: 1 },
      format: chat,
      body: { temperature: null },
      want: "accepted",
    },
    {
      name: "a text in a range",
      rule: { name: "x_depth", maximum: 1 },
      format: chat,
      body: { x_depth: "9" },
      want: "invalid_type x_depth",
    },
    {
      name: "what is not allowed",
      rule: { name: "reasoning_effort", allowed: ["low"] },
      format: chat,
      body: { reasoning_effort: "high" },
      want: "invalid_value reasoning_effort",
    },
    {
      name: "what is allowed",
      rule: { name: "reasoning_effort", allowed: ["low"] },
      format: chat,
      body: { reasoning_effort: "low" },
      want: "accepted",
    },
    {
      name: "what the channel shall refuse or leave out",
      rule: { name: "logit_bias", supported: false },
      format: chat,
      body: { logit_bias: {} },
      want: "accepted",
    },
    {
      name: "a cap under its other name",
      rule: { name: "max_tokens", maximum: 10 },
      format: chat,
      body: { max_completion_tokens: 11 },
      want: "invalid_value max_completion_tokens",
    },
    {
      name: "the second of two caps",
      rule: { name: "max_tokens", maximum: 10 },
      format: chat,
      body: { max_tokens: 5, max_completion_tokens: 11 },
      want: "invalid_value max_completion_tokens",
    },
    {
      name: "a vendor's own member, nested",
      rule: { name: "chat_template_kwargs.depth", maximum: 3 },
      format: chat,
      body: { chat_template_kwargs: { depth: 4 } },
      want: "invalid_value chat_template_kwargs.depth",
    },
    {
      name: "a path that meets no object",
      rule: { name: "chat_template_kwargs.depth", maximum: 3 },
      format: chat,
      body: { chat_template_kwargs: "x" },
      want: "accepted",
    },
    {
      name: "a budget of thinking",
      rule: { name: "thinking.budget_tokens", maximum: 2_000 },
      format: "Messages",
      body: { max_tokens: 10_000, thinking: { type: "enabled", budget_tokens: 9_000 } },
      want: "invalid_value thinking.budget_tokens",
    },
    {
      name: "a small budget of thinking",
      rule: { name: "thinking.budget_tokens", maximum: 2_000 },
      format: "Messages",
      body: { thinking: { type: "enabled", budget_tokens: 2_000 } },
      want: "accepted",
    },
    {
      name: "an effort in its object",
      rule: { name: "reasoning.effort", allowed: ["low"] },
      format: "Responses",
      body: { reasoning: { effort: "high" } },
      want: "invalid_value reasoning.effort",
    },
    {
      name: "usage in a stream",
      rule: { name: "stream_options.include_usage", allowed: ["false"] },
      format: chat,
      body: { stream: true, stream_options: { include_usage: true } },
      want: "invalid_value stream_options.include_usage",
    },
    {
      name: "a cap of GenerateContent",
      rule: { name: "max_output_tokens", maximum: 10 },
      format: "GenerateContent",
      body: { generationConfig: { maxOutputTokens: 11 } },
      want: "invalid_value generationConfig.maxOutputTokens",
    },
  ];
  for (const { name, rule, format, body, want } of rows) {
    it(`${want === "accepted" ? "takes" : "refuses"} ${name}`, () => assert.equal(verdict(rule, format, body), want));
  }

  it("refuses a nested member that stands there twice", () => {
    const call = readBody(
      upstreamFormats.ChatCompletions,
      '{"model":"m","messages":[1],"thinking":{"budget_tokens":1,"budget_tokens":9}}',
    );
    const route = routeOf({ parameters: [{ name: "thinking.budget_tokens", maximum: 3 }] });
    assert.equal(refusalOf(() => checkRouteParameters(call, route)).split(" ")[0], "invalid_json");
  });

  it("finds a nested member whose name is spelled with escapes", () => {
    const call = readBody(
      upstreamFormats.Responses,
      '{"model":"m","input":"x","reas\\u006fning":{"eff\\u006frt":"high"}}',
    );
    const route = routeOf({ parameters: [{ name: "reasoning_effort", allowed: ["low"] }] });
    assert.equal(
      refusalOf(() => checkRouteParameters(call, route)),
      "invalid_value reasoning.effort",
    );
  });

  // Each parameter by every name that the interface has for it, in calls of every format that says it.
  const same: readonly {
    readonly names: readonly string[];
    readonly bodies: Partial<Record<ChatWireFormat, Readonly<Record<string, object>>>>;
    readonly rule: Omit<Rule, "name">;
  }[] = [
    {
      names: ["top_p", "topP", "generationConfig.topP", "generation_config.top_p"],
      rule: { maximum: 0.5 },
      bodies: {
        ChatCompletions: { top_p: { top_p: 0.9 } },
        Responses: { top_p: { top_p: 0.9 } },
        Messages: { top_p: { top_p: 0.9 } },
        GenerateContent: {
          "generationConfig.topP": { generationConfig: { topP: 0.9 } },
          "generation_config.top_p": { generation_config: { top_p: 0.9 } },
          top_p: { top_p: 0.9 },
        },
      },
    },
    {
      names: ["max_tokens", "max_completion_tokens", "max_output_tokens", "generationConfig.maxOutputTokens"],
      rule: { maximum: 10 },
      bodies: {
        ChatCompletions: { max_tokens: { max_tokens: 11 }, max_completion_tokens: { max_completion_tokens: 11 } },
        Responses: { max_output_tokens: { max_output_tokens: 11 } },
        Messages: { max_tokens: { max_tokens: 11 } },
        GenerateContent: { max_output_tokens: { max_output_tokens: 11 } },
      },
    },
    {
      names: ["n", "candidateCount", "generationConfig.candidateCount"],
      rule: { maximum: 1 },
      bodies: { ChatCompletions: { n: { n: 2 } }, GenerateContent: { candidateCount: { candidateCount: 2 } } },
    },
    {
      names: ["reasoning_effort", "reasoning.effort", "output_config.effort"],
      rule: { allowed: ["low"] },
      bodies: {
        ChatCompletions: { reasoning_effort: { reasoning_effort: "high" } },
        Responses: { "reasoning.effort": { reasoning: { effort: "high" } } },
        Messages: { "output_config.effort": { output_config: { effort: "high" } } },
        GenerateContent: {
          "generationConfig.thinkingConfig.thinkingLevel": {
            generationConfig: { thinkingConfig: { thinkingLevel: "high" } },
          },
        },
      },
    },
    {
      names: ["thinking.budget_tokens", "generationConfig.thinkingConfig.thinkingBudget"],
      rule: { maximum: 2_000 },
      bodies: {
        ChatCompletions: { "thinking.budget_tokens": { thinking: { type: "enabled", budget_tokens: 9_000 } } },
        Messages: { "thinking.budget_tokens": { thinking: { type: "enabled", budget_tokens: 9_000 } } },
        GenerateContent: {
          "generation_config.thinking_config.thinking_budget": {
            generation_config: { thinking_config: { thinking_budget: 9_000 } },
          },
        },
      },
    },
    {
      names: ["top_logprobs", "generationConfig.logprobs"],
      rule: { maximum: 3 },
      bodies: {
        ChatCompletions: { top_logprobs: { top_logprobs: 4 } },
        GenerateContent: { "generationConfig.logprobs": { generationConfig: { logprobs: 4 } } },
      },
    },
  ];
  for (const { names, bodies, rule } of same) {
    for (const name of names) {
      for (const format of Object.keys(bases).filter((known): known is ChatWireFormat => known in bodies)) {
        for (const [param, body] of Object.entries(bodies[format] ?? {})) {
          it(`holds ${name} against ${param} of ${format}`, () =>
            assert.equal(verdict({ name, ...rule }, format, body), `invalid_value ${param}`));
        }
      }
    }
  }

  it("does not take a list of what to include for a parameter", () =>
    assert.deepEqual(parameterNames("logprobs").members.Responses, ["logprobs"]));
});

describe("checkTranslatedParameters()", () => {
  it("holds a budget that was made of an effort against the route", () => {
    const client = callWith("ChatCompletions", { reasoning_effort: "high" });
    const upstream = callWith("Messages", { thinking: { type: "enabled", budget_tokens: 9_000 } });
    const route = (maximum: number) => routeOf({ parameters: [{ name: "thinking.budget_tokens", maximum }] });
    assert.equal(
      refusalOf(() => checkTranslatedParameters({ client, upstream }, route(2_000))),
      "invalid_value reasoning_effort",
    );
    assert.equal(
      refusalOf(() => checkTranslatedParameters({ client, upstream }, route(9_000))),
      "accepted",
    );
  });

  it("says nothing of what the translation added by itself", () => {
    const client = callWith("ChatCompletions", {});
    const upstream = callWith("Messages", { max_tokens: 4_096 });
    const route = routeOf({ parameters: [{ name: "max_tokens", maximum: 100 }] });
    assert.equal(
      refusalOf(() => checkTranslatedParameters({ client, upstream }, route)),
      "accepted",
    );
  });
});

describe("unsupportedMembers()", () => {
  const of = (name: string, client: ChatCall, upstream: ChatCall, policy: "Ignore" | "Reject" = "Ignore") =>
    unsupportedMembers(
      { client, upstream },
      routeOf({ parameters: [{ name, supported: false }] }),
      channelOf({ unsupportedParameters: policy }),
    );
  const none = { members: [], dropped: [] };

  for (const { name, format, body } of [
    { name: "max_tokens", format: "Responses", body: { max_output_tokens: 100 } },
    { name: "max_tokens", format: "ChatCompletions", body: { max_completion_tokens: 100 } },
    { name: "max_completion_tokens", format: "ChatCompletions", body: { max_tokens: 100 } },
    { name: "max_completion_tokens", format: "Messages", body: { max_tokens: 100 } },
    { name: "enable_thinking", format: "ChatCompletions", body: { reasoning_effort: "low" } },
    { name: "enable_thinking", format: "Responses", body: { reasoning: { effort: "low" } } },
    {
      name: "generationConfig.responseSchema",
      format: "GenerateContent",
      body: { generationConfig: { responseMimeType: "application/json" } },
    },
    { name: "responseSchema", format: "ChatCompletions", body: { response_format: { type: "json_object" } } },
  ] as const)
    it(`leaves ${JSON.stringify(body)} of ${format} to a model that does not know ${name}`, () => {
      const call = callWith(format, body);
      assert.deepEqual(of(name, call, call), none);
    });

  it("names the member in the client's words and the upstream's", () => {
    const client = callWith("GenerateContent", { generationConfig: { topK: 5 } });
    const upstream = callWith("Messages", { top_k: 5 });
    for (const name of ["top_k", "generationConfig.topK"]) {
      const found = of(name, client, upstream);
      assert.deepEqual([found.members, found.dropped], [["top_k"], ["generationConfig.topK"]]);
      assert.equal(
        refusalOf(() => of(name, client, upstream, "Reject")),
        "unsupported_parameter generationConfig.topK",
      );
    }
  });

  it("finds what a translation made of it", () => {
    const client = callWith("ChatCompletions", { reasoning_effort: "high" });
    const upstream = callWith("Messages", { thinking: { type: "enabled", budget_tokens: 9_000 } });
    assert.deepEqual(of("reasoning_effort", client, upstream), {
      members: ["thinking"],
      dropped: ["reasoning_effort"],
    });
    assert.deepEqual(of("thinking", client, upstream), { members: ["thinking"], dropped: ["reasoning_effort"] });
  });

  it("keeps to the one name of a cap that the model refuses", () => {
    const other = callWith("ChatCompletions", { max_completion_tokens: 5 });
    assert.deepEqual(of("max_tokens", other, other), none);
    const same = callWith("ChatCompletions", { max_tokens: 5, max_completion_tokens: 5 });
    assert.deepEqual(of("max_tokens", same, same), { members: ["max_tokens"], dropped: ["max_tokens"] });
    assert.deepEqual(of("max_tokens", callWith("Responses", { max_output_tokens: 5 }), other), none);
  });

  it("declares nothing that the client did not say", () => {
    const client = callWith("ChatCompletions", {});
    const upstream = callWith("Messages", { max_tokens: 4_096 });
    assert.deepEqual(of("max_tokens", client, upstream, "Reject"), { members: ["max_tokens"], dropped: [] });
  });

  it("finds nothing where the call says nothing", () => {
    const call = callWith("Responses", {});
    assert.deepEqual(of("reasoning", call, call), none);
    assert.deepEqual(unsupportedMembers({ client: call, upstream: call }, routeOf(), channelOf()), none);
  });
});

describe("members that a model does not support", () => {
  for (const row of [
    {
      format: "ChatCompletions",
      path: "top_k",
      body: '{"model":"p","messages":[1],"top_k":5}',
      want: '{"model":"upstream","messages":[1]}',
    },
    {
      format: "Responses",
      path: "reasoning.effort",
      body: '{"model":"p","input":"x","reasoning":{"effort":"low","summary":"auto"}}',
      want: '{"model":"upstream","input":"x","reasoning":{"summary":"auto"}}',
    },
    {
      format: "Messages",
      path: "thinking",
      body: '{"model":"p","max_tokens":5,"messages":[1],"thinking":{"type":"disabled"}}',
      want: '{"model":"upstream","max_tokens":5,"messages":[1]}',
    },
    {
      format: "GenerateContent",
      path: "generationConfig.topK",
      body: '{"contents":[{"parts":[]}],"top_k":3,"generation_config":{"top_k":5,"seed":1}}',
      want: '{"contents":[{"parts":[]}],"generationConfig":{"seed":1}}',
    },
    {
      format: "GenerateContent",
      path: "generationConfig.thinkingConfig.thinkingBudget",
      body: '{"contents":[{"parts":[]}],"generationConfig":{"thinkingConfig":{"thinking_budget":5}}}',
      want: '{"contents":[{"parts":[]}],"generationConfig":{"thinkingConfig":{}}}',
    },
    {
      format: "GenerateContent",
      path: "seed",
      body: '{"contents":[{"parts":[]}],"generationConfig":{"seed":5}}',
      want: '{"contents":[{"parts":[]}],"generationConfig":{}}',
    },
  ] as const) {
    it(`are taken out of a ${row.format} body: ${row.path}`, () =>
      assert.equal(editedBody(upstreamFormats[row.format], row.body, {}, { unsupported: [row.path] }), row.want));
  }
});

import assert from "node:assert/strict";
import type { Conversation } from "#proxy/neutral/conversation";
import { OpenStates } from "#test/support/translation/exchange";
import {
  assistant,
  call,
  conversation,
  refusalOf,
  result,
  type TargetChanges,
  text,
  tool,
  user,
  writeBody,
} from "#test/support/translation/messages-exchange";

interface Row {
  readonly name: string;
  readonly says: Partial<Conversation>;
  readonly target?: TargetChanges;
  /** Members of the body; undefined for one that must be absent. */
  readonly want: Readonly<Record<string, unknown>>;
  readonly dropped?: readonly string[];
}

function check({ says, target, want, dropped = [] }: Row): void {
  const { body, dropped: lost } = writeBody(conversation(says), target);
  for (const [member, value] of Object.entries(want)) {
    assert.deepEqual(body[member], value, member);
    assert.equal(Object.hasOwn(body, member), value !== undefined, member);
  }
  assert.deepEqual(lost, dropped);
}

const manual = { model: "claude-sonnet-4-5" } as const;
const adaptive = { model: "claude-opus-4-6" } as const;
const newest = { model: "claude-opus-5" } as const;
const plain = { model: "claude-3-5-sonnet" } as const;
const compatible = { model: "glm-9", provider: "AnthropicCompatible" } as const;
const on = { mode: "on", effort: "medium", show: true } as const;

const length: readonly Row[] = [
  {
    name: "pitfall 107: sends the client's cap",
    says: { outputCap: 2000 },
    target: newest,
    want: { max_tokens: 2000 },
  },
  { name: "asks for all the model can without a cap", says: {}, target: newest, want: { max_tokens: 128_000 } },
  { name: "pitfall 108: asks an unknown model for a safe number", says: {}, want: { max_tokens: 8192 } },
  { name: "knows the cap of an old model", says: {}, target: { model: "claude-3-haiku" }, want: { max_tokens: 4096 } },
  {
    name: "takes the operator's word for an unknown one",
    says: {},
    target: { outputTokensMax: 900 },
    want: { max_tokens: 900 },
  },
  {
    name: "clamps a cap over the model's own, declared",
    says: { outputCap: 200_000 },
    target: newest,
    want: { max_tokens: 128_000 },
    dropped: ["max_tokens"],
  },
  { name: "keeps a cap of 0, which warms the cache", says: { outputCap: 0 }, want: { max_tokens: 0 } },
];

const sampling: readonly Row[] = [
  {
    name: "pitfall 101: keeps zeros",
    says: { sampling: { temperature: 0, topK: 0 } },
    target: manual,
    want: { temperature: 0, top_k: 0 },
  },
  {
    name: "pitfall 100: clamps the temperature and drops top_p beside it, both declared",
    says: { sampling: { temperature: 1.7, topP: 0.5 } },
    target: manual,
    want: { temperature: 1, top_p: undefined },
    dropped: ["temperature", "top_p"],
  },
  {
    name: "loses nothing by a top_p that leaves all words",
    says: { sampling: { temperature: 0.5, topP: 1 } },
    target: manual,
    want: { temperature: 0.5, top_p: undefined },
  },
  {
    name: "keeps both for models before 4",
    says: { sampling: { temperature: 0.5, topP: 0.5 } },
    target: plain,
    want: { temperature: 0.5, top_p: 0.5 },
  },
  { name: "keeps top_p alone", says: { sampling: { topP: 0.5 } }, target: manual, want: { top_p: 0.5 } },
  {
    name: "drops what the newest models refuse",
    says: { sampling: { temperature: 0.5, topP: 0.9, topK: 5 } },
    target: newest,
    want: { temperature: undefined, top_p: undefined, top_k: undefined },
    dropped: ["temperature", "top_p", "top_k"],
  },
  {
    name: "keeps what the newest models still take",
    says: { sampling: { topP: 0.99 } },
    target: newest,
    want: { top_p: 0.99 },
  },
  {
    name: "keeps a temperature that is the default",
    says: { sampling: { temperature: 1 } },
    target: newest,
    want: { temperature: 1 },
  },
  {
    name: "drops what thinking forbids",
    says: { sampling: { temperature: 0.5, topK: 5 }, reasoning: on },
    target: adaptive,
    want: { temperature: undefined, top_k: undefined },
    dropped: ["temperature", "top_k"],
  },
  {
    name: "keeps what thinking allows",
    says: { sampling: { topP: 0.96 }, reasoning: on },
    target: adaptive,
    want: { top_p: 0.96 },
  },
  {
    name: "drops stop sequences of white space and keeps the rest",
    says: { sampling: { stop: ["\n", "END"] } },
    want: { stop_sequences: ["END"] },
    dropped: ["stop_sequences"],
  },
  {
    name: "writes no empty list of stop sequences",
    says: { sampling: { stop: [] } },
    want: { stop_sequences: undefined },
  },
  {
    name: "declares sampling that this format has no word for",
    says: { sampling: { seed: 0, presencePenalty: 1, logitBias: { 5: 1 }, logprobs: true } },
    want: {},
    dropped: ["seed", "presence_penalty", "logit_bias", "logprobs"],
  },
];

const thinking: readonly Row[] = [
  { name: "says nothing where the client says nothing", says: {}, target: adaptive, want: { thinking: undefined } },
  {
    name: "pitfall 96: asks for a summary where thinking shall be seen",
    says: { reasoning: on },
    target: adaptive,
    want: { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "medium" } },
  },
  {
    name: "says a budget as effort to a model that knows no budgets",
    says: { reasoning: { mode: "on", budget: 20_000 } },
    target: adaptive,
    want: { thinking: { type: "adaptive" }, output_config: { effort: "high" } },
  },
  {
    name: "leaves the effort to the model",
    says: { reasoning: { mode: "auto" } },
    target: adaptive,
    want: { thinking: { type: "adaptive" }, output_config: undefined },
  },
  {
    name: "pitfall 95: says effort as a budget to a model that knows no efforts",
    says: { reasoning: { mode: "on", effort: "medium" }, outputCap: 2000 },
    target: manual,
    want: { thinking: { type: "enabled", budget_tokens: 1500 }, max_tokens: 2000, output_config: undefined },
  },
  {
    name: "pitfall 130: gives a budget where the client names none",
    says: { reasoning: { mode: "auto" } },
    target: manual,
    want: { thinking: { type: "enabled", budget_tokens: 8192 }, max_tokens: 64_000 },
  },
  {
    name: "raises a cap that users take for visible text by the budget",
    says: { reasoning: on, outputCap: 2000, outputCapIsVisibleText: true },
    target: manual,
    want: { thinking: { type: "enabled", budget_tokens: 7644 }, max_tokens: 10_192 },
  },
  {
    name: "thinks not at all where the cap leaves no room, declared",
    says: { reasoning: on, outputCap: 1200 },
    target: manual,
    want: { thinking: undefined, max_tokens: 1200 },
    dropped: ["thinking"],
  },
  {
    name: "thinks not at all with a model that cannot, declared",
    says: { reasoning: on },
    target: plain,
    want: { thinking: undefined },
    dropped: ["thinking"],
  },
  {
    name: "asks for the most by the model's own limit",
    says: { reasoning: { mode: "on", effort: "max" } },
    target: manual,
    want: { thinking: { type: "enabled", budget_tokens: 48_000 } },
  },
  {
    name: "pitfall 94: says that thinking is off",
    says: { reasoning: { mode: "off" } },
    target: newest,
    want: { thinking: { type: "disabled" } },
  },
  {
    name: "says so to compatible servers too",
    says: { reasoning: { mode: "off" } },
    target: compatible,
    want: { thinking: { type: "disabled" } },
  },
  {
    name: "says nothing to a model that never thinks",
    says: { reasoning: { mode: "off" } },
    target: plain,
    want: { thinking: undefined },
  },
  {
    name: "asks a model that always thinks for little",
    says: { reasoning: { mode: "off" } },
    target: { model: "claude-fable-5" },
    want: { thinking: { type: "adaptive", display: "omitted" }, output_config: { effort: "low" } },
  },
  {
    name: "drops a budget where a tool must be called",
    says: { reasoning: on, tools: [{ kind: "function", name: "f" }], toolChoice: { type: "required" } },
    target: manual,
    want: { thinking: undefined, tool_choice: { type: "any" } },
    dropped: ["thinking"],
  },
  {
    name: "keeps adaptive thinking there",
    says: { reasoning: on, tools: [{ kind: "function", name: "f" }], toolChoice: { type: "required" } },
    target: adaptive,
    want: { thinking: { type: "adaptive", display: "summarized" } },
  },
];

const others: readonly Row[] = [
  { name: "names the user", says: { user: "u" }, want: { metadata: { user_id: "u" } } },
  {
    name: "shortens a long name to its digest",
    says: { user: "x".repeat(257) },
    want: { metadata: { user_id: "15eb95a462ee20bd91a415ae2d4aed341288186ddaa2b37908f7d592f0c3f85f" } },
  },
  {
    name: "leaves out a safety identifier that the channel strips",
    says: { safetyIdentifier: "s" },
    want: { metadata: undefined },
  },
  {
    name: "takes it for the user where the channel forwards it",
    says: { safetyIdentifier: "s" },
    target: { safetyIdentifier: "Forward" },
    want: { metadata: { user_id: "s" } },
  },
  {
    name: "declares it where there is a user already",
    says: { safetyIdentifier: "s", user: "u" },
    target: { safetyIdentifier: "Forward" },
    want: { metadata: { user_id: "u" } },
    dropped: ["safety_identifier"],
  },
  { name: "says the default tier", says: { serviceTier: "default" }, want: { service_tier: "standard_only" } },
  { name: "says priority as auto", says: { serviceTier: "priority" }, want: { service_tier: "auto" } },
  {
    name: "drops a tier that it does not know",
    says: { serviceTier: "flex" },
    want: { service_tier: undefined },
    dropped: ["service_tier"],
  },
  {
    name: "takes no tier from a prototype",
    says: { serviceTier: "constructor" },
    want: { service_tier: undefined },
    dropped: ["service_tier"],
  },
  {
    name: "drops tiers for compatible servers",
    says: { serviceTier: "default" },
    target: compatible,
    want: { service_tier: undefined },
    dropped: ["service_tier"],
  },
  {
    name: "carries the automatic cache mark",
    says: { automaticCache: {} },
    want: { cache_control: { type: "ephemeral" } },
  },
  {
    name: "declares what only other formats have",
    says: { metadata: { a: "b" }, verbosity: "low", promptCacheKey: "k", store: true, unmapped: ["future"] },
    want: {},
    dropped: ["verbosity", "metadata", "prompt_cache_key", "store", "future"],
  },
  { name: "streams where the client streams", says: { stream: true }, want: { stream: true } },
  { name: "does not say that it does not stream", says: {}, want: { stream: undefined } },
];

describe("messages: writeRequest, settings", () => {
  for (const [group, rows] of Object.entries({ length, sampling, thinking, others })) {
    describe(group, () => {
      for (const row of rows) it(row.name, () => check(row));
    });
  }

  const unsigned = [user(text("hi")), assistant(text("x"), call("a")), tool(result("a"))];
  it("drops a budget where the reply to be continued has lost its thinking", () => {
    const says = { reasoning: on, turns: unsigned };
    check({ name: "", says, target: manual, want: { thinking: undefined }, dropped: ["thinking"] });
    check({ name: "", says, target: adaptive, want: { thinking: { type: "adaptive", display: "summarized" } } });
  });
  it("keeps it where the thinking is there", () => {
    const states = new OpenStates();
    states.remember("a", [{ kind: "thinking", text: "T", signature: "SIG" }]);
    const says = { reasoning: on, turns: unsigned };
    check({
      name: "",
      says,
      target: { ...manual, states },
      want: { thinking: { type: "enabled", budget_tokens: 8192 } },
    });
  });

  for (const row of [
    { says: { sampling: { candidates: 2 } }, want: "n" },
    { says: { modalities: ["text", "audio"] }, want: "modalities" },
  ] satisfies { says: Partial<Conversation>; want: string }[]) {
    it(`refuses ${row.want}, without which the reply would be another one`, () =>
      assert.equal(
        refusalOf(() => writeBody(conversation(row.says))),
        `unsupported_parameter ${row.want}`,
      ));
  }

  it("names lost fields as the client spells them, and refuses them where the channel does", () => {
    const says = conversation({ sampling: { temperature: 1.5 } });
    const target = { ...manual, fieldName: (field: string) => `generationConfig.${field}` };
    assert.deepEqual(writeBody(says, target).dropped, ["generationConfig.temperature"]);
    assert.equal(
      refusalOf(() => writeBody(says, { ...target, policy: "Reject" })),
      "unsupported_parameter generationConfig.temperature",
    );
  });

  it("writes no member that is undefined or null", () => {
    const { body } = writeBody(conversation({ turns: unsigned, reasoning: on }));
    assert.deepEqual(JSON.parse(JSON.stringify(body)), body);
    assert.ok(!JSON.stringify(body).includes("null"));
  });
});

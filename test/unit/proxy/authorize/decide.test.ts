import assert from "node:assert/strict";
import {
  allowedModel,
  authorizeEndpoint,
  authorizeKept,
  authorizeModel,
  decide,
  decideModel,
  isRestricted,
  listAllowedModels,
  type Question,
} from "#proxy/authorize/decide";
import { parseIpAddress } from "#proxy/http/address/ip-address";
import type { Capability, Fleet, Key, Limit, Route } from "#proxy/snapshot/types.gen";
import { snapshotWith } from "#test/support/snapshot-of";
import { wireAccount, wireKey, wireRoute } from "#test/support/wire-objects";

const fleet: Fleet = {
  kind: "fleet",
  name: "fleet",
  requireAccount: true,
  unboundedOutput: "Reserve",
  inputEstimate: "Estimate",
  defaultOutputReserve: 4_096,
  revocation: "Finish",
  egressAllowCIDRs: [],
};

const inCredits: Limit = {
  name: "l",
  unit: "Cost",
  limit: "5",
  period: "Day",
  algorithm: "FixedWindow",
  mode: "Enforce",
};
const accounts = [
  wireAccount("payer"),
  wireAccount("funded", { creditNanos: "5" }),
  wireAccount("template", { defaultKeyLimits: [inCredits] }),
];

interface Setup {
  readonly key?: Partial<Key>;
  readonly routes?: Route[];
  readonly model?: string;
  readonly capability?: Capability;
  readonly requireAccount?: true;
}

function questionOf({
  key = {},
  routes = [wireRoute("gpt-x")],
  model = "gpt-x",
  capability,
  requireAccount,
}: Setup): Question {
  return {
    key: wireKey("caller", key),
    snapshot: snapshotWith(...accounts, ...(requireAccount ? [fleet] : []), ...routes),
    protocol: "OpenAI",
    capability: capability ?? "Chat",
    model,
    clientAddress: parseIpAddress("10.0.0.1"),
  };
}

/** Name of the route, or the code of the refusal. */
function outcome(setup: Setup): string {
  const decision = decide(questionOf(setup));
  return decision.allowed ? decision.route.name : decision.refused;
}

describe("decide", () => {
  const elsewhere = wireRoute("gpt-x", { keySelector: { namespaces: ["team-b"] } });
  const rows: (Setup & { name: string; want: string })[] = [
    { name: "allows a key without restrictions", want: "gpt-x" },
    { name: "does not know a model without a route", model: "gpt-y", want: "model_not_found" },
    { name: "refuses a model outside the allow list", key: { modelsAllow: ["claude-*"] }, want: "model_not_allowed" },
    {
      name: "gives the same refusal for a model outside the list that does not exist",
      key: { modelsAllow: ["claude-*"] },
      model: "gpt-y",
      want: "model_not_allowed",
    },
    { name: "refuses everything for an empty allow list", key: { modelsAllow: [] }, want: "model_not_allowed" },
    { name: "puts deny over allow", key: { modelsAllow: ["*"], modelsDeny: ["gpt-*"] }, want: "model_not_allowed" },
    { name: "allows what is not denied", key: { modelsDeny: ["*-y"] }, want: "gpt-x" },
    { name: "serves an alias", routes: [wireRoute("r", { aliases: ["gpt-x"] })], want: "r" },
    {
      name: "lets no alias lead around a deny",
      routes: [wireRoute("r", { model: "secret", aliases: ["gpt-x"] })],
      key: { modelsDeny: ["secret"] },
      want: "model_not_allowed",
    },
    {
      name: "wants the name asked for in the allow list, not the route's",
      routes: [wireRoute("r", { model: "secret", aliases: ["gpt-x"] })],
      key: { modelsAllow: ["secret"] },
      want: "model_not_allowed",
    },
    {
      name: "does not know an internal route",
      routes: [wireRoute("gpt-x", { visibility: "Internal" })],
      want: "model_not_found",
    },
    {
      name: "refuses a model without a price under a limit in credits",
      key: { limits: [inCredits] },
      want: "model_not_allowed",
    },
    {
      name: "refuses one whose price leaves something free",
      routes: [wireRoute("gpt-x", { price: { output: "1" } })],
      key: { limits: [inCredits] },
      want: "model_not_allowed",
    },
    {
      name: "allows a model with a price under a limit in credits",
      routes: [wireRoute("gpt-x", { price: { input: "0", output: "1" } })],
      key: { limits: [inCredits] },
      want: "gpt-x",
    },
    {
      name: "refuses a model without a price under a balance",
      key: { account: "funded" },
      want: "model_not_allowed",
    },
    {
      name: "refuses a model without a price under the template of the account",
      key: { account: "template" },
      want: "model_not_allowed",
    },
    {
      name: "refuses a model without a price under a limit of its own",
      routes: [wireRoute("gpt-x", { limits: [inCredits] })],
      want: "model_not_allowed",
    },
    {
      name: "lets no alias around a limit in credits",
      routes: [wireRoute("r", { model: "dear", aliases: ["gpt-x"] })],
      key: { limits: [{ ...inCredits, models: ["dear"] }] },
      want: "model_not_allowed",
    },
    {
      name: "needs no price under a limit in credits of other models",
      key: { limits: [{ ...inCredits, models: ["dear"] }] },
      want: "gpt-x",
    },
    {
      name: "needs no price under a limit in credits that is only watched",
      key: { limits: [{ ...inCredits, mode: "Shadow" }] },
      want: "gpt-x",
    },
    {
      name: "needs no price under a limit of tokens",
      key: { limits: [{ ...inCredits, unit: "Tokens" }] },
      want: "gpt-x",
    },
    { name: "needs no price in an account without a balance", key: { account: "payer" }, want: "gpt-x" },
    {
      name: "refuses chat on a route whose price is enough for another capability",
      routes: [wireRoute("gpt-x", { capabilities: ["Chat", "Embeddings"], price: { input: "1" } })],
      key: { account: "funded" },
      want: "model_not_allowed",
    },
    {
      name: "allows a capability by its own price",
      routes: [wireRoute("gpt-x", { capabilities: ["Chat", "Embeddings"], price: { input: "1" } })],
      key: { account: "funded" },
      capability: "Embeddings",
      want: "gpt-x",
    },
    { name: "serves an unlisted route", routes: [wireRoute("gpt-x", { visibility: "Unlisted" })], want: "gpt-x" },
    { name: "refuses a route that selects other namespaces", routes: [elsewhere], want: "model_not_allowed" },
    {
      name: "takes the next route when the first is closed to the key",
      routes: [elsewhere, wireRoute("pattern", { model: "gpt-*" })].map((route) => ({ ...route, namespace: "shared" })),
      want: "pattern",
    },
    {
      name: "refuses a route without the capability as a parameter error",
      routes: [wireRoute("gpt-x", { capabilities: ["Embeddings"] })],
      want: "unsupported_endpoint",
    },
    { name: "refuses a protocol that the key lacks", key: { protocols: ["Gemini"] }, want: "protocol_not_allowed" },
    {
      name: "refuses a capability that the key lacks",
      key: { capabilities: ["Models"] },
      want: "capability_not_allowed",
    },
    { name: "refuses an address first", key: { cidrsAllow: ["11.0.0.0/8"], modelsAllow: [] }, want: "ip_not_allowed" },
    { name: "wants an account where the fleet does", requireAccount: true, want: "account_required" },
    { name: "takes an account that exists", requireAccount: true, key: { account: "payer" }, want: "gpt-x" },
    { name: "refuses a key whose account does not exist", key: { account: "gone" }, want: "account_required" },
    ...[
      "",
      ".",
      "..",
      "a/../b",
      "../gpt-x",
      "a//b",
      "a/",
      "/a",
      " gpt-x",
      "gpt x",
      "gpt-x\n",
      "g\u200bpt",
      "\uff47pt",
      "g%2e",
      "g?x",
      "g#x",
      "g\\x",
      "*",
      "@cf/x",
      "x".repeat(257),
    ].map((model) => ({
      name: `never lets a pattern route take ${JSON.stringify(model.slice(0, 20))}`,
      routes: [wireRoute("all", { model: "*" })],
      model,
      want: "model_not_found",
    })),
    ...["gpt-x", "vendor/model-x", "llama3:8b", "ft:gpt-4o:org::id", "a.b_c"].map((model) => ({
      name: `lets a pattern route take ${model}`,
      routes: [wireRoute("all", { model: "*" })],
      model,
      want: "all",
    })),
  ];
  for (const { name, want, ...setup } of rows) it(name, () => assert.equal(outcome(setup), want));

  for (const { lacks, price, capability = "Chat" } of [
    { lacks: "input and output", price: undefined },
    { lacks: "output", price: { input: "1" } },
    { lacks: "input", price: { output: "1" } },
    { lacks: "input or requests (one is enough)", price: { output: "1" }, capability: "Embeddings" as const },
  ]) {
    it(`names what has no price: ${lacks}`, () => {
      const routes = [wireRoute("gpt-x", { capabilities: [capability], ...(price && { price }) })];
      const decision = decide(questionOf({ key: { limits: [inCredits] }, routes, capability }));
      assert.ok(!decision.allowed);
      assert.equal(
        decision.message,
        `The model 'gpt-x' has no price for ${lacks}, and this API key may only spend a limited amount.`,
      );
    });
  }

  it("refuses in one order, whatever else is wrong", () => {
    const faults: { want: string; key: Partial<Key>; setup?: Setup }[] = [
      { want: "ip_not_allowed", key: { cidrsAllow: [] } },
      { want: "account_required", key: { account: "gone" } },
      { want: "protocol_not_allowed", key: { protocols: ["Gemini"] } },
      { want: "capability_not_allowed", key: { capabilities: ["Models"] } },
      { want: "model_not_allowed", key: { modelsAllow: ["other"] } },
      { want: "model_not_found", key: {}, setup: { model: "gpt-y" } },
    ];
    for (let chosen = 1; chosen < 1 << faults.length; chosen += 1) {
      const present = faults.filter((_, index) => (chosen & (1 << index)) !== 0);
      const key: Partial<Key> = Object.assign({}, ...present.map((fault) => fault.key));
      const setup: Setup = Object.assign({ key }, ...present.map((fault) => fault.setup ?? {}));
      assert.equal(outcome(setup), present[0]?.want);
    }
  });

  it("names the model field, and cuts a name that is too long", () => {
    const decision = decideModel(questionOf({ model: "x".repeat(100_000) }));
    assert.ok(!decision.allowed);
    assert.equal(decision.param, "model");
    assert.ok(decision.message.length < 400);
    assert.throws(() => authorizeModel(questionOf({ model: "gpt-y" })), { code: "model_not_found", param: "model" });
  });

  it("decides about an endpoint without a model by key alone", () => {
    authorizeEndpoint(questionOf({}), "Models");
    assert.throws(() => authorizeEndpoint(questionOf({ key: { capabilities: ["Chat"] } }), "Models"), {
      code: "capability_not_allowed",
    });
  });
});

describe("a call that runs, and what was made before", () => {
  for (const row of [
    { name: "outlive a model that is gone", setup: { routes: [] }, isRestricted: false },
    {
      name: "outlive a route of other endpoints",
      setup: { routes: [wireRoute("gpt-x", { capabilities: [] })] },
      isRestricted: false,
    },
    { name: "outlive a price that is gone", setup: { key: { limits: [inCredits] } }, isRestricted: false },
    { name: "end with a model that is denied", setup: { key: { modelsDeny: ["gpt-x"] } }, isRestricted: true },
    { name: "end with a capability that is lost", setup: { key: { capabilities: [] } }, isRestricted: true },
  ]) {
    it(row.name, () => {
      const question = questionOf(row.setup);
      assert.equal(isRestricted(question), row.isRestricted);
      if (row.isRestricted) assert.throws(() => authorizeKept(question), /may not/);
      else assert.doesNotThrow(() => authorizeKept(question));
    });
  }
});

describe("key selectors", () => {
  const labels = { tier: "gold", team: "search" };
  const rows: { name: string; selector: Partial<Route["keySelector"]>; key?: Partial<Key>; want: boolean }[] = [
    { name: "any namespace", selector: { namespaces: ["*"] }, key: { namespace: "anywhere" }, want: true },
    { name: "another namespace", selector: {}, key: { namespace: "team-b" }, want: false },
    { name: "no namespace", selector: { namespaces: [] }, want: false },
    {
      name: "one of many namespaces",
      selector: { namespaces: [...Array.from({ length: 20 }, (_, index) => `n-${index}`), "team-a"] },
      want: true,
    },
    {
      name: "none of many namespaces",
      selector: { namespaces: Array.from({ length: 20 }, (_, index) => `n-${index}`) },
      want: false,
    },
    { name: "a label that is equal", selector: { matchLabels: { tier: "gold" } }, want: true },
    { name: "a label that differs", selector: { matchLabels: { tier: "free" } }, want: false },
    { name: "one label of two", selector: { matchLabels: { tier: "gold", region: "eu" } }, want: false },
    {
      name: "an inherited name as label",
      selector: { matchExpressions: [{ key: "constructor", operator: "Exists" }] },
      want: false,
    },
    {
      name: "In",
      selector: { matchExpressions: [{ key: "tier", operator: "In", values: ["gold", "x"] }] },
      want: true,
    },
    {
      name: "In without the label",
      selector: { matchExpressions: [{ key: "z", operator: "In", values: ["x"] }] },
      want: false,
    },
    {
      name: "NotIn",
      selector: { matchExpressions: [{ key: "tier", operator: "NotIn", values: ["gold"] }] },
      want: false,
    },
    {
      name: "NotIn without the label",
      selector: { matchExpressions: [{ key: "z", operator: "NotIn", values: ["x"] }] },
      want: true,
    },
    { name: "Exists", selector: { matchExpressions: [{ key: "team", operator: "Exists" }] }, want: true },
    { name: "DoesNotExist", selector: { matchExpressions: [{ key: "team", operator: "DoesNotExist" }] }, want: false },
  ];
  for (const { name, selector, key = {}, want } of rows) {
    it(`${want ? "select" : "do not select"} a key by ${name}`, () => {
      const routes = [wireRoute("gpt-x", { keySelector: { namespaces: ["team-a"], ...selector } })];
      assert.equal(outcome({ routes, key: { labels, ...key } }), want ? "gpt-x" : "model_not_allowed");
    });
  }
});

describe("listAllowedModels", () => {
  const routes = [
    wireRoute("open", { aliases: ["open-latest"] }),
    wireRoute("hidden", { visibility: "Unlisted" }),
    wireRoute("inner", { visibility: "Internal" }),
    wireRoute("pattern", { model: "gpt-*" }),
    wireRoute("closed", { keySelector: { namespaces: ["team-b"] } }),
    wireRoute("vectors", { capabilities: ["Embeddings"] }),
  ];
  const namesFor = (key: Partial<Key>): string[] => {
    const question = questionOf({ key, routes });
    const listed = listAllowedModels(question);
    for (const { name, route } of listed) {
      const decision = decideModel({ ...question, capability: undefined, model: name });
      assert.ok(decision.allowed && decision.route === route, `${name} is listed and refused`);
    }
    return listed.map((model) => model.name);
  };

  it("shows names and aliases of listed routes that are open to the key", () => {
    assert.deepEqual(namesFor({}), ["open", "open-latest", "vectors"]);
  });
  it("shows only what the key's patterns allow", () => {
    assert.deepEqual(namesFor({ modelsAllow: ["open*"], modelsDeny: ["*-latest"] }), ["open"]);
    assert.deepEqual(namesFor({ modelsDeny: ["open"] }), ["vectors"]);
    assert.deepEqual(namesFor({ modelsAllow: [] }), []);
  });
  it("shows nothing without a price to a key whose spending is limited", () => {
    assert.deepEqual(namesFor({ account: "funded" }), []);
  });
  it("shows a model whose price is enough for one capability, with that capability alone", () => {
    const key = { account: "funded" };
    const both = wireRoute("both", { capabilities: ["Chat", "Embeddings"], price: { input: "1" } });
    const question = questionOf({ key, routes: [...routes, both] });
    assert.deepEqual(
      listAllowedModels(question).map(({ name, capabilities }) => [name, capabilities]),
      [["both", ["Embeddings"]]],
    );
    assert.deepEqual(allowedModel(question, "both").capabilities, ["Embeddings"]);
  });
  it("does not show it to a key that may not use that capability", () => {
    const both = wireRoute("both", { capabilities: ["Chat", "Embeddings"], price: { input: "1" } });
    const key: Partial<Key> = { account: "funded", capabilities: ["Chat"] };
    assert.deepEqual(listAllowedModels(questionOf({ key, routes: [both] })), []);
  });
  it("shows only models of which the key may use some capability", () => {
    assert.deepEqual(namesFor({ capabilities: ["Models", "Embeddings"] }), ["vectors"]);
  });
  it("shows models whose prompts a key may have counted and nothing else", () => {
    const question = questionOf({ key: { capabilities: ["Models", "CountTokens"] }, routes, model: "open" });
    assert.equal(decideModel({ ...question, capability: "CountTokens" }).allowed, true);
    assert.deepEqual(namesFor({ capabilities: ["Models", "CountTokens"] }), ["open", "open-latest"]);
  });
});

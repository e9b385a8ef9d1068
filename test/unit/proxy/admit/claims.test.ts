import assert from "node:assert/strict";
import { channelClaims, claimsOf } from "#proxy/admit/claims";
import type { Account, Channel, Key, Limit, Route } from "#proxy/snapshot/types.gen";

const limit = (name: string, partial: Partial<Limit> = {}): Limit => ({
  name,
  unit: "Requests",
  limit: "5",
  period: "Day",
  algorithm: "FixedWindow",
  mode: "Enforce",
  ...partial,
});
const key = (partial: Partial<Key> = {}): Key => ({
  kind: "key",
  namespace: "ns",
  name: "k",
  state: "Active",
  credentials: [],
  ...partial,
});
const account = (partial: Partial<Account> = {}): Account => ({
  kind: "account",
  namespace: "ns",
  name: "a",
  state: "Active",
  ...partial,
});
const route = (partial: Partial<Route> = {}): Route => ({
  kind: "route",
  namespace: "ns",
  name: "r",
  model: "big",
  visibility: "Listed",
  capabilities: ["Chat"],
  targets: [],
  strategy: "Weighted",
  failover: { maxAttempts: 1, on: [], withinFirstMs: 0 },
  keySelector: { namespaces: ["*"] },
  ...partial,
});
const channel = (partial: Partial<Channel> = {}): Channel => ({
  kind: "channel",
  namespace: "ns",
  name: "c",
  state: "Active",
  provider: "OpenAI",
  baseURL: "https://example.org",
  formats: [{ type: "ChatCompletions", path: "/chat/completions" }],
  auth: { location: "Header", name: "authorization", scheme: "Bearer" },
  credentials: [],
  privacy: { store: "PassThrough", safetyIdentifier: "Strip", streamObfuscation: "Strip", clientMetadata: "Forward" },
  unsupportedParameters: "Ignore",
  upstreamObjects: "Refuse",
  timeouts: {},
  ...partial,
});
const counters = (claims: { limits: readonly { counter: string }[] }): string[] =>
  claims.limits.map(({ counter }) => counter);

describe("claimsOf()", () => {
  it("names limits of key, account and route, the balance and the requests in flight", () => {
    const owner = account({ creditNanos: "100", overdraftNanos: "7", limits: [limit("shared")] });
    const caller = key({ account: "a", limits: [limit("quota")], maxInFlight: 3 });
    const claims = claimsOf(caller, owner, route({ limits: [limit("global")] }), "big");
    assert.deepEqual(counters(claims), ["key/ns/k/quota", "account/ns/a/shared", "route/ns/r/global"]);
    assert.deepEqual(claims.balances, [{ counter: "account/ns/a", grantedNanos: 107n }]);
    assert.deepEqual(claims.concurrency, [{ counter: "key/ns/k", maxInFlight: 3 }]);
  });

  it("gives a key without limits its account's template, with counters of its own", () => {
    const owner = account({ defaultKeyLimits: [limit("default")] });
    assert.deepEqual(counters(claimsOf(key({ account: "a" }), owner, route(), "big")), ["key/ns/k/default"]);
    assert.deepEqual(counters(claimsOf(key({ account: "a", name: "other" }), owner, route(), "big")), [
      "key/ns/other/default",
    ]);
    assert.deepEqual(counters(claimsOf(key({ account: "a", limits: [limit("own")] }), owner, route(), "big")), [
      "key/ns/k/own",
    ]);
  });

  it("claims an unlimited balance, so that consumption is counted", () => {
    const claims = claimsOf(key({ account: "a" }), account(), route(), "big");
    assert.deepEqual(claims.balances, [{ counter: "account/ns/a", grantedNanos: undefined }]);
  });

  it("refuses a key whose account is not there", () => {
    assert.throws(() => claimsOf(key({ account: "gone" }), undefined, route(), "big"), { code: "account_required" });
  });

  for (const row of [
    { name: "applies a limit to the models it names", models: ["big"], route: {}, called: "big", want: 1 },
    { name: "leaves other models alone", models: ["small*"], route: {}, called: "big", want: 0 },
    {
      name: "lets no alias around a limit",
      models: ["big"],
      route: { aliases: ["nickname"] },
      called: "nickname",
      want: 1,
    },
    {
      name: "lets no other name around a limit on an alias",
      models: ["nickname"],
      route: { aliases: ["nickname"] },
      called: "big",
      want: 1,
    },
    {
      name: "judges a pattern route by the name called",
      models: ["big-1"],
      route: { model: "big-*" },
      called: "big-1",
      want: 1,
    },
    {
      name: "judges a pattern route by each name called",
      models: ["big-1"],
      route: { model: "big-*" },
      called: "big-2",
      want: 0,
    },
  ]) {
    it(row.name, () => {
      const caller = key({ limits: [limit("l", { models: row.models })] });
      assert.equal(claimsOf(caller, undefined, route(row.route), row.called).limits.length, row.want);
    });
  }

  it("does not confuse the names called under one pattern", () => {
    const caller = key({ limits: [limit("l", { models: ["big-1"] })] });
    const pattern = route({ model: "big-*" });
    assert.equal(claimsOf(caller, undefined, pattern, "big-2").limits.length, 0);
    assert.equal(claimsOf(caller, undefined, pattern, "big-1").limits.length, 1);
  });

  it("is made once for unchanged objects and anew for a changed account", () => {
    const caller = key({ account: "a" });
    const target = route();
    const first = account({ creditNanos: "1" });
    assert.equal(claimsOf(caller, first, target, "big"), claimsOf(caller, first, target, "big"));
    assert.equal(claimsOf(caller, account({ creditNanos: "2" }), target, "big").balances[0]?.grantedNanos, 2n);
  });
});

describe("channelClaims()", () => {
  it("is nothing for a channel without limits", () =>
    assert.equal(channelClaims(channel(), route(), "big"), undefined));

  it("names the channel's limits for the model, and its requests in flight", () => {
    const limits = [limit("all"), limit("small", { models: ["small"] })];
    const claims = channelClaims(channel({ limits, maxInFlight: 9 }), route(), "big");
    assert.ok(claims !== undefined);
    assert.deepEqual(counters(claims), ["channel/ns/c/all"]);
    assert.deepEqual(claims.concurrency, [{ counter: "channel/ns/c", maxInFlight: 9 }]);
  });

  it("holds a limit on one name of a route for its other names, too", () => {
    const limits = [limit("big", { models: ["big"] }), limit("alias", { models: ["al*"] })];
    const aliased = route({ aliases: ["alias", "other"] });
    for (const name of ["big", "alias", "other"]) {
      const claims = channelClaims(channel({ limits }), aliased, name);
      assert.deepEqual(claims && counters(claims), ["channel/ns/c/big", "channel/ns/c/alias"], name);
    }
  });
});

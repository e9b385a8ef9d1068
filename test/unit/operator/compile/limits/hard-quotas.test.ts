import assert from "node:assert/strict";
import { Compilation } from "#operator/compile/compilation";
import { defaultCompileSettings } from "#operator/compile/compile";
import type { QuotaScope } from "#operator/compile/limits/hard-quotas";
import { everyObject } from "#operator/resources/mutable-resource-set";
import { resourcesOf } from "#test/support/compile-manifests";

function compileFor(scope: QuotaScope, text: string): Compilation {
  const resources = resourcesOf(text);
  const compilation = new Compilation(resources, defaultCompileSettings, scope);
  compilation.update(everyObject(resources));
  return compilation;
}

const head = (kind: string): string => `apiVersion: tollgate.dev/v1alpha1
kind: ${kind}
metadata: {name: one, namespace: a}
`;
const key = (rest: string): string => `${head("ApiKey")}spec:
  credentials: [{name: current, sha256: ${"ab".repeat(32)}}]
${rest}`;
const account = (spec: string): string => `${head("Account")}spec: ${spec}\n`;
const channel = (rest: string): string => `${head("Channel")}spec:
  provider: OpenAICompatible
  baseURL: https://models.example.com/v1
  formats: [{type: ChatCompletions}]
${rest}`;
const route = (rest: string): string => `${channel("")}---
${head("ModelRoute")}spec:
  model: m
  targets: [{name: only, channelRef: {name: one}}]
${rest}`;
const limit = (fields: string): string => `  limits: [{name: some, limit: "5", ${fields}}]\n`;

describe("hard quotas and proxies that count each for itself", () => {
  for (const row of [
    { name: "a key with a daily limit", id: "key/a/one", text: key(limit("unit: Tokens, period: Day")) },
    { name: "a key with a limit in Cost", id: "key/a/one", text: key(limit("unit: Cost, period: Minute")) },
    { name: "an account with credit", id: "account/a/one", text: account('{credit: "5"}') },
    {
      name: "an account with a monthly limit",
      id: "account/a/one",
      text: `${head("Account")}spec:\n${limit("unit: Requests, period: Month")}`,
    },
    {
      name: "an account whose template is hard",
      id: "account/a/one",
      text: account('{defaultKeyLimits: [{name: some, limit: "5", unit: Requests, period: Lifetime}]}'),
    },
    {
      name: "a channel with a weekly limit",
      id: "channel/a/one",
      text: channel(limit("unit: Requests, period: Week")),
    },
    { name: "a route with a daily limit", id: "route/a/one", text: route(limit("unit: Requests, period: Day")) },
  ]) {
    it(`refuses ${row.name}, which one proxy serves`, () => {
      assert.ok(compileFor("Exact", row.text).objects.has(row.id));
      const compilation = compileFor("PerProxy", row.text);
      assert.equal(compilation.objects.has(row.id), false);
      const result = compilation.results.get(row.id);
      assert.equal(result?.accepted.status, "False");
      assert.equal(result?.accepted.reason, "NeedsSharedStore");
      assert.match(result?.accepted.message ?? "", /limit some|spec\.credit/);
      assert.deepEqual(result?.wireIds, []);
    });
  }

  for (const row of [
    { name: "a key with rates only", id: "key/a/one", text: key(limit("unit: Tokens, period: Hour")) },
    {
      name: "a key with a hard limit in Shadow mode",
      id: "key/a/one",
      text: key(limit("unit: Tokens, period: Day, mode: Shadow")),
    },
    { name: "an account without credit", id: "account/a/one", text: account("{}") },
    { name: "a route without limits", id: "route/a/one", text: route("") },
  ]) {
    it(`serves ${row.name}`, () => {
      const compilation = compileFor("PerProxy", row.text);
      assert.ok(compilation.objects.has(row.id));
      assert.equal(compilation.results.get(row.id)?.accepted.status, "True");
    });
  }

  it("denies the keys of an account that is refused", () => {
    const compilation = compileFor("PerProxy", `${key("  accountRef: {name: one}\n")}---\n${account('{credit: "5"}')}`);
    assert.equal(compilation.objects.has("key/a/one"), false);
    assert.equal(compilation.results.get("key/a/one")?.resolvedRefs?.reason, "AccountNotFound");
  });
});

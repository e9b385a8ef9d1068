import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { type RunningAdmin, startAdmin } from "#proxy/admin";
import { explain } from "#proxy/explain";
import { ProxyMetrics } from "#proxy/observe/metrics";
import { emptySnapshot, SnapshotDraft } from "#proxy/snapshot/build-index";
import { objectVersion } from "#proxy/snapshot/digest";
import type { Channel, Credential, Key, Route, WireObject } from "#proxy/snapshot/types.gen";

const canary = "sk-upstream-canary-0123456789";

const key: Key = {
  kind: "key",
  namespace: "team",
  name: "bot",
  state: "Active",
  credentials: [{ name: "one", sha256: "a".repeat(64), notAfter: 2_000 }],
  modelsAllow: ["gpt*"],
  cidrsAllow: ["10.0.0.0/8"],
  limits: [
    { name: "ceiling", unit: "Cost", limit: "5000000000", period: "Month", algorithm: "FixedWindow", mode: "Enforce" },
  ],
};
const channel: Channel = {
  kind: "channel",
  namespace: "team",
  name: "openai",
  state: "Active",
  provider: "OpenAI",
  baseURL: "https://api.openai.com/v1",
  formats: [{ type: "ChatCompletions", path: "/chat/completions" }],
  auth: { location: "Header", name: "authorization", scheme: "Bearer" },
  credentials: [{ name: "main", weight: 1, state: "Active" }],
  headersSet: [{ name: "x-secret", value: canary }],
  privacy: { store: "PassThrough", safetyIdentifier: "Strip", streamObfuscation: "Strip", clientMetadata: "Forward" },
  unsupportedParameters: "Ignore",
  upstreamObjects: "Refuse",
  timeouts: {},
  body: { set: [{ field: "token", value: canary }] },
  proxyURL: `http://user:${canary}@proxy.example:3128`,
};
const credential: Credential = {
  kind: "credential",
  namespace: "team",
  channel: "openai",
  name: "main",
  secret: canary,
};
const route: Route = {
  kind: "route",
  namespace: "team",
  name: "gpt",
  model: "gpt-x",
  visibility: "Listed",
  capabilities: ["Chat"],
  targets: [{ name: "openai", channel: "team/openai", priority: 0, weight: 1 }],
  strategy: "Weighted",
  failover: { maxAttempts: 1, on: [], withinFirstMs: 0 },
  keySelector: { namespaces: ["team"] },
  price: { input: "1000", output: "2000" },
};
const vectors: Route = {
  ...route,
  name: "gpt-vectors",
  model: "gpt-vectors",
  capabilities: ["Chat", "Embeddings"],
  price: { input: "1" },
};
const { price: _, ...unpriced } = { ...route, name: "gpt-free", model: "gpt-free" };

function snapshotOf(objects: Readonly<Record<string, WireObject>>) {
  const draft = new SnapshotDraft(emptySnapshot);
  for (const [id, object] of Object.entries(objects)) {
    const { version, size } = objectVersion(id, object);
    draft.put(id, version, size, object);
  }
  return draft.finish(1);
}

const snapshot = snapshotOf({
  "key/team/bot": key,
  "channel/team/openai": channel,
  "credential/team/openai/main": credential,
  "route/team/gpt": route,
  "route/team/gpt-free": unpriced,
  "route/team/gpt-vectors": vectors,
});

describe("admin port", () => {
  const metrics = new ProxyMetrics();
  const state = { isReady: false, isDraining: false };
  let admin: RunningAdmin;

  before(async () => {
    admin = await startAdmin({
      listen: { host: "127.0.0.1", port: 0 },
      metrics,
      snapshots: {
        pin: () => snapshot,
        get isReady() {
          return state.isReady;
        },
      },
      isDraining: () => state.isDraining,
      explain: (question) => explain(question, snapshot, 1_000),
    });
  });

  after(async () => {
    await admin.close();
    metrics.close();
  });

  async function get(path: string): Promise<{ status: number; text: string }> {
    const reply = await fetch(`http://127.0.0.1:${admin.address.port}${path}`);
    return { status: reply.status, text: await reply.text() };
  }

  it("is ready with a first snapshot and until it drains", async () => {
    assert.deepEqual(await get("/readyz"), { status: 503, text: "no configuration yet\n" });
    state.isReady = true;
    assert.deepEqual(await get("/readyz"), { status: 200, text: "ready\n" });
    state.isDraining = true;
    assert.deepEqual(await get("/readyz"), { status: 503, text: "draining\n" });
    state.isDraining = false;
    assert.equal((await get("/healthz")).status, 200);
  });

  it("shows the configuration without a secret", async () => {
    const { status, text } = await get("/debug/config");
    assert.equal(status, 200);
    assert.equal(text.includes("canary"), false, text);
    assert.match(text, /"fingerprint":"[0-9a-f]{12}"/);
  });

  it("serves metrics", async () => assert.match((await get("/metrics")).text, /tollgate_requests_in_flight 0/));

  for (const row of [
    {
      name: "explains a call that is allowed",
      query: "key=team/bot&model=gpt-x&ip=10.1.2.3",
      want: { allowed: true, status: 200, route: "team/gpt" },
    },
    { name: "looks at no address when none is given", query: "key=team/bot&model=gpt-x", want: { allowed: true } },
    {
      name: "explains a refused address",
      query: "key=team/bot&model=gpt-x&ip=192.0.2.1",
      want: { allowed: false, status: 403, refused: "ip_not_allowed" },
    },
    {
      name: "explains a refused model",
      query: "key=team/bot&model=claude",
      want: { allowed: false, status: 403, refused: "model_not_allowed" },
    },
    {
      name: "explains a model without a price to a key whose spending is limited",
      query: "key=team/bot&model=gpt-free",
      want: { allowed: false, status: 403, refused: "model_not_allowed" },
    },
    {
      name: "explains chat with a model that has prices for embeddings alone",
      query: "key=team/bot&model=gpt-vectors",
      want: {
        allowed: false,
        status: 403,
        message: "The model 'gpt-vectors' has no price for output, and this API key may only spend a limited amount.",
      },
    },
    {
      name: "explains an unknown model",
      query: "key=team/bot&model=gpt-unknown",
      want: { allowed: false, status: 404, refused: "model_not_found" },
    },
    {
      name: "explains an upstream that speaks another format",
      query: "key=team/bot&model=gpt-x&format=Messages",
      want: { allowed: true, status: 200 },
    },
    { name: "explains an unknown key", query: "key=team/nobody&model=gpt-x", want: { allowed: false, status: 401 } },
  ]) {
    it(row.name, async () => {
      const explanation = JSON.parse((await get(`/debug/explain?${row.query}`)).text);
      for (const [name, value] of Object.entries(row.want))
        assert.equal(explanation[name], value, JSON.stringify(explanation));
    });
  }

  it("explains by the clock", () => {
    const explanation = explain({ key: "team/bot", model: "gpt-x" }, snapshot, 2_000);
    assert.deepEqual([explanation.allowed, explanation.status], [false, 401]);
    assert.match(explanation.message, /one is key_expired/);
  });

  for (const row of [
    { name: "a raw key, without an echo of it", path: "/debug/explain?key=sk-canary&model=gpt-x", status: 400 },
    { name: "an unknown format", path: "/debug/explain?key=team/bot&model=gpt-x&format=x", status: 400 },
    { name: "a question without a model", path: "/debug/explain?key=team/bot", status: 400 },
    { name: "a list where one value belongs", path: "/debug/explain?key=team/bot&key=team/other&model=x", status: 400 },
    { name: "a path of other case", path: "/HEALTHZ", status: 404 },
    { name: "a path with a trailing slash", path: "/healthz/", status: 404 },
    { name: "a path of the data port", path: "/v1/models", status: 404 },
  ]) {
    it(`refuses ${row.name}`, async () => {
      const reply = await get(row.path);
      assert.equal(reply.status, row.status);
      assert.equal(reply.text.includes("canary"), false);
    });
  }
});

import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { compileText } from "#test/support/compile-manifests";

/** What `Accepted` says of an object: of a spec with all defaults of the schema beside what is given. */
function acceptedOf(kind: "Channel" | "ModelRoute", spec: object): string {
  const required =
    kind === "Channel"
      ? { provider: "OpenAICompatible", baseURL: "https://models.example.com" }
      : { targets: [{ name: "main", channelRef: { name: "up" } }] };
  const metadata = { name: "it", namespace: "a" };
  const manifest = { apiVersion: "tollgate.dev/v1alpha1", kind, metadata, spec: { ...required, ...spec } };
  const { results } = compileText(JSON.stringify(manifest));
  const result = results.get(`${kind === "Channel" ? "channel" : "route"}/a/it`);
  assert.equal(result?.accepted.status, "True", result?.accepted.message);
  return result.accepted.reason === "Valid" ? "" : `${result.accepted.reason}: ${result.accepted.message}`;
}

describe("fields that the proxies do not act on yet", () => {
  const instead = "of a route that others refer to only the targets count";
  for (const row of [
    { name: "a channel with defaults uses none", kind: "Channel", spec: {}, want: "" },
    {
      name: "a channel whose calls do not wait uses none",
      kind: "Channel",
      spec: { concurrency: { maxInFlight: 1, maxQueue: 0 }, formats: [{ type: "ChatCompletions" }] },
      want: "",
    },
    {
      name: "body rules of a channel of sessions",
      kind: "Channel",
      spec: {
        formats: [{ type: "ChatCompletions" }, { type: "Realtime", path: "/realtime" }],
        body: { remove: ["temperature"] },
      },
      want: "PartiallyValid: spec.body with Realtime: not there yet, no rule is held against the messages of a session.",
    },
    {
      name: "body rules of a channel that names no formats",
      kind: "Channel",
      spec: { body: { remove: ["temperature"] } },
      want: "",
    },
    {
      name: "parameters of a route of sessions, and of its targets",
      kind: "ModelRoute",
      spec: {
        capabilities: ["Realtime"],
        parameters: [{ name: "temperature", maximum: "1" }],
        targets: [{ name: "main", channelRef: { name: "up" }, parameters: { remove: ["temperature"] } }],
      },
      want: "PartiallyValid: spec.capabilities Realtime with spec.parameters, spec.targets[].parameters: not there yet, no rule is held against the messages of a session.",
    },
    {
      name: "a queue",
      kind: "Channel",
      spec: { concurrency: { maxInFlight: 1, maxQueue: 4, queueTimeout: "1s" } },
      want: "PartiallyValid: spec.concurrency.maxQueue: not there yet, no call waits for a place, a full channel is passed by.",
    },
    {
      name: "both ways of judging health",
      kind: "Channel",
      spec: { health: { passive: {}, active: { interval: "5s", timeout: "1s", path: "/health" } } },
      want: "PartiallyValid: spec.health.passive: not there yet, no credential is left out for its failures before. spec.health.active: not there yet, no probe is sent.",
    },
    {
      name: "formats of all endpoints are served",
      kind: "Channel",
      spec: {
        formats: [
          { type: "Messages" },
          { type: "CountTokens" },
          { type: "Rerank", path: "/rerank" },
          { type: "Completions", path: "/completions" },
          { type: "Passthrough", paths: ["/x"] },
          { type: "Realtime", path: "/realtime" },
          { type: "Predict", path: "/predict" },
          { type: "Speech", path: "/speech" },
          { type: "Transcriptions", path: "/transcriptions" },
          { type: "Translations", path: "/translations" },
        ],
      },
      want: "",
    },
    {
      name: "capabilities of a channel's models are served",
      kind: "Channel",
      spec: { models: [{ name: "one", capabilities: ["Chat"] }] },
      want: "",
    },
    { name: "a route with defaults uses none", kind: "ModelRoute", spec: { failover: {}, keySelector: {} }, want: "" },
    {
      name: "capabilities of all endpoints are served",
      kind: "ModelRoute",
      spec: { capabilities: ["Chat", "CountTokens", "Models", "Embeddings", "Realtime", "Speech", "Transcription"] },
      want: "",
    },
    {
      name: "parameters in lists, of which few are named",
      kind: "ModelRoute",
      spec: {
        parameters: Array.from({ length: 8 }, (_, index) => ({ name: `tools.t${index}`, support: "Unsupported" })),
      },
      want: "PartiallyValid: spec.parameters tools.t0, tools.t1, tools.t2, tools.t3, tools.t4, tools.t5 and 2 more: not there yet, no rule is held against what stands in a list.",
    },
    {
      name: "a parameter in a list",
      kind: "ModelRoute",
      spec: { parameters: [{ name: "reasoning.effort" }, { name: "tools.type", support: "Unsupported" }] },
      want: "PartiallyValid: spec.parameters tools.type: not there yet, no rule is held against what stands in a list.",
    },
    {
      name: "a strategy",
      kind: "ModelRoute",
      spec: { strategy: "CacheAffinity" },
      want: "PartiallyValid: spec.strategy CacheAffinity: not there yet, targets are chosen by weight.",
    },
    {
      name: "a pause before the next attempt",
      kind: "ModelRoute",
      spec: { failover: { backoff: { base: "1s" } } },
      want: "PartiallyValid: spec.failover.backoff: not there yet, the next attempt begins at once.",
    },
    { name: "an internal route of targets only", kind: "ModelRoute", spec: { visibility: "Internal" }, want: "" },
    {
      name: "what an internal route asks of its callers",
      kind: "ModelRoute",
      spec: { visibility: "Internal", keySelector: {}, price: { inputPerMillion: "1" }, limits: [] },
      want: `PartiallyValid: spec.visibility Internal with keySelector, limits, price: not there yet, ${instead}.`,
    },
  ] satisfies readonly { name: string; kind: "Channel" | "ModelRoute"; spec: object; want: string }[]) {
    it(row.name, () => assert.equal(acceptedOf(row.kind, row.spec), row.want));
  }
});

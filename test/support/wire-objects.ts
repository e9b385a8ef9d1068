/** Wire objects for tests: small, valid, and different where a test says so. */
import { hash } from "node:crypto";
import type { Account, Channel, Credential, Key, Route } from "#proxy/snapshot/types.gen";

export function sha256Of(text: string): string {
  return hash("sha256", text, "hex");
}

/** An active key whose only credential is the SHA-256 of `sk-<name>`. */
export function wireKey(name: string, changes: Partial<Key> = {}): Key {
  return {
    kind: "key",
    namespace: "team-a",
    name,
    state: "Active",
    credentials: [{ name: "current", sha256: sha256Of(`sk-${name}`) }],
    ...changes,
  };
}

/** A key as production has them: restrictions, three limits, labels. */
export function fullKey(index: number): Key {
  return wireKey(`key-${index}`, {
    account: "team-a",
    labels: { tier: "gold", team: "search" },
    modelsAllow: ["claude-*", "gpt-5.4-mini", "gemini-*"],
    modelsDeny: ["*-preview"],
    cidrsAllow: ["10.0.0.0/8", "2001:db8::/32"],
    limits: [
      {
        name: "quota",
        unit: "Cost",
        limit: "250000000000",
        period: "Month",
        timeZone: "Europe/Berlin",
        algorithm: "FixedWindow",
        mode: "Enforce",
      },
      { name: "tokens", unit: "Tokens", limit: "200000", period: "Minute", algorithm: "TokenBucket", mode: "Enforce" },
      {
        name: "requests",
        unit: "Requests",
        limit: "600",
        period: "Minute",
        algorithm: "TokenBucket",
        burst: "100",
        mode: "Enforce",
      },
    ],
  });
}

export function wireAccount(name: string, changes: Partial<Account> = {}): Account {
  return { kind: "account", namespace: "team-a", name, state: "Active", ...changes };
}

export function wireChannel(name: string, changes: Partial<Channel> = {}): Channel {
  return {
    kind: "channel",
    namespace: "team-a",
    name,
    state: "Active",
    provider: "OpenAI",
    baseURL: "https://models.example.com/v1",
    formats: [{ type: "ChatCompletions", path: "/chat/completions" }],
    auth: { location: "Header", name: "authorization", scheme: "Bearer" },
    credentials: [{ name: "main", weight: 1, state: "Active" }],
    privacy: { store: "PassThrough", safetyIdentifier: "Strip", streamObfuscation: "Strip", clientMetadata: "Forward" },
    unsupportedParameters: "Ignore",
    upstreamObjects: "Refuse",
    timeouts: {},
    ...changes,
  };
}

export function wireCredential(channel: string, name = "main", secret = "not-a-real-secret"): Credential {
  return { kind: "credential", namespace: "team-a", channel, name, secret };
}

export function wireRoute(name: string, changes: Partial<Route> = {}): Route {
  return {
    kind: "route",
    namespace: "team-a",
    name,
    model: name,
    visibility: "Listed",
    capabilities: ["Chat"],
    targets: [{ name: "main", channel: "team-a/main", priority: 0, weight: 1 }],
    strategy: "Weighted",
    failover: { maxAttempts: 3, on: ["ConnectFailure"], withinFirstMs: 30_000 },
    keySelector: { namespaces: ["team-a"] },
    ...changes,
  };
}

/** What the security suite's gateway is configured with: one key for each way to be refused, one upstream for all. */

/** Presented by clients; all of the form that keys have, so that only their state and rules differ. */
export const clientKeys = {
  good: "sk-canary-good-0123456789abcdefghijklmnopqrstuv",
  other: "sk-canary-other-0123456789abcdefghijklmnopqrstu",
  unknown: "sk-canary-unkno-0123456789abcdefghijklmnopqrstu",
  suspended: "sk-canary-suspe-0123456789abcdefghijklmnopqrstu",
  expired: "sk-canary-expir-0123456789abcdefghijklmnopqrstu",
  early: "sk-canary-early-0123456789abcdefghijklmnopqrstu",
  /** May call `open-a` and what begins with `team-`, but not `team-secret`. */
  narrow: "sk-canary-narro-0123456789abcdefghijklmnopqrstu",
  /** May call from 10.0.0.0/8 and 2001:db8::/32 only, but not from 10.9.0.0/16. */
  inside: "sk-canary-insid-0123456789abcdefghijklmnopqrstu",
  /** Has a limit of one request a day and may not call `closed`. */
  spent: "sk-canary-spent-0123456789abcdefghijklmnopqrstu",
  /** As `spent`, with its request unused. */
  unspent: "sk-canary-unspe-0123456789abcdefghijklmnopqrs",
} as const;

export type ClientKey = keyof typeof clientKeys;

/** The credential of the channel: must reach the upstream and nobody else. */
export const channelSecret = "canary-channel-secret-98765432109876543210";

const specs: Readonly<Partial<Record<ClientKey, string>>> = {
  suspended: "state: Suspended",
  expired: 'expiresAt: "2020-01-01T00:00:00Z"',
  narrow: 'models: {allow: [open-a, "team-*"], deny: [team-secret]}',
  inside: 'clientCIDRs: {allow: [10.0.0.0/8, "2001:db8::/32"], deny: [10.9.0.0/16]}',
  spent: "models: {deny: [closed]}\n  limits: [{name: once, unit: Requests, limit: '1', period: Day}]",
  unspent: "models: {deny: [closed]}\n  limits: [{name: once, unit: Requests, limit: '1', period: Day}]",
};

function keyManifest(name: ClientKey): string {
  const times = name === "early" ? ', notBefore: "2120-01-01T00:00:00Z"' : "";
  return `apiVersion: v1
kind: Secret
metadata: {name: key-${name}, namespace: default}
stringData: {apiKey: ${clientKeys[name]}}
---
apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: ${name}, namespace: default}
spec:
  credentials: [{name: main, secretKeyRef: {name: key-${name}, key: apiKey}${times}}]
  ${specs[name] ?? "state: Active"}
`;
}

export function channelManifest(baseUrl: string, name = "main"): string {
  return `apiVersion: tollgate.dev/v1alpha1
kind: Channel
metadata: {name: ${name}, namespace: default}
spec:
  provider: OpenAICompatible
  baseURL: ${baseUrl}
  formats: [{type: ChatCompletions}, {type: Responses}, {type: Messages}, {type: GenerateContent}]
  credentials: [{name: main, secretKeyRef: {name: channel, key: apiKey}}]
`;
}

export function routeManifest(
  model: string,
  options: { readonly name?: string; readonly channel?: string } = {},
): string {
  const { name = model, channel = "main" } = options;
  return `apiVersion: tollgate.dev/v1alpha1
kind: ModelRoute
metadata: {name: ${name}, namespace: default}
spec:
  model: ${JSON.stringify(model)}
  targets: [{name: main, channelRef: {name: ${channel}}}]
  price: {inputPerMillion: "1", outputPerMillion: "2"}
`;
}

/** Models that every suite has: `open-a` for good calls, the others for rules. */
export const models = ["open-a", "closed", "team-one", "team-secret", "Case-Model", "maker/model:tag"] as const;

/** All manifests as one text. */
export function rigManifests(upstreamOrigin: string): string {
  const keys = Object.keys(clientKeys).filter((name): name is ClientKey => name in clientKeys && name !== "unknown");
  return [
    `apiVersion: v1
kind: Secret
metadata: {name: channel, namespace: default}
stringData: {apiKey: ${channelSecret}}
`,
    channelManifest(`${upstreamOrigin}/v1`),
    ...keys.map(keyManifest),
    ...models.map((model, index) => routeManifest(model, { name: `route-${index}` })),
  ].join("---\n");
}

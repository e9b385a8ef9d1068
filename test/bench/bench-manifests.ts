/** Writes the folder of manifests that the benchmark runs on: many keys with everything switched on, a channel for each kind
 * of reply. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endpointScenarios } from "./endpoints.ts";

export interface BenchFolder {
  readonly keys: readonly string[];
  /** A file of the folder, with how many keys it holds. */
  readonly keyFile: (index: number) => string;
}

export const keysPerFile = 100;

/** The key of a number: derived, so that a folder of 100,000 needs no list of secrets. */
export function benchKey(index: number): string {
  return `sk-bench-${createHash("sha256").update(`bench ${index}`).digest("hex").slice(0, 32)}`;
}

/** One ApiKey with restrictions, three limits, labels. */
export function keyManifest(index: number, state = "Active"): string {
  const sha256 = createHash("sha256").update(benchKey(index)).digest("hex");
  return `apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: key-${index}, namespace: bench, labels: {team: team-${index % 50}}}
spec:
  state: ${state}
  accountRef: {name: bench}
  credentials:
  - {name: current, sha256: ${sha256}}
  models: {allow: ["bench-*", "other-model"], deny: ["*-preview"]}
  clientCIDRs: {allow: ["127.0.0.0/8", "10.0.0.0/8"]}
  limits:
  - {name: monthly, unit: Cost, limit: "1000000", period: Month}
  - {name: tokens, unit: Tokens, limit: 100G, period: Minute}
  - {name: requests, unit: Requests, limit: 1G, period: Second}
`;
}

/** @param upstream origin of the benchmark's upstream */
export function writeBenchFolder(folder: string, upstream: string, keyCount: number): void {
  mkdirSync(join(folder, "keys"), { recursive: true });
  writeFileSync(join(folder, "base.yaml"), baseManifests(upstream));
  for (let first = 0; first < keyCount; first += keysPerFile) {
    const documents = [];
    for (let index = first; index < Math.min(first + keysPerFile, keyCount); index += 1)
      documents.push(keyManifest(index));
    writeFileSync(keyFilePath(folder, first), documents.join("---\n"));
  }
}

export function keyFilePath(folder: string, index: number): string {
  return join(folder, "keys", `keys-${Math.floor(index / keysPerFile)}.yaml`);
}

function baseManifests(upstream: string): string {
  const channel = (name: string, format = "ChatCompletions"): string => `apiVersion: tollgate.dev/v1alpha1
kind: Channel
metadata: {name: ${name}, namespace: bench}
spec:
  provider: OpenAICompatible
  baseURL: ${upstream}/${name}/v1
  formats: [{type: ${format}}]
  credentials: [{name: main, secretKeyRef: {name: upstream, key: apiKey}}]
`;
  const route = (name: string, channelName: string, capability = "Chat"): string => `apiVersion: tollgate.dev/v1alpha1
kind: ModelRoute
metadata: {name: ${name}, namespace: bench}
spec:
  model: ${name}
  capabilities: [${capability}]
  targets: [{name: only, channelRef: {name: ${channelName}}}]
  price: {inputPerMillion: "2.5", outputPerMillion: "10", cachedInputPerMillion: "0.25", perRequest: "0"}
`;
  return [
    `apiVersion: v1
kind: Secret
metadata: {name: upstream, namespace: bench}
stringData: {apiKey: upstream-secret}
`,
    `apiVersion: tollgate.dev/v1alpha1
kind: Account
metadata: {name: bench, namespace: bench}
spec: {credit: "1000000000"}
`,
    channel("reply"),
    channel("stream"),
    route("bench-reply", "reply"),
    route("bench-stream", "stream"),
    ...endpointScenarios.flatMap(({ answer, body, capability, format }) => [
      channel(answer, format),
      route(body.model, answer, capability),
    ]),
  ].join("---\n");
}

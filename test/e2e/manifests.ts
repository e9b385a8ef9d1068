/** What the end-to-end suite applies beside `examples/kubernetes`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "#scripts/run";

const examples = join(projectRoot, "examples", "kubernetes");

/** The demo upstream with the image and the pace of this run. @param paceMs between two events of a stream */
export function demoUpstream(image: string, name: string, paceMs: number): string {
  return readFileSync(join(examples, "demo-upstream.yaml"), "utf8")
    .replaceAll("demo-upstream", name)
    .replace(/image: .*/, `image: ${image}\n        args: ["--pace", "${paceMs}"]`);
}

export const gateway = readFileSync(join(examples, "gateway.yaml"), "utf8");

/** A slow model for long streams, keys of all three kinds, an account. The digest is that of `sk-` and 40 times `d`. */
export const further = `
apiVersion: tollgate.dev/v1alpha1
kind: Account
metadata: {name: team, namespace: team-a}
spec: {displayName: Team A}
---
apiVersion: tollgate.dev/v1alpha1
kind: Channel
metadata: {name: slow, namespace: team-a}
spec:
  provider: OpenAICompatible
  baseURL: http://slow-upstream.team-a.svc/v1
  credentials:
  - {name: demo, secretKeyRef: {name: demo-upstream, key: apiKey}}
---
apiVersion: tollgate.dev/v1alpha1
kind: ModelRoute
metadata: {name: slow, namespace: team-a}
spec:
  model: slow
  targets:
  - {name: slow, channelRef: {name: slow}}
---
apiVersion: v1
kind: Secret
metadata: {name: load-key, namespace: team-a}
stringData: {apiKey: "sk-${"l".repeat(40)}"}
---
apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: load, namespace: team-a}
spec:
  accountRef: {name: team}
  credentials:
  - {name: current, secretKeyRef: {name: load-key, key: apiKey}}
---
apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: digest, namespace: team-a}
spec:
  credentials:
  - {name: current, sha256: DIGEST}
`;

/** A quota, which proxies that count each for itself cannot keep. */
export const dailyQuota = `
apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: daily, namespace: team-a}
spec:
  credentials:
  - {name: current, sha256: "${"e".repeat(64)}"}
  limits:
  - {name: day, unit: Requests, limit: "10", period: Day}
`;

/** Documents as a manifest holds them, right unless a test makes them wrong: a key and a Secret. */

export const credentials = [{ name: "current", sha256: "ab".repeat(32) }];

export function apiKey(spec: object, metadata: object = {}): object {
  return {
    apiVersion: "tollgate.dev/v1alpha1",
    kind: "ApiKey",
    metadata: { name: "ci-bot", namespace: "team-a", ...metadata },
    spec: { credentials, ...spec },
  };
}

export function secret(members: object): object {
  return { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "team-a" }, ...members };
}

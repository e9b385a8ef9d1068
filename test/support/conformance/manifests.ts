/** Manifests of conformance tests, object by object: JSON documents, which are YAML. */
import { hash } from "node:crypto";

const api = { apiVersion: "tollgate.dev/v1alpha1" };

function metadata(name: string): object {
  return { name, namespace: "default" };
}

/** One file of several objects. */
export function manifestOf(...objects: readonly object[]): string {
  return objects.map((object) => JSON.stringify(object)).join("\n---\n");
}

/** What a client presents for `keyManifest(name)`. */
export function clientKey(name: string): string {
  return `sk-conformance-${name}-0123456789abcdef`;
}

export function keyManifest(name: string, spec: object = {}): object {
  const credentials = [{ name: "current", sha256: hash("sha256", clientKey(name), "hex") }];
  return { ...api, kind: "ApiKey", metadata: metadata(name), spec: { credentials, ...spec } };
}

/** The credential that every channel sends: no client must ever see it. */
export const channelSecret = "conformance-upstream-secret-0123456789";

/** The Secret that channels refer to. */
export function channelSecretManifest(): object {
  return { apiVersion: "v1", kind: "Secret", metadata: metadata("upstream"), stringData: { apiKey: channelSecret } };
}

/** A channel of all four formats. @param origin without a path */
export function channelManifest(name: string, origin: string, spec: object = {}): object {
  const formats = ["ChatCompletions", "Responses", "Messages", "GenerateContent"].map((type) => ({ type }));
  const credentials = [{ name: "main", secretKeyRef: { name: "upstream", key: "apiKey" } }];
  const usual = { provider: "OpenAICompatible", baseURL: `${origin}/v1`, formats, credentials };
  return { ...api, kind: "Channel", metadata: metadata(name), spec: { ...usual, ...spec } };
}

/** A route with one target: the channel of the same name unless `spec` says otherwise. */
export function routeManifest(name: string, spec: object = {}): object {
  const usual = {
    model: name,
    targets: [{ name: "main", channelRef: { name } }],
    price: { inputPerMillion: "1", outputPerMillion: "2" },
  };
  return { ...api, kind: "ModelRoute", metadata: metadata(name), spec: { ...usual, ...spec } };
}

/** A route that asks each channel in turn where the one before fails. */
export function pairManifest(name: string, channels: readonly [string, string], spec: object = {}): object {
  const targets = channels.map((channel, priority) => ({ name: channel, channelRef: { name: channel }, priority }));
  return routeManifest(name, { targets, failover: { maxAttempts: 2, on: ["ServerError"] }, ...spec });
}

export function accountManifest(name: string, spec: object): object {
  return { ...api, kind: "Account", metadata: metadata(name), spec };
}

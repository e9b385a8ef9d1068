/** Manifests of resilience tests, object by object: JSON documents, which are YAML. */
import { hash } from "node:crypto";
import { formats } from "./formats.ts";

const api = { apiVersion: "tollgate.dev/v1alpha1" };
const metadata = (name: string): object => ({ name, namespace: "default" });

/** One file of several objects. */
export function manifest(...objects: readonly object[]): string {
  return objects.map((object) => JSON.stringify(object)).join("\n---\n");
}

/** The raw key of `apiKey(name)`. */
export function rawKey(name: string): string {
  return `sk-test-${name}-0123456789abcdef`;
}

export function apiKey(name: string, spec: object = {}): object {
  const credentials = [{ name: "current", sha256: hash("sha256", rawKey(name), "hex") }];
  return { ...api, kind: "ApiKey", metadata: metadata(name), spec: { credentials, ...spec } };
}

/** Credential that every channel sends. */
export const channelSecret = "upstream-secret-0123456789";

/** Another one of the same Secret, under the key `spare`. */
export const spareSecret = "upstream-spare-0123456789";

export function secret(): object {
  const stringData = { apiKey: channelSecret, spare: spareSecret };
  return { apiVersion: "v1", kind: "Secret", metadata: metadata("upstream"), stringData };
}

/** A channel that speaks all four formats. @param origin without a path, or a port of 127.0.0.1 */
export function channel(name: string, origin: number | string, spec: object = {}): object {
  const base = typeof origin === "number" ? `http://127.0.0.1:${origin}` : origin;
  return {
    ...api,
    kind: "Channel",
    metadata: metadata(name),
    spec: {
      provider: "OpenAICompatible",
      baseURL: `${base}/v1`,
      formats: formats.map((format) => ({ type: format.name })),
      credentials: [{ name: "main", secretKeyRef: { name: "upstream", key: "apiKey" } }],
      ...spec,
    },
  };
}

/** A route whose targets are tried in the order given. */
export function route(model: string, channels: readonly string[], spec: object = {}): object {
  return {
    ...api,
    kind: "ModelRoute",
    metadata: metadata(model),
    spec: {
      model,
      targets: channels.map((name, priority) => ({ name, channelRef: { name }, priority })),
      price: { inputPerMillion: "1", outputPerMillion: "2" },
      ...spec,
    },
  };
}

export function account(name: string, spec: object): object {
  return { ...api, kind: "Account", metadata: metadata(name), spec };
}

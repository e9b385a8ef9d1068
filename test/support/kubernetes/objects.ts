/** Objects for a control plane: paths, and many small keys. */
import type { ControlPlane } from "#test/support/kube-control-plane";
import { sha256Of } from "#test/support/wire-objects";

const plurals: Readonly<Record<string, string>> = {
  ApiKey: "apikeys",
  Channel: "channels",
  ModelRoute: "modelroutes",
  Account: "accounts",
  Secret: "secrets",
  ConfigMap: "configmaps",
};

interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** Path of a kind's collection, or of one object of it. */
export function objectPath(kind: string, namespace: string, name?: string): string {
  const isCore = kind === "Secret" || kind === "ConfigMap";
  const collection = `${isCore ? "/api/v1" : "/apis/tollgate.dev/v1alpha1"}/namespaces/${namespace}/${plurals[kind]}`;
  return name === undefined ? collection : `${collection}/${name}`;
}

function isKubernetesObject(object: object): object is KubernetesObject {
  return "kind" in object && "metadata" in object;
}

/** Applies objects server-side, in order. */
export async function applyAll(plane: ControlPlane, objects: readonly object[]): Promise<void> {
  for (const object of objects) {
    if (!isKubernetesObject(object)) throw new Error("not an object of Kubernetes");
    const { kind, metadata } = object;
    const path = objectPath(kind, metadata.namespace ?? "default", metadata.name);
    await plane.must(
      "PATCH",
      `${path}?fieldManager=test&force=true`,
      JSON.stringify(object),
      "application/apply-patch+yaml",
    );
  }
}

/** Calls back for each number, some at a time: an API server takes hundreds a second, one by one only tens. */
export async function inParallel(
  count: number,
  action: (index: number) => Promise<unknown>,
  atOnce = 16,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) await action(index);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Of the secret of a numbered key: spread as those of real ones are, which the index of a proxy counts on. */
export function numberedDigest(index: number): string {
  return sha256Of(`sk-numbered-${index}`);
}

/** A key with a digest of its own. */
export function numberedKey(index: number, namespace = "default"): object {
  const sha256 = numberedDigest(index);
  return {
    apiVersion: "tollgate.dev/v1alpha1",
    kind: "ApiKey",
    metadata: { name: `key-${index}`, namespace },
    spec: { credentials: [{ name: "current", sha256 }] },
  };
}

/** Makes `count` keys. */
export async function createKeys(plane: ControlPlane, count: number, namespace = "default"): Promise<void> {
  const path = objectPath("ApiKey", namespace);
  await inParallel(count, (index) => plane.must("POST", path, numberedKey(index, namespace)));
}

/** Deletes all objects of a kind in a namespace. */
export async function deleteAll(plane: ControlPlane, kind: string, namespace = "default"): Promise<void> {
  await plane.must("DELETE", objectPath(kind, namespace));
}

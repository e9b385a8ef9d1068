/** Identifies an object by kind, namespace and name, and says which of two versions of it came first. */
import { type ApiObject, compareVersions } from "#operator/kubernetes/api/api-object";
import type { ResourceChange, ResourceKind } from "#operator/resources/resource";

export function changeOf(kind: ResourceKind, { metadata }: ApiObject): ResourceChange {
  return { kind, namespace: kind === "Namespace" ? "" : (metadata.namespace ?? ""), name: metadata.name };
}

/** `namespace/name`: the key of an object among those of its kind. */
export function identityOf({ namespace, name }: ResourceChange): string {
  return `${namespace}/${name}`;
}

export function toChange(kind: ResourceKind, identity: string): ResourceChange {
  const slash = identity.indexOf("/");
  return { kind, namespace: identity.slice(0, slash), name: identity.slice(slash + 1) };
}

/** The key of an object among all. */
export function keyOf({ kind, namespace, name }: ResourceChange): string {
  return `${kind}/${namespace}/${name}`;
}

/** Whether the left version is known to come before the right. */
export function isOlder(left: string | undefined, right: string | undefined): boolean {
  return left !== undefined && right !== undefined && compareVersions(left, right) < 0;
}

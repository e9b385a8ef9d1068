/**
 * Resources as the compiler sees them, whichever source they come from (watched folder or Kubernetes).
 *
 * Objects are immutable: a change is a new object, so caches compare `spec` and `data` by identity. A `ResourceSet` is
 * a live view that its source updates between two notices; all others only read it.
 */
import { inspect } from "node:util";
import type { AccountSpec, ApiKeySpec, ChannelSpec, ModelRouteSpec } from "./types.gen.ts";

/** The place of an object in a file; lines count from 1. */
export interface Origin {
  readonly file: string;
  readonly line: number;
}

export interface ObjectMeta {
  readonly namespace: string;
  readonly name: string;
  readonly labels: { readonly [name: string]: string };
  /** Counts changes of the spec. */
  readonly generation: number;
  /** Milliseconds since the epoch; decides conflicts by age. The folder source has none: there the name decides. */
  readonly createdAtMs?: number;
  readonly uid?: string;
  readonly resourceVersion?: string;
  /**
   * The object was deleted and finalizers hold it. A key counts as gone already, because it is a caller's credential; any
   * other object stays in force, so that traffic ends when its holders are done.
   */
  readonly isDeleting?: true;
  /** The finalizers that hold an object that is being deleted. */
  readonly finalizers?: readonly string[];
  /** Of a Secret: the ApiKey that it belongs to. */
  readonly owner?: OwningKey;
}

/**
 * The ApiKey that a Secret was made for. In a cluster it controls the Secret: the garbage collector deletes the Secret when
 * that object is gone.
 */
export interface OwningKey {
  readonly name: string;
  /** A folder knows its objects by name alone, and generated Secrets are not deleted there. */
  readonly uid?: string;
}

export type OwnKind = "ApiKey" | "Channel" | "ModelRoute" | "Account";
export type ResourceKind = OwnKind | "Secret" | "ConfigMap" | "Namespace";

export interface Resource<Kind extends OwnKind, Spec> {
  readonly kind: Kind;
  readonly metadata: ObjectMeta;
  /** The last good spec; absent when there never was one. For keys absent whenever `invalid` is set. */
  readonly spec?: Spec;
  /** The reason why the present manifest was refused; `spec` is then the previous version. */
  readonly invalid?: string;
  readonly origin?: Origin;
}

export type ApiKeyResource = Resource<"ApiKey", ApiKeySpec>;
export type ChannelResource = Resource<"Channel", ChannelSpec>;
export type ModelRouteResource = Resource<"ModelRoute", ModelRouteSpec>;
export type AccountResource = Resource<"Account", AccountSpec>;
export type OwnResource = ApiKeyResource | ChannelResource | ModelRouteResource | AccountResource;

/** Values of a Secret or ConfigMap. They cannot be printed: only a caller that names the key reads one. */
export class ProtectedData {
  // Lists, not a map: nearly all have one key, and there may be 100,000 of them.
  readonly #keys: readonly string[];
  readonly #values: readonly string[];

  constructor(values: ReadonlyMap<string, string>) {
    this.#keys = [...values.keys()];
    this.#values = [...values.values()];
  }

  get(key: string): string | undefined {
    const index = this.#keys.indexOf(key);
    return index === -1 ? undefined : this.#values[index];
  }

  keys(): string[] {
    return [...this.#keys];
  }

  equals(other: ProtectedData): boolean {
    if (this.#keys.length !== other.#keys.length) return false;
    return this.#keys.every((key, index) => other.get(key) === this.#values[index]);
  }

  toJSON(): string {
    return "[protected]";
  }

  [inspect.custom](): string {
    return "[protected]";
  }
}

export interface DataResource<Kind extends "Secret" | "ConfigMap"> {
  readonly kind: Kind;
  readonly metadata: ObjectMeta;
  readonly data: ProtectedData;
  readonly origin?: Origin;
}

export type SecretResource = DataResource<"Secret">;
export type ConfigMapResource = DataResource<"ConfigMap">;

export interface NamespaceResource {
  readonly kind: "Namespace";
  readonly metadata: ObjectMeta;
  readonly origin?: Origin;
}

export type AnyResource = OwnResource | SecretResource | ConfigMapResource | NamespaceResource;

/** A problem of the source that keeps an object, or a version of it, out of the set. */
export interface SourceProblem {
  readonly origin: Origin;
  /** Dotted path of the field that causes it, if one does. */
  readonly field?: string;
  readonly message: string;
}

/** All objects of a source. Maps are keyed by `namespace/name`, namespaces by their name. */
export interface ResourceSet {
  readonly apiKeys: ReadonlyMap<string, ApiKeyResource>;
  readonly channels: ReadonlyMap<string, ChannelResource>;
  readonly modelRoutes: ReadonlyMap<string, ModelRouteResource>;
  readonly accounts: ReadonlyMap<string, AccountResource>;
  readonly secrets: ReadonlyMap<string, SecretResource>;
  readonly configMaps: ReadonlyMap<string, ConfigMapResource>;
  readonly namespaces: ReadonlyMap<string, NamespaceResource>;
  readonly problems: readonly SourceProblem[];
}

/** An object to reconcile: it was added, changed or removed. */
export interface ResourceChange {
  readonly kind: ResourceKind;
  readonly namespace: string;
  readonly name: string;
}

/** The key of an object in its map of a `ResourceSet`. */
export function identityOf(metadata: { readonly namespace: string; readonly name: string }): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/**
 * Decides a conflict: the older object wins, then the lesser namespace/name (docs/design/configuration.md 1.2).
 * Negative: `left` wins.
 */
export function compareByAge(left: ObjectMeta, right: ObjectMeta): number {
  const byAge = (left.createdAtMs ?? 0) - (right.createdAtMs ?? 0);
  if (byAge !== 0) return byAge;
  const leftName = identityOf(left);
  const rightName = identityOf(right);
  return leftName < rightName ? -1 : leftName > rightName ? 1 : 0;
}

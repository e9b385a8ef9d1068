/** The `ResourceSet` that a source fills. It finds the map of an object by its kind. */
import {
  type AccountResource,
  type AnyResource,
  type ApiKeyResource,
  type ChannelResource,
  type ConfigMapResource,
  identityOf,
  type ModelRouteResource,
  type NamespaceResource,
  type ResourceChange,
  type ResourceKind,
  type ResourceSet,
  type SecretResource,
  type SourceProblem,
} from "./resource.ts";

export class MutableResourceSet implements ResourceSet {
  readonly apiKeys = new Map<string, ApiKeyResource>();
  readonly channels = new Map<string, ChannelResource>();
  readonly modelRoutes = new Map<string, ModelRouteResource>();
  readonly accounts = new Map<string, AccountResource>();
  readonly secrets = new Map<string, SecretResource>();
  readonly configMaps = new Map<string, ConfigMapResource>();
  readonly namespaces = new Map<string, NamespaceResource>();
  problems: readonly SourceProblem[] = [];

  set(resource: AnyResource): void {
    const identity = identityOf(resource.metadata);
    switch (resource.kind) {
      case "ApiKey":
        this.apiKeys.set(identity, resource);
        break;
      case "Channel":
        this.channels.set(identity, resource);
        break;
      case "ModelRoute":
        this.modelRoutes.set(identity, resource);
        break;
      case "Account":
        this.accounts.set(identity, resource);
        break;
      case "Secret":
        this.secrets.set(identity, resource);
        break;
      case "ConfigMap":
        this.configMaps.set(identity, resource);
        break;
      case "Namespace":
        this.namespaces.set(resource.metadata.name, resource);
        break;
      default:
        resource satisfies never;
    }
  }

  get({ kind, namespace, name }: ResourceChange): AnyResource | undefined {
    return this.#mapOf(kind).get(kind === "Namespace" ? name : `${namespace}/${name}`);
  }

  delete({ kind, namespace, name }: ResourceChange): boolean {
    return this.#mapOf(kind).delete(kind === "Namespace" ? name : `${namespace}/${name}`);
  }

  /** All objects of a kind. */
  all(kind: ResourceKind): Iterable<AnyResource> {
    return this.#mapOf(kind).values();
  }

  countOf(kind: ResourceKind): number {
    return this.#mapOf(kind).size;
  }

  #mapOf(kind: ResourceKind): Pick<Map<string, AnyResource>, "get" | "delete" | "values" | "size"> {
    switch (kind) {
      case "ApiKey":
        return this.apiKeys;
      case "Channel":
        return this.channels;
      case "ModelRoute":
        return this.modelRoutes;
      case "Account":
        return this.accounts;
      case "Secret":
        return this.secrets;
      case "ConfigMap":
        return this.configMaps;
      case "Namespace":
        return this.namespaces;
      default:
        return kind satisfies never;
    }
  }
}

/** Every object of a set as a list of changes, for the first pass. */
export function everyObject(resources: ResourceSet): ResourceChange[] {
  const changes: ResourceChange[] = [];
  for (const map of [
    resources.namespaces,
    resources.secrets,
    resources.configMaps,
    resources.accounts,
    resources.channels,
    resources.modelRoutes,
    resources.apiKeys,
  ]) {
    for (const { kind, metadata } of map.values()) {
      changes.push({ kind, namespace: metadata.namespace, name: metadata.name });
    }
  }
  return changes;
}

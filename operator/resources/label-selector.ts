/** Evaluates label selectors as Kubernetes does, and selects namespaces by them. */
import type { NamespaceResource } from "./resource.ts";
import type { LabelSelector, AllowedNamespaces as NamespacesFrom } from "./types.gen.ts";

type Labels = { readonly [name: string]: string };

/** Kubernetes itself sets it on each namespace. */
const nameLabel = "kubernetes.io/metadata.name";

/** Whether labels satisfy a selector; an empty selector selects everything. */
export function matchesSelector(selector: LabelSelector, labels: Labels): boolean {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    if (labels[key] !== value) return false;
  }
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    switch (operator) {
      case "In":
        if (value === undefined || !values.includes(value)) return false;
        break;
      case "NotIn":
        if (value !== undefined && values.includes(value)) return false;
        break;
      case "Exists":
        if (value === undefined) return false;
        break;
      case "DoesNotExist":
        if (value !== undefined) return false;
        break;
      default:
        operator satisfies never;
    }
  }
  return true;
}

/** Labels of a namespace, with the one that Kubernetes itself sets on each. */
function labelsOfNamespace(namespace: NamespaceResource): Labels {
  return { [nameLabel]: namespace.metadata.name, ...namespace.metadata.labels };
}

/** Whether a selector asks for more than the name of a namespace. */
function asksForLabels({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)].some((key) => key !== nameLabel);
}

/**
 * Whether a namespace is one of those that `from` names, seen from the namespace of the object that says so.
 *
 * Of an unknown namespace (namespaces are not read, or this one has not come yet) only the name is known. A selector that
 * asks for a label does not select it: a label that must be absent would only seem to be absent.
 */
export function isNamespaceAllowed(
  from: NamespacesFrom | undefined,
  ownNamespace: string,
  candidate: string,
  namespaces: ReadonlyMap<string, NamespaceResource>,
): boolean {
  switch (from?.from ?? "Same") {
    case "All":
      return true;
    case "Same":
      return candidate === ownNamespace;
    case "Selector": {
      const selector = from?.selector ?? {};
      const namespace = namespaces.get(candidate);
      if (namespace !== undefined) return matchesSelector(selector, labelsOfNamespace(namespace));
      return !asksForLabels(selector) && matchesSelector(selector, { [nameLabel]: candidate });
    }
    default:
      return false;
  }
}

/** All namespaces that `from` names, sorted; `["*"]` for every one. */
export function resolveNamespaces(
  from: NamespacesFrom | undefined,
  ownNamespace: string,
  namespaces: ReadonlyMap<string, NamespaceResource>,
): string[] {
  switch (from?.from ?? "Same") {
    case "All":
      return ["*"];
    case "Same":
      return [ownNamespace];
    default:
      return [...namespaces.values()]
        .filter((namespace) => matchesSelector(from?.selector ?? {}, labelsOfNamespace(namespace)))
        .map((namespace) => namespace.metadata.name)
        .sort();
  }
}

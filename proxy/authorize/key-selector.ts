/** Decides whether a route is open to a key: the second half of the model restriction, written on the route. */
import type { Key, Labels, Route, SelectorRequirement } from "#proxy/snapshot/types.gen";

const noLabels: Labels = {};

/** Above this many namespaces a set is quicker than looking through the list. */
const namespacesScanned = 8;

const namespaceSets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** All parts of the selector must hold, as in a Kubernetes label selector; an empty one holds for every key. */
export function selectsKey(selector: Route["keySelector"], key: Key): boolean {
  if (!includesNamespace(selector.namespaces, key.namespace)) return false;
  const labels = key.labels ?? noLabels;
  if (selector.matchLabels !== undefined) {
    for (const [name, value] of Object.entries(selector.matchLabels)) {
      if (labelOf(labels, name) !== value) return false;
    }
  }
  if (selector.matchExpressions === undefined) return true;
  return selector.matchExpressions.every((requirement) => holds(requirement, labelOf(labels, requirement.key)));
}

function includesNamespace(namespaces: readonly string[], namespace: string): boolean {
  if (namespaces.length <= namespacesScanned) return namespaces.includes("*") || namespaces.includes(namespace);
  let set = namespaceSets.get(namespaces);
  if (set === undefined) {
    set = new Set(namespaces);
    namespaceSets.set(namespaces, set);
  }
  return set.has("*") || set.has(namespace);
}

/** Own labels only: a label named `constructor` is absent unless somebody set it. */
function labelOf(labels: Labels, name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined;
}

function holds(requirement: SelectorRequirement, value: string | undefined): boolean {
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default: {
      const unknown: never = requirement.operator;
      throw new TypeError(`unknown selector operator ${String(unknown)}`);
    }
  }
}

/**
 * The part of the cluster that an operator may see. An object outside of it may exist although the operator cannot find
 * it. Pure.
 */
import { isNamespaceAllowed } from "#operator/resources/label-selector";
import type { Verdict } from "#operator/resources/reasons";
import type { ChannelResource, ModelRouteResource, NamespaceResource } from "#operator/resources/resource";
import { refused } from "./result.ts";

export interface WatchScope {
  /** Namespaces whose objects are read; empty: all. */
  readonly watchNamespaces: readonly string[];
  /** Whether Namespaces are read, by whose labels selectors choose. */
  readonly readsNamespaces: boolean;
}

/** The scope of an operator that sees everything, and of a folder. */
export const wholeScope: WatchScope = { watchNamespaces: [], readsNamespaces: true };

const switchOn = "switch operator.namespaceSelectors on";

/** The message about a channel that is not known. @param identity `namespace/name` */
export function absentChannel(identity: string, { watchNamespaces }: WatchScope): string {
  const [namespace = ""] = identity.split("/");
  if (watchNamespaces.length === 0 || watchNamespaces.includes(namespace))
    return `Channel ${identity} does not exist; create it or correct channelRef.`;
  return `Channel ${identity} is in a namespace that this operator does not watch; add ${namespace} to operator.watchNamespaces, or use a channel of a watched namespace.`;
}

/** The message about a channel that does not admit routes of another namespace; undefined when it does. */
export function refusalBy(
  { metadata, spec }: ChannelResource,
  namespace: string,
  namespaces: ReadonlyMap<string, NamespaceResource>,
  { readsNamespaces }: WatchScope,
): string | undefined {
  const { allowedNamespaces } = spec ?? {};
  if (isNamespaceAllowed(allowedNamespaces, metadata.namespace, namespace, namespaces)) return undefined;
  const channel = `Channel ${metadata.namespace}/${metadata.name}`;
  if (allowedNamespaces?.from !== "Selector")
    return `${channel} does not admit namespace ${namespace}; add it to its spec.allowedNamespaces.`;
  if (!readsNamespaces)
    return `${channel} admits namespaces by their labels, which this operator does not read: ${switchOn}, or let its spec.allowedNamespaces be from: All.`;
  if (!namespaces.has(namespace))
    return `${channel} does not admit namespace ${namespace}, whose labels are not known: create the Namespace, with labels as its spec.allowedNamespaces.selector asks.`;
  return `${channel} does not admit namespace ${namespace}; label the namespace as its spec.allowedNamespaces.selector asks.`;
}

/** The problem of a route's choice of namespaces; undefined when there is none. */
export function unreadableCallers(
  { spec }: ModelRouteResource,
  { readsNamespaces }: WatchScope,
): Verdict<"ResolvedRefs"> | undefined {
  if (readsNamespaces || spec?.keySelector?.namespaces?.from !== "Selector") return undefined;
  return refused(
    "NotAllowed",
    `spec.keySelector.namespaces selects namespaces by their labels, which this operator does not read, so no key may call the route: ${switchOn}, or use from: Same or All.`,
  );
}

/**
 * Checks the references of model routes: channels that admit the namespace, other routes without cycles, and public
 * names that only one route claims.
 */
import { isNamespaceAllowed } from "#operator/resources/label-selector";
import type { ModelRoute } from "#operator/resources/types.gen";
import type { ObjectSet, Report } from "./object-set.ts";

/** The depth of references that a route may have (docs/design/configuration.md 2.3). */
const depthMax = 3;

export function checkRouteReferences(set: ObjectSet, report: Report): void {
  const names = new Map<string, string>();
  const chains: Chains = new Map();
  // The first by name has a public name, as in the operator (docs/design/configuration.md 1.2).
  for (const [, route] of [...set.routes].sort(([left], [right]) => (left < right ? -1 : 1))) {
    checkChannels(route, set, report);
    checkModels(route, set, chains, report);
    checkNames(route, names, report);
  }
}

function checkChannels(route: ModelRoute, set: ObjectSet, report: Report): void {
  const { namespace } = route.metadata;
  const namespaces = new Map(
    [...set.namespaces].map(([name, { metadata }]) => [
      name,
      { kind: "Namespace" as const, metadata: { namespace: "", name, labels: metadata.labels ?? {}, generation: 0 } },
    ]),
  );
  for (const [index, { channelRef }] of route.spec.targets.entries()) {
    if (channelRef === undefined) continue;
    const path = ["spec", "targets", index, "channelRef"];
    const owner = channelRef.namespace ?? namespace;
    const channel = set.channels.get(`${owner}/${channelRef.name}`);
    if (channel === undefined) {
      report(
        route,
        [...path, "name"],
        `no Channel ${channelRef.name} in namespace ${owner}: create it or name another`,
      );
    } else if (
      owner !== namespace &&
      !isNamespaceAllowed(channel.spec.allowedNamespaces, owner, namespace, namespaces)
    ) {
      const isLabelled = channel.spec.allowedNamespaces?.from !== "Selector" || namespaces.has(namespace);
      const remedy = isLabelled ? "widen its allowedNamespaces" : "give the Namespace with its labels as well";
      const message = `Channel ${owner}/${channelRef.name} does not allow namespace ${namespace}: ${remedy}`;
      report(route, [...path, "namespace"], message);
    }
  }
}

function checkModels(route: ModelRoute, set: ObjectSet, chains: Chains, report: Report): void {
  const { namespace } = route.metadata;
  for (const [index, { modelRef }] of route.spec.targets.entries()) {
    if (modelRef === undefined) continue;
    const path = ["spec", "targets", index, "modelRef", "name"];
    if (!set.routes.has(`${namespace}/${modelRef.name}`)) {
      report(route, path, `no ModelRoute ${modelRef.name} in namespace ${namespace}: create it or name another`);
      continue;
    }
    const { isCycle, depth } = follow(`${namespace}/${modelRef.name}`, set, chains, 1);
    if (isCycle) report(route, path, "the references form a cycle: break it");
    else if (depth + 1 > depthMax) report(route, path, `a chain of more than ${depthMax} references: shorten it`);
  }
}

interface Chain {
  readonly isCycle: boolean;
  /** References one after the other below the route, on the longest way. */
  readonly depth: number;
}

/** The results by route; a route that is being followed is a cycle when it is met again. */
type Chains = Map<string, Chain>;

/** Deep enough to tell; a deeper chain is too long whatever follows. */
const followedMax = 100;

function follow(identity: string, set: ObjectSet, chains: Chains, steps: number): Chain {
  const known = chains.get(identity);
  if (known !== undefined) return known;
  if (steps > followedMax) return { isCycle: false, depth: followedMax };
  chains.set(identity, { isCycle: true, depth: 0 });
  const route = set.routes.get(identity);
  let isCycle = false;
  let depth = 0;
  for (const { modelRef } of route?.spec.targets ?? []) {
    if (modelRef === undefined) continue;
    const below = follow(`${route?.metadata.namespace}/${modelRef.name}`, set, chains, steps + 1);
    isCycle ||= below.isCycle;
    depth = Math.max(depth, below.depth + 1);
  }
  const chain = { isCycle, depth };
  chains.set(identity, chain);
  return chain;
}

function checkNames(route: ModelRoute, names: Map<string, string>, report: Report): void {
  const { namespace, name } = route.metadata;
  const model = route.spec.model;
  const claims: [string, (string | number)[]][] = [
    [model ?? name, model === undefined ? ["metadata", "name"] : ["spec", "model"]],
    ...(route.spec.aliases ?? []).map((alias, index): [string, (string | number)[]] => [
      alias,
      ["spec", "aliases", index],
    ]),
  ];
  for (const [claim, path] of claims) {
    const key = `${namespace}/${claim}`;
    const owner = names.get(key);
    if (owner === undefined) names.set(key, name);
    else if (owner !== name)
      report(route, path, `Duplicate value: ModelRoute ${namespace}/${owner} already has the public name ${claim}`);
  }
}

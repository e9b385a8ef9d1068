/**
 * Compiles routes together: the owner of a public name is known only among all claimants, and the targets behind a
 * reference are computed once for all routes that lead there. Called by `compilation.ts`.
 */

import type { CompiledState, PassChanges } from "#operator/compile/compiled-state";
import type { FaultGuard } from "#operator/compile/fault-guard";
import { type QuotaScope, withoutHardRoute } from "#operator/compile/limits/hard-quotas";
import { assignNames, type NameClaim, type NameVerdict, OwnershipClaims } from "#operator/compile/resolve-conflicts";
import type { WatchScope } from "#operator/compile/watch-scope";
import { resolveNamespaces } from "#operator/resources/label-selector";
import { publicNamesOf } from "#operator/resources/model-route";
import type { ModelRouteResource, ResourceSet } from "#operator/resources/resource";
import { compileModelRoute } from "./compile-model-route.ts";
import type { TargetSurroundings } from "./flatten-targets.ts";
import { RouteReferences } from "./route-references.ts";

export interface RouteCompilerOptions {
  readonly resources: ResourceSet;
  readonly quotaScope: QuotaScope;
  readonly reach: WatchScope;
  readonly state: CompiledState;
  readonly guard: FaultGuard;
}

export class RouteCompiler {
  readonly #options: RouteCompilerOptions;
  readonly #names = new OwnershipClaims();

  constructor(options: RouteCompilerOptions) {
    this.#options = options;
  }

  /** Compiles these routes and those that share a name with one of them, pausing after each. */
  *compile(identities: ReadonlySet<string>, pass: PassChanges): Generator<void, void> {
    const { resources, reach, state, guard } = this.#options;
    const { channels, namespaces } = resources;
    const { modelRoutes } = resources;
    // For other routes, a route that cannot be read does not exist.
    const references = new RouteReferences((of) =>
      guard.isUnread("ModelRoute", of) ? undefined : modelRoutes.get(of),
    );
    const isChannelServed = (channel: string) => state.objects.has(`channel/${channel}`);
    const surroundings = { references, drafted: new Map(), channels, namespaces, reach, isChannelServed };
    const failed = new Set<string>();
    const attempt = (identity: string, work: (route: ModelRouteResource | undefined) => void) => {
      if (failed.has(identity)) return;
      const route = references.routeOf(identity) ?? modelRoutes.get(identity);
      if (!guard.attempt(`route/${identity}`, route, pass, () => work(route))) failed.add(identity);
    };
    const affected = new Set(identities);
    for (const identity of identities) attempt(identity, (route) => this.#addRivals(identity, route, affected));
    const claims: NameClaim[] = [];
    for (const identity of affected) attempt(identity, (route) => claims.push(...this.#claimOf(route)));
    const verdicts = assignNames(claims);
    for (const identity of affected) {
      attempt(identity, (route) => this.#compileRoute(identity, route, verdicts.get(identity), surroundings, pass));
      yield;
    }
  }

  #compileRoute(
    identity: string,
    route: ModelRouteResource | undefined,
    names: NameVerdict | undefined,
    surroundings: TargetSurroundings,
    pass: PassChanges,
  ): void {
    const { quotaScope, state } = this.#options;
    const compiled =
      route && withoutHardRoute(compileModelRoute(route, names, this.#visibleTo(route), surroundings), quotaScope);
    state.put(`route/${identity}`, compiled?.object, pass);
    state.putResult(`route/${identity}`, compiled?.result, pass);
  }

  /** All routes that share a name, directly or through others: a route that loses one frees its names for another. */
  #addRivals(identity: string, route: ModelRouteResource | undefined, affected: Set<string>): void {
    // Also when the names stay: a route that becomes visible to more namespaces may meet a rival.
    const open = [...this.#names.set(identity, route ? publicNamesOf(route) : []), ...this.#names.tokensOf(identity)];
    const seen = new Set(open);
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      for (const rival of this.#names.claimantsOf(name)) {
        affected.add(rival);
        for (const other of this.#names.tokensOf(rival)) {
          if (seen.has(other)) continue;
          seen.add(other);
          open.push(other);
        }
      }
    }
  }

  #claimOf(route: ModelRouteResource | undefined): NameClaim[] {
    const [model, ...aliases] = route ? publicNamesOf(route) : [];
    if (!route || model === undefined) return [];
    return [{ metadata: route.metadata, model, aliases, namespaces: this.#visibleTo(route) }];
  }

  #visibleTo({ metadata, spec }: ModelRouteResource): string[] {
    return resolveNamespaces(spec?.keySelector?.namespaces, metadata.namespace, this.#options.resources.namespaces);
  }
}

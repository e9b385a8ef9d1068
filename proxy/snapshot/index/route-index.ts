/**
 * Finds the routes of a public model name: exact names and aliases first, then the longest pattern. It is rebuilt when
 * a route changes; a lookup costs one map access for each distinct length of pattern, however many routes there are.
 */
import type { Route } from "#proxy/snapshot/types.gen";

interface PatternTable {
  readonly byLiteral: Map<string, Route[]>;
  /** Distinct lengths of the literals, longest first. */
  lengths: number[];
}

export class RouteIndex {
  /** All routes in order of namespace/name. */
  readonly routes: readonly Route[];
  readonly #exact = new Map<string, Route[]>();
  readonly #prefixes: PatternTable = { byLiteral: new Map(), lengths: [] };
  readonly #suffixes: PatternTable = { byLiteral: new Map(), lengths: [] };

  constructor(routes: Iterable<Route>) {
    this.routes = [...routes].sort(byName);
    for (const route of this.routes) {
      // An internal route is reached through another route's targets only, which are flattened before they come here.
      if (route.visibility === "Internal") continue;
      for (const model of new Set([route.model, ...(route.aliases ?? [])])) this.#add(model, route);
    }
    this.#prefixes.lengths = distinctLengths(this.#prefixes);
    this.#suffixes.lengths = distinctLengths(this.#suffixes);
  }

  routesFor(model: string): readonly Route[] {
    const exact = this.#exact.get(model) ?? [];
    if (this.#prefixes.lengths.length === 0 && this.#suffixes.lengths.length === 0) return exact;
    const matches: { length: number; routes: readonly Route[] }[] = [];
    for (const length of this.#prefixes.lengths) {
      const routes = length <= model.length ? this.#prefixes.byLiteral.get(model.slice(0, length)) : undefined;
      if (routes !== undefined) matches.push({ length, routes });
    }
    for (const length of this.#suffixes.lengths) {
      const routes =
        length <= model.length ? this.#suffixes.byLiteral.get(model.slice(model.length - length)) : undefined;
      if (routes !== undefined) matches.push({ length, routes });
    }
    if (matches.length === 0) return exact;
    // The sort is stable: of a prefix and a suffix of one length the prefix comes first.
    matches.sort((one, other) => other.length - one.length);
    return [...new Set([...exact, ...matches.flatMap((match) => match.routes)])];
  }

  #add(model: string, route: Route): void {
    if (model.endsWith("*")) append(this.#prefixes.byLiteral, model.slice(0, -1), route);
    else if (model.startsWith("*")) append(this.#suffixes.byLiteral, model.slice(1), route);
    else append(this.#exact, model, route);
  }
}

function append(table: Map<string, Route[]>, name: string, route: Route): void {
  const routes = table.get(name);
  if (routes === undefined) table.set(name, [route]);
  else routes.push(route);
}

function distinctLengths(table: PatternTable): number[] {
  return [...new Set([...table.byLiteral.keys()].map((literal) => literal.length))].sort((one, other) => other - one);
}

function byName(one: Route, other: Route): number {
  if (one.namespace !== other.namespace) return one.namespace < other.namespace ? -1 : 1;
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
}

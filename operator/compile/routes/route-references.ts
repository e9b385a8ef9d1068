/**
 * Follows the `modelRef` references between routes: finds routes that are part of a cycle, and the depth of the others.
 *
 * It serves one pass of the compiler. Each route is read once and followed once, however many others lead to it, and
 * without recursion, because a chain may be as long as there are routes. Repeated questions within a pass get the same
 * result, so a change that comes meanwhile cannot cause an endless cycle; the next pass sees the change.
 */
import type { ModelRouteResource } from "#operator/resources/resource";

export const referenceDepthMax = 3;
/** Routes searched for a way back, so that each route of a large tangle costs no more than one of a small one. */
const searchedMax = 32;
/** Routes of a cycle named in a message. */
const namedMax = 8;

interface Node {
  readonly identity: string;
  readonly route: ModelRouteResource | undefined;
  /** The routes it refers to, existing or not. */
  readonly next: readonly string[];
  /** When it was first visited, and the earliest route that it leads back to; undefined: not yet visited. */
  order?: number;
  earliest: number;
  /** Its part of the graph is not known yet. */
  isOpen: boolean;
  /** Routes of one cycle have the same component. */
  circle?: number;
  /** References one after the other below it, at most one more than allowed. */
  depth: number;
}

export class RouteReferences {
  readonly #routeOf: (identity: string) => ModelRouteResource | undefined;
  readonly #nodes = new Map<string, Node>();
  #count = 0;

  constructor(routeOf: (identity: string) => ModelRouteResource | undefined) {
    this.#routeOf = routeOf;
  }

  /** A route as it is for the whole of the pass. */
  routeOf(identity: string): ModelRouteResource | undefined {
    return this.#nodeOf(identity).route;
  }

  /** Whether a route leads back to itself. */
  isInCycle(identity: string): boolean {
    return this.#followed(identity).circle !== undefined;
  }

  /** Whether more references follow one another below a route than allowed; cycles below it are not followed. */
  isTooDeep(identity: string): boolean {
    return this.#followed(identity).depth > referenceDepthMax;
  }

  /** A short way from a route of a cycle back to it, as identities; `...` replaces those left out. */
  cyclePath(identity: string): string[] {
    const { circle } = this.#followed(identity);
    const from = new Map<string, string>();
    const reached = [identity];
    for (const at of reached) {
      for (const next of this.#nodeOf(at).next) {
        if (next === identity) return shortened(pathTo(at, identity, from));
        if (from.has(next) || reached.length === searchedMax || this.#followed(next).circle !== circle) continue;
        from.set(next, at);
        reached.push(next);
      }
    }
    return [...reached.slice(0, 2), "...", identity];
  }

  #nodeOf(identity: string): Node {
    let node = this.#nodes.get(identity);
    if (node === undefined) {
      const route = this.#routeOf(identity);
      node = { identity, route, next: referencesFrom(route), earliest: 0, isOpen: false, depth: 0 };
      this.#nodes.set(identity, node);
    }
    return node;
  }

  #followed(identity: string): Node {
    const node = this.#nodeOf(identity);
    if (node.order === undefined) this.#follow(node);
    return node;
  }

  /** Tarjan's strongly connected components; each is complete only after all that it leads to. */
  #follow(start: Node): void {
    const open: Node[] = [];
    const path = [this.#enter(start, open)];
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const { node } = step;
      const identity = node.next[step.position];
      step.position += 1;
      if (identity === undefined) {
        path.pop();
        const before = path.at(-1)?.node;
        if (before !== undefined) before.earliest = Math.min(before.earliest, node.earliest);
        if (node.earliest === node.order) this.#complete(node, open);
        continue;
      }
      const next = this.#nodeOf(identity);
      if (next.order === undefined) path.push(this.#enter(next, open));
      else if (next.isOpen) node.earliest = Math.min(node.earliest, next.order);
    }
  }

  #enter(node: Node, open: Node[]): { readonly node: Node; position: number } {
    node.order = node.earliest = this.#count;
    this.#count += 1;
    node.isOpen = true;
    open.push(node);
    return { node, position: 0 };
  }

  /** All routes visited since `first` that are still open lead to each other. */
  #complete(first: Node, open: Node[]): void {
    const members = open.splice(open.lastIndexOf(first));
    const isCircle = members.length > 1 || first.next.includes(first.identity);
    for (const member of members) {
      member.isOpen = false;
      if (isCircle && first.order !== undefined) member.circle = first.order;
    }
    if (!isCircle) first.depth = this.#depthOf(first);
  }

  #depthOf({ next }: Node): number {
    let depth = 0;
    for (const identity of next) {
      const below = this.#nodeOf(identity);
      if (below.circle === undefined) depth = Math.max(depth, below.depth + 1);
    }
    return Math.min(depth, referenceDepthMax + 1);
  }
}

function referencesFrom(route: ModelRouteResource | undefined): string[] {
  const names = new Set((route?.spec?.targets ?? []).flatMap(({ modelRef }) => (modelRef ? [modelRef.name] : [])));
  return [...names].map((name) => `${route?.metadata.namespace}/${name}`);
}

function pathTo(end: string, start: string, from: ReadonlyMap<string, string>): string[] {
  const path = [start];
  for (let at: string | undefined = end; at !== undefined && at !== start; at = from.get(at)) path.push(at);
  return [...path, start].reverse();
}

function shortened(path: readonly string[]): string[] {
  return path.length <= namedMax ? [...path] : [...path.slice(0, namedMax - 2), "...", ...path.slice(-1)];
}

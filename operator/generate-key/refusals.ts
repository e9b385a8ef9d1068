/**
 * Remembers refusals to create Secrets, and says when to try again.
 *
 * A refusal has a scope: a namespace (over its quota, without a Role, terminating) or the API server as a whole. Each
 * scope waits by itself, so that one namespace delays no other. A first refusal holds back everything else of its
 * scope, and one Secret is tried when the wait is over. A Secret that is refused again while others of its scope
 * succeed waits alone.
 */
import { ApiError } from "#operator/kubernetes/api/api-error";
import { Backoff } from "#operator/kubernetes/watch/backoff";

interface Scope {
  readonly backoff: Backoff;
  notBefore: number;
  isHeldUp: boolean;
  isTried: boolean;
  /** How often each Secret was refused; by identity. */
  readonly attempts: Map<string, number>;
  readonly told: Set<string>;
}

/** A place in a namespace. */
export interface RefusedPlace {
  readonly namespace: string;
  readonly identity: string;
}

/** The name of no namespace. */
const server = "";
/** Waits grow to so many times the first. */
const growTimes = 12;

export class Refusals {
  readonly #firstMs: number;
  readonly #scopes = new Map<string, Scope>();

  constructor(firstMs: number) {
    this.#firstMs = firstMs;
  }

  /** Whether no wanted Secret was refused. */
  get isEmpty(): boolean {
    return this.#scopes.size === 0;
  }

  /** How often it was refused: Secrets without a refusal go first. */
  attemptsOf({ namespace, identity }: RefusedPlace): number {
    return this.#scopes.get(namespace)?.attempts.get(identity) ?? 0;
  }

  /** Notes that it is tried now. @returns false when it has to wait */
  begin(place: RefusedPlace, now: number): boolean {
    const scopes = this.#scopesOf(place);
    if (!scopes.every((scope) => mayTry(scope, place.identity, now))) return false;
    for (const scope of scopes) scope.isTried = true;
    return true;
  }

  /** @returns whether its namespace, or the server, has not refused for this cause before */
  refuse(place: RefusedPlace, cause: unknown, now: number): boolean {
    const isOfNamespace = this.#note(place.namespace, place.identity, cause, now);
    // 429, an error of the server or no response: it would refuse the others as well.
    if (isOfServer(cause)) return this.#note(server, place.identity, cause, now);
    this.#scopes.delete(server);
    return isOfNamespace;
  }

  accept({ namespace, identity }: RefusedPlace): void {
    this.#scopes.delete(server);
    const scope = this.#scopes.get(namespace);
    if (scope === undefined) return;
    scope.isHeldUp = false;
    scope.isTried = false;
    scope.attempts.delete(identity);
    if (scope.attempts.size === 0) this.#scopes.delete(namespace);
  }

  /** Forgets Secrets that are no longer wanted. */
  keepOnly(identities: ReadonlySet<string>): void {
    for (const [name, { attempts }] of this.#scopes) {
      for (const identity of attempts.keys()) if (!identities.has(identity)) attempts.delete(identity);
      if (attempts.size === 0) this.#scopes.delete(name);
    }
  }

  /** When the next wait is over. A wait that is over may be behind another one: trying it would be in vain. */
  dueInMs(now: number): number {
    const waits = [...this.#scopes.values()].map(({ notBefore }) => notBefore - now).filter((waitMs) => waitMs > 0);
    return waits.length === 0 ? this.#firstMs : Math.ceil(Math.min(...waits));
  }

  #scopesOf({ namespace }: RefusedPlace): Scope[] {
    return [server, namespace].flatMap((name) => this.#scopes.get(name) ?? []);
  }

  #note(name: string, identity: string, cause: unknown, now: number): boolean {
    let scope = this.#scopes.get(name);
    if (scope === undefined) {
      const backoff = new Backoff(this.#firstMs, growTimes * this.#firstMs);
      scope = { backoff, notBefore: now, isHeldUp: true, isTried: false, attempts: new Map(), told: new Set() };
      this.#scopes.set(name, scope);
    }
    const attempts = scope.attempts.get(identity) ?? 0;
    scope.attempts.set(identity, attempts + 1);
    scope.isHeldUp ||= attempts === 0;
    scope.isTried = false;
    // Those under way at the same time are one failure.
    if (now >= scope.notBefore) scope.notBefore = now + scope.backoff.next();
    const told = scope.told.size;
    scope.told.add(causeOf(cause));
    return scope.told.size > told;
  }
}

function mayTry(scope: Scope, identity: string, now: number): boolean {
  if (scope.isHeldUp) return !scope.isTried && now >= scope.notBefore;
  return now >= scope.notBefore || !scope.attempts.has(identity);
}

function isOfServer(cause: unknown): boolean {
  if (!(cause instanceof ApiError)) return false;
  return cause.status === undefined || cause.status === 429 || cause.status >= 500;
}

/** Without its text, which names the Secret and counts what there is. */
function causeOf(cause: unknown): string {
  if (!(cause instanceof ApiError)) return String(cause);
  return `${cause.code} ${cause.status ?? ""} ${cause.reason ?? ""}`;
}

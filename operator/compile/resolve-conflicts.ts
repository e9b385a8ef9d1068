/**
 * Decides which of several objects owns what they all claim: a digest among keys, a public name among routes
 * (docs/design/configuration.md 1.2).
 *
 * The older object wins, then the lesser namespace/name, so the outcome depends on the set alone and never on the order
 * of arrival.
 */
import { compareByAge, identityOf, type ObjectMeta } from "#operator/resources/resource";

/** Claims by token; most tokens have one claimant, which then costs no set. */
export class OwnershipClaims {
  readonly #tokensOf = new Map<string, readonly string[]>();
  readonly #claimantsOf = new Map<string, string | Set<string>>();

  /** Replaces the claims of an owner. @returns the tokens whose claimants changed */
  set(owner: string, tokens: readonly string[]): readonly string[] {
    const before = this.#tokensOf.get(owner);
    if (before === undefined) {
      for (const token of tokens) this.#add(token, owner);
      if (tokens.length > 0) this.#tokensOf.set(owner, tokens);
      return tokens;
    }
    const changed = [
      ...before.filter((token) => !tokens.includes(token)),
      ...tokens.filter((token) => !before.includes(token)),
    ];
    for (const token of before) this.#remove(token, owner);
    for (const token of tokens) this.#add(token, owner);
    if (tokens.length === 0) this.#tokensOf.delete(owner);
    else this.#tokensOf.set(owner, tokens);
    return changed;
  }

  tokensOf(owner: string): readonly string[] {
    return this.#tokensOf.get(owner) ?? [];
  }

  claimantsOf(token: string): readonly string[] {
    const claimants = this.#claimantsOf.get(token);
    if (claimants === undefined) return [];
    return typeof claimants === "string" ? [claimants] : [...claimants];
  }

  #add(token: string, owner: string): void {
    const claimants = this.#claimantsOf.get(token);
    if (claimants === undefined) this.#claimantsOf.set(token, owner);
    else if (typeof claimants !== "string") claimants.add(owner);
    else if (claimants !== owner) this.#claimantsOf.set(token, new Set([claimants, owner]));
  }

  #remove(token: string, owner: string): void {
    const claimants = this.#claimantsOf.get(token);
    if (claimants === owner) this.#claimantsOf.delete(token);
    if (claimants === undefined || typeof claimants === "string") return;
    claimants.delete(owner);
    const [last] = claimants;
    if (claimants.size === 1 && last !== undefined) this.#claimantsOf.set(token, last);
  }
}

/** The identity that owns a token. */
export function winnerAmong(
  claimants: readonly string[],
  metadataOf: (identity: string) => ObjectMeta | undefined,
): string | undefined {
  let winner: ObjectMeta | undefined;
  for (const claimant of claimants) {
    const metadata = metadataOf(claimant);
    if (metadata && (!winner || compareByAge(metadata, winner) < 0)) winner = metadata;
  }
  return winner && identityOf(winner);
}

/** A route's claim to its public names. */
export interface NameClaim {
  readonly metadata: ObjectMeta;
  /** `spec.model`; without it the route is not served. */
  readonly model: string;
  readonly aliases: readonly string[];
  /** Namespaces whose keys see the route; `*` for all. */
  readonly namespaces: readonly string[];
}

export interface NameVerdict {
  /** The route that has the model name already. */
  readonly modelOwner?: string;
  /** Aliases that another route has, with its identity. */
  readonly lostAliases: ReadonlyMap<string, string>;
}

/**
 * Gives public names to routes in order of age. Routes that no namespace sees together may share a name; a route
 * that loses its model name claims no alias either.
 */
export function assignNames(claims: readonly NameClaim[]): Map<string, NameVerdict> {
  const owners = new Map<string, NameClaim[]>();
  const ownerOf = (name: string, claim: NameClaim) =>
    owners.get(name)?.find((owner) => isSeenTogether(owner.namespaces, claim.namespaces));
  const assign = (name: string, claim: NameClaim) => owners.set(name, [...(owners.get(name) ?? []), claim]);
  const verdicts = new Map<string, NameVerdict>();
  for (const claim of [...claims].sort((left, right) => compareByAge(left.metadata, right.metadata))) {
    const modelOwner = ownerOf(claim.model, claim);
    const lostAliases = new Map<string, string>();
    if (!modelOwner) {
      assign(claim.model, claim);
      for (const alias of claim.aliases) {
        const owner = ownerOf(alias, claim);
        if (!owner) assign(alias, claim);
        else if (owner !== claim) lostAliases.set(alias, identityOf(owner.metadata));
      }
    }
    verdicts.set(identityOf(claim.metadata), {
      lostAliases,
      ...(modelOwner && { modelOwner: identityOf(modelOwner.metadata) }),
    });
  }
  return verdicts;
}

function isSeenTogether(left: readonly string[], right: readonly string[]): boolean {
  if (left[0] === "*") return right.length > 0;
  if (right[0] === "*") return left.length > 0;
  return left.some((namespace) => right.includes(namespace));
}

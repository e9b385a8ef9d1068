/** Tokens of pods, and an API server that knows which of them it gave out: for tests without a real one. */
import { randomBytes } from "node:crypto";
import type { TokenReview, TokenReviewer } from "#operator/push/authenticate/verify-token";

export const audience = "tollgate-operator";
export const accounts = {
  proxy: "system:serviceaccount:tollgate:tollgate-proxy",
  operator: "system:serviceaccount:tollgate:tollgate-operator",
};

export interface TokenFacts {
  readonly pod?: string;
  readonly username?: string;
  readonly audiences?: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAtMs?: number;
}

export class TokenIssuer implements TokenReviewer {
  readonly #issued = new Map<string, TokenFacts>();
  /** Set: the API server is away. */
  failure: Error | undefined;
  reviews = 0;

  /** @returns a token that this issuer vouches for, until it is revoked or has expired. */
  issue(facts: TokenFacts): string {
    const { username = accounts.proxy, audiences = [audience], expiresAtMs = Date.now() + 3_600_000 } = facts;
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = { aud: audiences, sub: username, exp: Math.floor(expiresAtMs / 1_000), jti: this.#issued.size };
    const token = `${encode({ alg: "RS256" })}.${encode(claims)}.${randomBytes(16).toString("base64url")}`;
    this.#issued.set(token, { ...facts, username, audiences, expiresAtMs });
    return token;
  }

  revoke(token: string): void {
    this.#issued.delete(token);
  }

  async review(token: string, wanted: string): Promise<TokenReview> {
    this.reviews += 1;
    if (this.failure !== undefined) throw this.failure;
    const facts = this.#issued.get(token);
    const audiences = facts?.audiences ?? [];
    if (facts === undefined || !audiences.includes(wanted) || Date.now() > (facts.expiresAtMs ?? 0)) {
      return { isAuthenticated: false, audiences: [], username: "" };
    }
    const { username = "", pod } = facts;
    return { isAuthenticated: true, audiences: [wanted], username, ...(pod !== undefined && { pod }) };
  }
}

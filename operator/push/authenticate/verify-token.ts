/**
 * Finds the pod that a token belongs to: a projected ServiceAccount token with our audience, reviewed by the API server
 * (TokenReview), of the account that proxies or operators run under.
 *
 * Invariants: a token is trusted only after a positive review; the result is cached under the token's hash and never
 * beyond the token's expiry, so that the operator serves its proxies while the API server is away; the review is
 * repeated when the result is some minutes old, and a negative one ends it. Strangers cost no review, because the
 * token's claims must fit first. Few reviews run at a time. The push endpoint calls it for every request.
 */
import { hash } from "node:crypto";
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";
import { Gate } from "./gate.ts";
import { type Peer, type RefusalReason, ReviewUnavailableError } from "./peer.ts";
import { readTokenClaims } from "./token-claims.ts";

/** The result of a review. */
export interface TokenReview {
  readonly isAuthenticated: boolean;
  readonly audiences: readonly string[];
  readonly username: string;
  /** Undefined: the token is bound to no pod. */
  readonly pod?: string;
}

export interface TokenReviewer {
  /** @throws when the API server cannot review it */
  review(token: string, audience: string, signal: AbortSignal): Promise<TokenReview>;
}

export interface VerifyTokenOptions {
  readonly reviewer: TokenReviewer;
  readonly audience: string;
  /** User names of the accounts, `system:serviceaccount:<namespace>:<name>`. */
  readonly accounts: { readonly proxy: string; readonly operator: string };
  readonly timers?: Timers;
  /** A positive result younger than this needs no new review. */
  readonly freshMs?: number;
  readonly reviewTimeoutMs?: number;
}

export type TokenVerdict = { readonly peer: Peer } | { readonly refused: RefusalReason };

interface Vouched {
  readonly peer: Peer;
  readonly expiresAtMs: number;
  readonly reviewedAt: number;
}

/** A few tokens for each pod of the largest fleet. */
const vouchedMax = 10_000;
const reviewsAtOnceMax = 32;
const reviewsWaitingMax = 1_024;

export class TokenVerifier {
  readonly #options: VerifyTokenOptions;
  readonly #timers: Timers;
  readonly #freshMs: number;
  readonly #vouched = new Map<string, Vouched>();
  readonly #reviewing = new Map<string, Promise<TokenVerdict>>();
  readonly #gate = new Gate(reviewsAtOnceMax, reviewsWaitingMax);

  constructor(options: VerifyTokenOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#freshMs = options.freshMs ?? 300_000;
  }

  /**
   * @param authorization the header as it came
   * @throws ReviewUnavailableError when a review is needed and the API server is unreachable
   */
  async verify(authorization: string | undefined): Promise<TokenVerdict> {
    if (authorization === undefined) return { refused: "no_token" };
    const token = /^Bearer ([A-Za-z0-9._~+/=-]+)$/.exec(authorization)?.[1];
    const claims = token === undefined ? undefined : readTokenClaims(token);
    if (token === undefined || claims === undefined) return { refused: "malformed_token" };
    const { audience } = this.#options;
    if (!claims.audiences.includes(audience)) return { refused: "wrong_audience" };
    if (this.#roleOf(claims.subject) === undefined) return { refused: "wrong_account" };

    const digest = hash("sha256", token);
    const known = this.#find(digest);
    if (known !== undefined && this.#timers.now() - known.reviewedAt < this.#freshMs) return { peer: known.peer };
    let review = this.#reviewing.get(digest);
    if (review === undefined) {
      review = this.#review(digest, token, claims.expiresAtMs).finally(() => this.#reviewing.delete(digest));
      this.#reviewing.set(digest, review);
    }
    try {
      return await review;
    } catch (cause) {
      const still = this.#find(digest);
      if (still !== undefined) return { peer: still.peer };
      throw new ReviewUnavailableError("the API server cannot review the token", { cause });
    }
  }

  async #review(digest: string, token: string, expiresAtMs: number | undefined): Promise<TokenVerdict> {
    const { reviewer, audience, reviewTimeoutMs = 10_000 } = this.#options;
    const review = await this.#gate.pass(() => reviewer.review(token, audience, AbortSignal.timeout(reviewTimeoutMs)));
    const verdict = this.#judge(review);
    this.#vouched.delete(digest);
    if ("peer" in verdict) {
      const expiresAt = expiresAtMs ?? this.#timers.wallClock() + this.#freshMs;
      this.#remember(digest, { peer: verdict.peer, expiresAtMs: expiresAt, reviewedAt: this.#timers.now() });
    }
    return verdict;
  }

  #judge({ isAuthenticated, audiences, username, pod }: TokenReview): TokenVerdict {
    if (!isAuthenticated) return { refused: "not_authenticated" };
    // An API server that knows no audiences leaves them out.
    if (!audiences.includes(this.#options.audience)) return { refused: "wrong_audience" };
    const role = this.#roleOf(username);
    if (role === undefined) return { refused: "wrong_account" };
    return pod === undefined ? { refused: "no_pod" } : { peer: { role, pod } };
  }

  #roleOf(username: string): Peer["role"] | undefined {
    const { accounts } = this.#options;
    if (username === accounts.proxy) return "proxy";
    return username === accounts.operator ? "operator" : undefined;
  }

  #find(digest: string): Vouched | undefined {
    const known = this.#vouched.get(digest);
    if (known === undefined || this.#timers.wallClock() < known.expiresAtMs) return known;
    this.#vouched.delete(digest);
    return undefined;
  }

  #remember(digest: string, vouched: Vouched): void {
    const [oldest] = this.#vouched.keys();
    if (this.#vouched.size >= vouchedMax && oldest !== undefined) this.#vouched.delete(oldest);
    this.#vouched.set(digest, vouched);
  }
}

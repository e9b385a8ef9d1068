/** The peers of the push endpoint, and the reasons for which a peer is turned away. */

/** A pod that authenticated with its own token. */
export interface Peer {
  /** Its rights: a proxy is served, another operator forwards its summaries. */
  readonly role: "proxy" | "operator";
  readonly pod: string;
}

/** The closed list of reasons for which a peer is turned away, for metrics and logs. */
export const refusalReasons = [
  "no_token",
  "malformed_token",
  "wrong_audience",
  "wrong_account",
  "not_authenticated",
  "no_pod",
  "wrong_pod",
  "wrong_role",
  "review_unavailable",
  "not_tls",
  "tls_version",
  "tls_failed",
] as const;

export type RefusalReason = (typeof refusalReasons)[number];

/** The peer's token could not be checked now: it may be good, and the peer should try again. */
export class ReviewUnavailableError extends Error {
  readonly code = "review_unavailable" as const;
}

/**
 * Defines the messages of the push protocol, version 1: one JSON object a line, known to both sides, independent of the
 * transport (docs/design/configuration.md 3).
 *
 * Down: welcome, transaction (or begin, parts, commit where it is large), revoke, ping, pong, goaway. Up: hello,
 * acknowledgement, report, ping, pong.
 */
import type { ResourceVersions } from "./resource-versions.ts";

/** Version spoken; each side speaks this one and the one before. */
export const protocolVersion = 1;
/** A longer line is refused before it is parsed, in characters as in bytes. */
export const frameBytesMax = 1024 * 1024;
/** A larger transaction travels in parts of at most this size, so that no part blocks an event loop. */
export const partBytesMax = 256 * 1024;
/** All objects of a snapshot together; the operator refuses more before it pushes. */
export const snapshotBytesMax = 512 * 1024 * 1024;
/** One object must fit a frame with its envelope. */
export const objectBytesMax = frameBytesMax - 4096;
/** Rejects named in one acknowledgement; `rejectCount` says how many there are. */
export const rejectsMax = 1000;
/** Watches named in one message: a few kinds in each of the namespaces watched. */
export const watchesMax = 4096;
/** Removed uids told in one transaction. */
export const removedUidsMax = 10_000;

export interface Reject {
  /** Id of the object that could not be taken. */
  readonly id: string;
  /** `denied`: a key that no longer works. `held`: the last good version, if any, stays live. */
  readonly severity: "denied" | "held";
  /** `removed`: a resource that was deleted a short while ago, from an operator that seems to live in the past. */
  readonly code: "invalid_object" | "removed";
  /** Field and rule, never a value. */
  readonly message: string;
}

export interface Hello {
  readonly type: "hello";
  readonly protocols: readonly number[];
  readonly build: string;
  /** Name of the pod or process; unique in the fleet. */
  readonly proxy: string;
  readonly zone?: string;
  /**
   * Names of fields and values that this proxy understands, of those in `capabilities.ts`
   * (docs/design/configuration.md 3.3).
   */
  readonly capabilities: readonly string[];
  /** Epoch and revision last applied; 0 for none. */
  readonly epoch: number;
  readonly revision: number;
  /** Digest held, and the sums of the 256 buckets in base64; empty for nothing, which asks for everything. */
  readonly digest: string;
  readonly sums: string;
  readonly rejects: readonly Reject[];
  /** How much of the source this proxy has seen, through any operator: none that has seen less may serve it. */
  readonly versions: ResourceVersions;
}

export interface Welcome {
  readonly type: "welcome";
  readonly protocol: number;
  readonly operator: string;
  /** Names the stream in posts. */
  readonly stream: string;
  readonly epoch: number;
  readonly revision: number;
  readonly digest: string;
  /** What follows: nothing as the digests are equal, the buckets that differ, or everything. */
  readonly sync: "none" | "difference" | "full";
  /** Up to where the operator's configuration contains everything; so the proxy can judge for itself. */
  readonly complete: ResourceVersions;
  /** As in a transaction, for a proxy that needs none. */
  readonly versions: ResourceVersions;
}

export interface Upsert {
  readonly id: string;
  readonly object: unknown;
  /** Of the resource behind it, where the source gives one: a recreated resource has another. */
  readonly uid?: string;
}

interface Change {
  readonly epoch: number;
  readonly revision: number;
  /** Digest that the receiver must hold before. */
  readonly base: string;
  /** Digest that it must hold after. */
  readonly digest: string;
  /** Buckets that are emptied first: their content follows whole. */
  readonly buckets: readonly number[];
  /** The newest changes of the source that this may contain; watches that have not moved since the last are left out. */
  readonly versions: ResourceVersions;
  /** Resources that were deleted and never come back; not those that are only kept from being served. */
  readonly removedUids: readonly string[];
}

export interface Transaction extends Change {
  readonly type: "transaction";
  readonly upserts: readonly Upsert[];
  readonly removes: readonly string[];
}

export interface Begin extends Change {
  readonly type: "begin";
}

export interface TransactionPart {
  readonly type: "part";
  readonly revision: number;
  /** Counts from 0. */
  readonly index: number;
  readonly upserts: readonly Upsert[];
  readonly removes: readonly string[];
}

export interface Commit {
  readonly type: "commit";
  readonly revision: number;
  readonly parts: number;
}

/** Dead now, whatever else is on its way; lifted by the transaction of that revision or a later one. */
export interface Revoke {
  readonly type: "revoke";
  readonly revision: number;
  /** Ids of keys. */
  readonly keys: readonly string[];
  /** SHA-256 digests of credentials. */
  readonly credentials: readonly string[];
  /** As in a transaction: an operator that has not heard of it yet may not serve this proxy any more. */
  readonly versions: ResourceVersions;
}

export interface Beat {
  readonly type: "ping" | "pong";
  /** The sender's wall clock, milliseconds since the epoch: shows skew. */
  readonly at: number;
}

export interface GoAway {
  readonly type: "goaway";
  /** Reconnect, perhaps elsewhere, at a random time within. */
  readonly withinMs: number;
  readonly reason: string;
}

export type RefusalCode =
  | "bad_frame"
  | "frame_too_large"
  | "unexpected_message"
  | "wrong_base"
  | "wrong_digest"
  | "duplicate_id"
  | "stale_revision"
  | "stale_operator";

export interface Acknowledgement {
  readonly type: "acknowledgement";
  readonly revision: number;
  /** Digest held now. */
  readonly digest: string;
  readonly applyMs: number;
  /** All objects that this proxy holds but cannot take, not only those of this transaction. */
  readonly rejects: readonly Reject[];
  readonly rejectCount: number;
  /** The whole transaction was refused; the proxy reconnects and asks for everything. */
  readonly refused?: { readonly code: RefusalCode; readonly message: string };
}

/** Aggregated, bounded, may be lost. */
export interface Report {
  readonly type: "report";
  /** The proxies share a ledger: amounts are those of all of them, and are not added up. */
  readonly isShared?: true;
  readonly keys: readonly KeyReport[];
  readonly accounts: readonly AccountReport[];
  readonly ejected: readonly EjectedCredential[];
}

/** A credential that its provider refuses; told in every report while it lasts. */
export interface EjectedCredential {
  /** `namespace/name`. */
  readonly channel: string;
  readonly credential: string;
  /** `FormerInUse` where calls go on with the secret it had before, else `Refused`; others are read as that. */
  readonly reason: string;
}

export interface KeyReport {
  /** `namespace/name`. */
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly lastUsedAt: number;
  /** Since the last report. */
  readonly requests: number;
  /** Its quotas: limits of a Day or longer. */
  readonly quotas: readonly QuotaReport[];
}

/** Amounts as whole numbers in text: nano-credits, tokens or requests. */
export interface QuotaReport {
  readonly name: string;
  readonly unit: "Requests" | "Tokens" | "InputTokens" | "OutputTokens" | "Cost";
  readonly isEnforced: boolean;
  readonly used: string;
  readonly limit: string;
  /** Milliseconds since the epoch; absent for Lifetime. */
  readonly resetAt?: number;
}

export interface AccountReport {
  /** `namespace/name`. */
  readonly account: string;
  /** In nano-credits, since ever. */
  readonly consumed: string;
  readonly reserved: string;
}

export type DownMessage = Welcome | Transaction | Begin | TransactionPart | Commit | Revoke | Beat | GoAway;
export type UpMessage = Acknowledgement | Report | Beat;

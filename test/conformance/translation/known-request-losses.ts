/**
 * What recorded requests lose on the way to an upstream of another format, and which are refused since nothing there
 * means the same: each with its reason. Whatever is not listed must come through.
 */
import type { DigestProtocol } from "../../support/digest/facts.ts";

export interface KnownRequestLoss {
  /** Recordings without `upstream/`; `*` at the end stands for any rest. */
  readonly requests: string;
  readonly to?: readonly DigestProtocol[];
  readonly facts: readonly string[];
  readonly reason: string;
}

export const knownRequestLosses: readonly KnownRequestLoss[] = [];

export interface Refusal {
  readonly requests: string;
  readonly to?: readonly DigestProtocol[];
  /** What the answer names. */
  readonly message: RegExp;
  readonly reason: string;
}

export const refusals: readonly Refusal[] = [];

export function isKnownRequestLoss(request: string, to: DigestProtocol, fact: string): boolean {
  return knownRequestLosses.some((loss) => matches(loss, request, to) && loss.facts.includes(fact));
}

/** What a refused request is told; undefined for one that is served. */
export function refusalOf(request: string, to: DigestProtocol): RegExp | undefined {
  return refusals.find((refusal) => matches(refusal, request, to))?.message;
}

function matches(
  entry: { readonly requests: string; readonly to?: readonly DigestProtocol[] },
  request: string,
  to: DigestProtocol,
): boolean {
  if (entry.to !== undefined && !entry.to.includes(to)) return false;
  return entry.requests.endsWith("*") ? request.startsWith(entry.requests.slice(0, -1)) : request === entry.requests;
}

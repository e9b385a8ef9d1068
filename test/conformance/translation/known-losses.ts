/**
 * What recorded replies lose on the way to a client of another protocol, each with its reason. Whatever is not listed
 * must come through; a line that no longer holds fails as well.
 */
import type { DigestProtocol } from "../../support/digest/facts.ts";

export interface KnownLoss {
  /** Recordings without `upstream/`; `*` at the end stands for any rest. */
  readonly replies: string;
  /** Clients; every other protocol when absent. */
  readonly to?: readonly DigestProtocol[];
  /** Facts as `compare` names them. */
  readonly facts: readonly string[];
  readonly reason: string;
}

export const knownLosses: readonly KnownLoss[] = [];

export function isKnown(reply: string, to: DigestProtocol, fact: string): boolean {
  return knownLosses.some(
    (loss) =>
      loss.facts.includes(fact) &&
      (loss.to === undefined || loss.to.includes(to)) &&
      (loss.replies.endsWith("*") ? reply.startsWith(loss.replies.slice(0, -1)) : reply === loss.replies),
  );
}

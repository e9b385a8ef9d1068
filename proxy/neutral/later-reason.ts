/**
 * Decides which of several finish reasons of one candidate holds (docs/design/translation.md 9.1: it is remembered, not
 * told).
 */
import type { Finish } from "./reply.ts";

/** The reply is not whole. */
const cutReasons: ReadonlySet<Finish["reason"]> = new Set(["length", "context", "content-filter", "malformed-call"]);

/**
 * The last one, but a reply that was cut stays cut: relays end their streams with a plain stop behind the reason of the
 * provider, and the client would take half a reply for a whole one.
 */
export function isReplacedBy(known: Finish["reason"], later: Finish["reason"]): boolean {
  return !cutReasons.has(known) || cutReasons.has(later);
}

/**
 * Holds a call against the parameter rules of its route. A rule names a field as the interface spells it, and holds for
 * clients of both formats: `dimensions` is Google's `outputDimensionality` too.
 */
import { checkValue, presentMember } from "#proxy/formats/body/parameter-rules";
import { member } from "#proxy/json/json-value";
import { scanMembers } from "#proxy/json/strict-json";
import { checkMemberRules, comparableSpellingsOf, spellingsOf } from "#proxy/parameters/member-rules";
import type { Route } from "#proxy/snapshot/types.gen";
import type { EmbeddingCall } from "./embedding-call.ts";
import { embeddingSpellings } from "./embedding-fields.ts";

/** The client's spellings of a field that the call has. */
export function namesIn({ body, requests }: EmbeddingCall, name: string): readonly string[] {
  const spellings = spellingsOf(name, embeddingSpellings);
  if (requests.length === 0) return spellings.filter((one) => presentMember(body, one) !== undefined);
  return spellings.filter((one) => requests.some((request) => (member(request, one) ?? null) !== null));
}

/** @throws GatewayError `invalid_value`, `invalid_type` naming the client's field */
export function checkEmbeddingRules({ body, requests }: EmbeddingCall, route: Route): void {
  if (route.parameters === undefined) return;
  if (requests.length === 0) {
    checkMemberRules(body, route, embeddingSpellings);
    return;
  }
  for (const rule of route.parameters) {
    for (const name of comparableSpellingsOf(rule.name, embeddingSpellings)) {
      for (const value of new Set(requests.map((request) => member(request, name) ?? undefined))) {
        const object = Buffer.from(JSON.stringify({ [name]: value }));
        const scanned = scanMembers(object, 0, object.length);
        const found = scanned.member(name);
        if (found !== undefined) checkValue(scanned, found, rule, name);
      }
    }
  }
}

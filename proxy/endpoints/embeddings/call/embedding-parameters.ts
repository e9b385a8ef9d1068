/**
 * Holds a call against the parameter rules of its route. A rule names a field as the interface spells it, and holds for
 * clients of both formats: `dimensions` is Google's `outputDimensionality` too.
 */
import { checkValue, presentMember } from "#proxy/formats/body/parameter-rules";
import { member } from "#proxy/json/json-value";
import { scanMembers } from "#proxy/json/strict-json";
import { checkMemberRules } from "#proxy/parameters/member-rules";
import type { Route } from "#proxy/snapshot/types.gen";
import type { EmbeddingCall } from "./embedding-call.ts";
import { dimensionNames, taskNames } from "./read-embed-content.ts";

/** Fields that both formats have. */
const fields: readonly (readonly string[])[] = [
  ["dimensions", ...dimensionNames],
  ["input_type", "task", ...taskNames],
];

function spellingsOf(name: string): readonly string[] {
  return fields.find((spellings) => spellings.includes(name)) ?? [name];
}

/** The client's spellings of a field that the call has. */
export function namesIn(call: EmbeddingCall, name: string): readonly string[] {
  const spellings = spellingsOf(name);
  if (call.requests.length === 0) return spellings.filter((one) => presentMember(call.body, one) !== undefined);
  return spellings.filter((one) => call.requests.some((request) => (member(request, one) ?? null) !== null));
}

/** @throws GatewayError `invalid_value`, `invalid_type` naming the client's field */
export function checkEmbeddingRules(call: EmbeddingCall, route: Route): void {
  if (route.parameters === undefined) return;
  checkMemberRules(call.body, route);
  for (const rule of route.parameters) {
    const isTask = taskNames.some((name) => spellingsOf(rule.name).includes(name));
    for (const name of namesIn(call, rule.name)) {
      // Tasks have other values in each format, and the member of the rule's own name was checked above.
      if (name !== rule.name && isTask) continue;
      for (const value of valuesOf(call, name)) {
        const object = Buffer.from(JSON.stringify({ [name]: value }));
        const scanned = scanMembers(object, 0, object.length);
        const found = scanned.member(name);
        if (found !== undefined) checkValue(scanned, found, rule, name);
      }
    }
  }
}

function valuesOf({ requests, body }: EmbeddingCall, name: string): ReadonlySet<unknown> {
  if (requests.length > 0) return new Set(requests.map((request) => member(request, name) ?? undefined));
  const found = presentMember(body, name);
  const value: unknown =
    found === undefined ? undefined : JSON.parse(body.bytes.toString("utf8", found.valueStart, found.valueEnd));
  return new Set([value]);
}

/**
 * Checks a call that is no chat against the parameter rules of its route (`ModelRoute.parameters`): a rule names a
 * top-level member of the client's body.
 */
import { GatewayError } from "#proxy/errors";
import { checkValue, presentMember } from "#proxy/formats/body/parameter-rules";
import type { ScannedObject } from "#proxy/json/strict-json";
import type { Channel, Route } from "#proxy/snapshot/types.gen";
import type { UnsupportedMembers } from "./route-parameters.ts";

/** @throws GatewayError `invalid_value`, `invalid_type` naming the client's field */
export function checkMemberRules(body: ScannedObject, route: Route): void {
  for (const rule of route.parameters ?? []) {
    const member = presentMember(body, rule.name);
    if (member !== undefined) checkValue(body, member, rule, rule.name);
  }
}

const none: UnsupportedMembers = { members: [], dropped: [] };

/**
 * The members that must not go upstream, because the model does not support them.
 * @param body undefined for a call that is no JSON object
 * @throws GatewayError `unsupported_parameter` under `unsupportedParameters: Reject`
 */
export function unsupportedNames(body: ScannedObject | undefined, route: Route, channel: Channel): UnsupportedMembers {
  if (route.parameters === undefined || body === undefined) return none;
  const names = route.parameters
    .filter(({ name, supported }) => supported === false && presentMember(body, name) !== undefined)
    .map(({ name }) => name);
  const [param] = names;
  if (param !== undefined && channel.unsupportedParameters === "Reject") {
    throw new GatewayError("unsupported_parameter", `'${param}' is not supported by this model.`, { param });
  }
  return { members: names, dropped: names };
}

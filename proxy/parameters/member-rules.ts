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
 * @param namesIn the client's spellings of a parameter that the call has, by the name that a route gives it
 * @throws GatewayError `unsupported_parameter` under `unsupportedParameters: Reject`
 */
export function unsupportedNames(
  namesIn: (name: string) => readonly string[],
  route: Route,
  channel: Channel,
): UnsupportedMembers {
  if (route.parameters === undefined) return none;
  const names = route.parameters.flatMap(({ name, supported }) => (supported === false ? namesIn(name) : []));
  const [param] = names;
  if (param !== undefined && channel.unsupportedParameters === "Reject") {
    throw new GatewayError("unsupported_parameter", `'${param}' is not supported by this model.`, { param });
  }
  return { members: names, dropped: names };
}

/** For calls whose parameters are members of their body. @param body undefined for a call that is no JSON object */
export function membersNamed(body: ScannedObject | undefined): (name: string) => readonly string[] {
  return (name) => (body === undefined || presentMember(body, name) === undefined ? [] : [name]);
}

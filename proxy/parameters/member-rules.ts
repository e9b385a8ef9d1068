/**
 * Checks a call that is no chat against the parameter rules of its route (`ModelRoute.parameters`): a rule names a
 * top-level member of the client's body, and holds for every name that the endpoint has for the same parameter.
 */
import { GatewayError } from "#proxy/errors";
import { checkValue, presentMember } from "#proxy/formats/body/parameter-rules";
import type { ScannedObject } from "#proxy/json/strict-json";
import type { Channel, Route } from "#proxy/snapshot/types.gen";
import type { UnsupportedMembers } from "./route-parameters.ts";

/** A parameter that vendors call by several names. */
export interface SpelledParameter {
  readonly names: readonly string[];
  /** Whether a value means the same under each name: only then is it held against what a route says of another. */
  readonly isAlike: boolean;
}

/** The parameters of one endpoint that have several names. */
export type Spellings = readonly SpelledParameter[];

/** Every name of a parameter. @param name one of them, as a route spells it */
export function spellingsOf(name: string, spellings: Spellings): readonly string[] {
  return parameterOf(name, spellings)?.names ?? [name];
}

/** The names whose values are held against what a route says of `name`. */
export function comparableSpellingsOf(name: string, spellings: Spellings): readonly string[] {
  const parameter = parameterOf(name, spellings);
  return parameter?.isAlike === true ? parameter.names : [name];
}

function parameterOf(name: string, spellings: Spellings): SpelledParameter | undefined {
  return spellings.find(({ names }) => names.includes(name));
}

/** @throws GatewayError `invalid_value`, `invalid_type` naming the client's field */
export function checkMemberRules(body: ScannedObject, route: Route, spellings: Spellings = []): void {
  for (const rule of route.parameters ?? []) {
    for (const name of comparableSpellingsOf(rule.name, spellings)) {
      const member = presentMember(body, name);
      if (member !== undefined) checkValue(body, member, rule, name);
    }
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
export function membersNamed(
  body: ScannedObject | undefined,
  spellings: Spellings = [],
): (name: string) => readonly string[] {
  if (body === undefined) return () => [];
  return (name) => spellingsOf(name, spellings).filter((one) => presentMember(body, one) !== undefined);
}

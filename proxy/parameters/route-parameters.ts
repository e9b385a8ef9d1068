/**
 * Checks one call against the parameter rules of its route (`ModelRoute.parameters`).
 *
 * Ranges and lists of values are checked on the client's call in its own format, before anything is reserved. A value
 * that a translation derives from another field (a budget of an effort) is checked on the translated call. A parameter
 * that the model does not support is left out or refused as the channel chooses, by the client's own name. Routes
 * without rules cost nothing.
 */
import { GatewayError } from "#proxy/errors";
import type { FoundMember } from "#proxy/formats/body/member-at";
import { checkValue } from "#proxy/formats/body/parameter-rules";
import type { ChatCall } from "#proxy/formats/format";
import { clientFormats, upstreamFormats } from "#proxy/formats/registry";
import type { Channel, Route } from "#proxy/snapshot/types.gen";
import { type ParameterNames, parameterNames } from "./parameter-names.ts";

type RouteParameter = NonNullable<Route["parameters"]>[number];

interface NamedRule {
  readonly rule: RouteParameter;
  readonly names: ParameterNames;
}

const rules = new WeakMap<Route, readonly NamedRule[]>();

function rulesOf(route: Route): readonly NamedRule[] {
  let named = rules.get(route);
  if (named === undefined) {
    named = (route.parameters ?? []).map((rule) => ({ rule, names: parameterNames(rule.name) }));
    rules.set(route, named);
  }
  return named;
}

/**
 * Every spelling that the call uses is checked: a server may take either of two.
 * @throws GatewayError `invalid_value`, `invalid_type` naming the client's field
 */
export function checkRouteParameters(call: ChatCall, route: Route): void {
  if (route.parameters === undefined) return;
  const { format } = call.endpoint;
  for (const { rule, names } of rulesOf(route)) {
    for (const { object, member, param } of found(call, names.values[format])) {
      checkValue(object, member, rule, param);
    }
  }
}

/** The client's call, and the same as the upstream reads it: one and the same where their formats are. */
export interface BothCalls {
  readonly client: ChatCall;
  readonly upstream: ChatCall;
}

/**
 * Checks the ranges of parameters that a translation derived from other fields.
 * @throws GatewayError `invalid_value` naming the client's field
 */
export function checkTranslatedParameters({ client, upstream }: BothCalls, route: Route): void {
  if (route.parameters === undefined) return;
  for (const { rule, names } of rulesOf(route)) {
    if (found(client, names.values[client.endpoint.format]).length > 0) continue;
    const [said] = found(client, names.derivedFrom[client.endpoint.format]);
    if (said === undefined) continue;
    for (const { object, member } of found(upstream, names.values[upstream.endpoint.format])) {
      checkValue(object, member, rule, said.param);
    }
  }
}

/** What must not go upstream because the model does not support it. */
export interface UnsupportedMembers {
  /** Paths in the upstream's format. */
  readonly members: readonly string[];
  /** The same in the client's spelling. */
  readonly dropped: readonly string[];
}

const none: UnsupportedMembers = { members: [], dropped: [] };

/**
 * Caps are exact: a model may refuse `max_tokens` and take `max_completion_tokens`.
 * @throws GatewayError `unsupported_parameter` under `unsupportedParameters: Reject`
 */
export function unsupportedMembers(calls: BothCalls, route: Route, channel: Channel): UnsupportedMembers {
  if (route.parameters === undefined) return none;
  const members: string[] = [];
  const dropped: string[] = [];
  for (const { rule, names } of rulesOf(route)) {
    if (rule.supported !== false) continue;
    const sent = membersSent(calls, names);
    if (sent.length === 0) continue;
    const params = clientsParams(calls.client, names);
    const [param] = params;
    if (param !== undefined && channel.unsupportedParameters === "Reject") {
      throw new GatewayError("unsupported_parameter", `'${param}' is not supported by this model.`, { param });
    }
    members.push(...sent);
    // What the client did not say is the translation's own addition: nothing of the client's is lost with it.
    dropped.push(...params);
  }
  return { members, dropped };
}

/** Paths of the upstream's body that carry the parameter, or what a translation made of it. */
function membersSent({ client, upstream }: BothCalls, names: ParameterNames): readonly string[] {
  const { format } = upstream.endpoint;
  const carrying = (paths: readonly string[]): readonly string[] =>
    paths.filter((path) => upstreamFormats[format].findMember(upstream, path) !== undefined);
  const own = carrying(names.members[format]);
  if (own.length > 0 || client === upstream) return own;
  return found(client, names.members[client.endpoint.format]).length === 0 ? [] : carrying(names.derivedFrom[format]);
}

/** How the client said it, or the field that a translation made it of. */
function clientsParams(client: ChatCall, names: ParameterNames): readonly string[] {
  const { format } = client.endpoint;
  const own = found(client, names.members[format]);
  const said = own.length > 0 ? own : found(client, names.derivedFrom[format]).slice(0, 1);
  return said.map(({ param }) => param);
}

/**
 * The client's name for a member of the upstream's body.
 * @returns undefined where the client did not say it: the translation did
 */
export function clientsName({ client, upstream }: BothCalls, name: string): string | undefined {
  return client === upstream ? name : clientsParams(client, parameterNames(name))[0];
}

/** The members of a call at the paths, each once. */
function found(call: ChatCall, paths: readonly string[]): readonly FoundMember[] {
  const { findMember } = clientFormats[call.endpoint.format];
  const members = new Map<string, FoundMember>();
  for (const path of paths) {
    const member = findMember(call, path);
    if (member !== undefined) members.set(member.param, member);
  }
  return [...members.values()];
}

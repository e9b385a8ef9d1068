/**
 * Decides whether a key may make a call. Enforcement, model lists and explain all use this one decision, so that they
 * agree.
 *
 * Pure. Order of refusals: address, account required, protocol, capability, model patterns of the key (403), unknown
 * model (404), `keySelector` of the route (403), capability of the route (400), a price where spending is limited
 * (403). Patterns come before existence, so a key learns nothing about names outside its restriction.
 * `handle-request.ts` calls `authorizeAddress` before it reads the body and `authorizeModel` after.
 */
import { type ErrorCode, GatewayError } from "#proxy/errors";
import type { IpAddress } from "#proxy/http/address/ip-address";
import type { Protocol } from "#proxy/neutral/wire";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import type { Capability, Key, Route } from "#proxy/snapshot/types.gen";
import { isAddressAllowed } from "./authorize-address.ts";
import { selectsKey } from "./key-selector.ts";
import { missingPrices } from "./missing-prices.ts";
import { matchesAnyPattern } from "./model-pattern.ts";

/** Whom a list of models is for. */
export interface ModelListQuestion {
  readonly key: Key;
  readonly snapshot: Snapshot;
  readonly protocol: Protocol;
}

export interface ModelQuestion extends ModelListQuestion {
  /** What the endpoint does; undefined asks for any capability that both key and route have, as model lists do. */
  readonly capability: Capability | undefined;
  /** Public name as the client wrote it. */
  readonly model: string;
}

export interface Question extends ModelQuestion {
  /** Undefined when no address is known. */
  readonly clientAddress: IpAddress | undefined;
}

export interface AuthorizationRefusal {
  readonly allowed: false;
  readonly refused: ErrorCode;
  /** For the client. */
  readonly message: string;
  readonly param?: string;
}

export type Decision = { readonly allowed: true; readonly route: Route } | AuthorizationRefusal;

/** The whole decision, for explain. */
export function decide(question: Question): Decision {
  if (!isAddressAllowed(question.key, question.clientAddress)) {
    return refuse("ip_not_allowed", "This API key may not be used from this network address.");
  }
  return decideModel(question);
}

/**
 * Everything but the address.
 * @returns the route that serves the model for this key
 * @throws GatewayError `account_required`, `protocol_not_allowed`, `capability_not_allowed`, `model_not_allowed`,
 *   `model_not_found`, `unsupported_endpoint`
 */
export function authorizeModel(question: ModelQuestion): Route {
  const decision = decideModel(question);
  if (decision.allowed) return decision.route;
  throw toError(decision);
}

/**
 * Whether a key may use what it made with a model before: not where it lost the model, or anything else that a call needs
 * of it. A model that is gone since, serves other endpoints or lost its price restricts no key: nothing is spent.
 *
 * @returns the route of the model; undefined where it has none for the capability now
 * @throws GatewayError for a restriction of the key
 */
export function authorizeKept(question: ModelQuestion): Route | undefined {
  const decision = decideAccess(question);
  const restriction = restrictionIn(decision);
  if (restriction !== undefined) throw toError(restriction);
  return decision.allowed ? decision.route : undefined;
}

/** Whether a key may not go on with a call that runs: what the route is or costs by now is no matter of the key. */
export function isRestricted(question: Question): boolean {
  return !isAddressAllowed(question.key, question.clientAddress) || restrictionIn(decideAccess(question)) !== undefined;
}

/** The refusal, if it is the key's own restriction; undefined where the model is served, or is not there to be served. */
function restrictionIn(decision: Decision): AuthorizationRefusal | undefined {
  if (decision.allowed || decision.refused === "model_not_found" || decision.refused === "unsupported_endpoint") {
    return undefined;
  }
  return decision;
}

/**
 * Whether a key may use an endpoint at all, for those that name no model.
 * @throws GatewayError `account_required`, `protocol_not_allowed`, `capability_not_allowed`
 */
export function authorizeEndpoint(caller: ModelListQuestion, capability: Capability): void {
  const refusal = refuseCaller(caller, capability);
  if (refusal !== undefined) throw toError(refusal);
}

export interface AllowedModel {
  /** The route's own name or an alias. */
  readonly name: string;
  readonly route: Route;
  /** What the key may do with it. */
  readonly capabilities: readonly Capability[];
}

/**
 * One model as a list would show it.
 * @throws GatewayError as `authorizeModel`
 */
export function allowedModel(caller: ModelListQuestion, name: string): AllowedModel {
  const route = authorizeModel({ ...caller, capability: undefined, model: name });
  return { name, route, capabilities: pricedCapabilities({ ...caller, model: name }, route) };
}

/** The names a key may see in a model list: exactly those for which `decideModel` allows something, and listed. */
export function listAllowedModels(caller: ModelListQuestion): AllowedModel[] {
  const allowed: AllowedModel[] = [];
  for (const route of caller.snapshot.routes) {
    if (route.visibility !== "Listed") continue;
    for (const name of new Set([route.model, ...(route.aliases ?? [])])) {
      if (name.includes("*")) continue;
      const decision = decideModel({ ...caller, capability: undefined, model: name });
      if (!decision.allowed || decision.route !== route) continue;
      const capabilities = pricedCapabilities({ ...caller, model: name }, route);
      // A name under which calls are passed on is no model.
      if (capabilities.some((capability) => capability !== "Passthrough")) allowed.push({ name, route, capabilities });
    }
  }
  return allowed;
}

/** The decision without the address. */
export function decideModel(question: ModelQuestion): Decision {
  const decision = decideAccess(question);
  if (!decision.allowed) return decision;
  const missing = missingFor(question, decision.route);
  if (missing === undefined) return decision;
  const message = `The model ${quote(question.model)} has no price for ${missing}, and this API key may only spend a limited amount.`;
  return refuse("model_not_allowed", message, "model");
}

/** Without a capability a model may run when its price is enough for any. */
function missingFor(question: ModelQuestion, route: Route): string | undefined {
  const { capability, key } = question;
  if (capability !== undefined) return missingPrices(question, route, capability);
  const missing = capabilitiesOf(route, key).map((each) => missingPrices(question, route, each));
  return missing.includes(undefined) ? undefined : missing[0];
}

function pricedCapabilities(question: Omit<ModelQuestion, "capability">, route: Route): readonly Capability[] {
  return capabilitiesOf(route, question.key).filter((each) => missingPrices(question, route, each) === undefined);
}

/** Whether the key may use the model, whatever it costs. */
function decideAccess(question: ModelQuestion): Decision {
  const { key, snapshot, capability, model } = question;
  const refusal = refuseCaller(question, capability);
  if (refusal !== undefined) return refusal;
  if (!isNameAllowed(key, model)) return modelNotAllowed(model);
  if (!isModelName(model)) return modelNotFound(model);
  let isThere = false;
  let isOpen = false;
  for (const route of snapshot.routesFor(model)) {
    if (route.visibility === "Internal") continue;
    isThere = true;
    if (!selectsKey(route.keySelector, key) || isDenied(key, route.model)) continue;
    isOpen = true;
    if (canServe(route, key, capability)) return { allowed: true, route };
  }
  if (!isThere) return modelNotFound(model);
  if (!isOpen) return modelNotAllowed(model);
  return refuse("unsupported_endpoint", `The model ${quote(model)} does not serve this endpoint.`, "model");
}

function refuseCaller(
  { key, snapshot, protocol }: ModelListQuestion,
  capability: Capability | undefined,
): AuthorizationRefusal | undefined {
  if (snapshot.fleet.requireAccount && key.account === undefined) {
    return refuse("account_required", "This API key has no account, and each call must be charged to one.");
  }
  if (key.account !== undefined && snapshot.account(key.namespace, key.account) === undefined) {
    // Without the account's balance the key would spend without bound.
    return refuse("account_required", "The account of this API key does not exist.");
  }
  if (key.protocols !== undefined && !key.protocols.includes(protocol)) {
    return refuse("protocol_not_allowed", `This API key may not be used with ${protocol}-style requests.`);
  }
  if (capability !== undefined && key.capabilities !== undefined && !key.capabilities.includes(capability)) {
    return refuse("capability_not_allowed", `This API key may not be used for ${capability}.`);
  }
  return undefined;
}

/** Deny goes over allow; an absent allow list allows every name, an empty one none. */
function isNameAllowed(key: Key, model: string): boolean {
  if (isDenied(key, model)) return false;
  return key.modelsAllow === undefined || matchesAnyPattern(key.modelsAllow, model);
}

/** Asked for the route's own name too: an alias must not lead around a deny. */
function isDenied(key: Key, model: string): boolean {
  return key.modelsDeny !== undefined && matchesAnyPattern(key.modelsDeny, model);
}

function canServe(route: Route, key: Key, capability: Capability | undefined): boolean {
  if (capability !== undefined) return serves(route, capability);
  return key.capabilities === undefined || key.capabilities.some((allowed) => serves(route, allowed));
}

function capabilitiesOf(route: Route, { capabilities: allowed }: Key): readonly Capability[] {
  const served = new Set<Capability>(route.capabilities);
  if (serves(route, "CountTokens")) served.add("CountTokens");
  return [...served].filter((capability) => allowed === undefined || allowed.includes(capability));
}

/** A route that serves chat can also count the tokens of a prompt. */
function serves({ capabilities }: Route, capability: Capability): boolean {
  return capabilities.includes(capability) || (capability === "CountTokens" && capabilities.includes("Chat"));
}

const modelLengthMax = 256;
const modelForm = /^[A-Za-z0-9][A-Za-z0-9._:/@+~-]*$/;
const foreignSegment = /(?:^|\/)\.{0,2}(?:\/|$)/;

/**
 * Whether a name can be a model at all: what a pattern route takes goes on to the upstream, some of it in a path, so
 * look-alike letters, control characters, escapes and dot segments never match one.
 */
function isModelName(model: string): boolean {
  return model.length <= modelLengthMax && modelForm.test(model) && !foreignSegment.test(model);
}

function modelNotAllowed(model: string): AuthorizationRefusal {
  return refuse("model_not_allowed", `This API key may not use the model ${quote(model)}.`, "model");
}

function modelNotFound(model: string): AuthorizationRefusal {
  return refuse("model_not_found", `The model ${quote(model)} does not exist.`, "model");
}

/** The client's own word, cut, so that a response is never longer than its request. */
function quote(model: string): string {
  return `'${model.length > modelLengthMax ? `${model.slice(0, modelLengthMax)}…` : model}'`;
}

function refuse(refused: ErrorCode, message: string, param?: string): AuthorizationRefusal {
  return { allowed: false, refused, message, ...(param === undefined ? {} : { param }) };
}

function toError({ refused, message, param }: AuthorizationRefusal): GatewayError {
  return new GatewayError(refused, message, param === undefined ? {} : { param });
}

/**
 * Validates one wire object: its structure by the generated validators, then the rules a schema cannot express.
 *
 * The operator runs it before it pushes and the proxy before it indexes, so a refusal by a proxy is proof of version
 * skew or of a bug, never routine (docs/design/configuration.md 3). Messages name fields and rules, never values: a
 * value may be a secret.
 */
import { isIP } from "node:net";
import type { ErrorObject, ValidateFunction } from "ajv";
import { objectId } from "./object-id.ts";
import type { Account, Channel, Fleet, Key, Limit, Route, WireObject } from "./types.gen.ts";
import * as validators from "./validators.gen.mjs";

export interface ObjectProblem {
  /** JSON pointer to the member at fault; empty for the object itself. */
  readonly path: string;
  readonly message: string;
}

export type ObjectVerdict =
  | { readonly object: WireObject; readonly problem?: undefined }
  | { readonly problem: ObjectProblem; readonly object?: undefined };

const validatorOf: ReadonlyMap<unknown, ValidateFunction> = new Map(Object.entries(validators));
const amountMax = 2n ** 63n - 1n;
const calendarPeriods: readonly string[] = ["Day", "Week", "Month"];
const ratePeriods: readonly string[] = ["Second", "Minute", "Hour"];

/**
 * @param id where given, the id under which the object came; it must be the object's own.
 */
export function validateObject(value: unknown, id?: string): ObjectVerdict {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { problem: { path: "", message: "must be an object" } };
  }
  const validate = validatorOf.get("kind" in value ? value.kind : undefined);
  if (validate === undefined) return { problem: { path: "/kind", message: "is not a kind this version knows" } };
  if (!validate(value)) return { problem: describe(validate.errors?.[0]) };
  // The generated validator of this kind has just accepted it.
  const object = value as WireObject;
  const problem = checkMeaning(object);
  if (problem !== undefined) return { problem };
  if (id !== undefined && id !== objectId(object)) return { problem: { path: "", message: "does not fit its id" } };
  return { object };
}

/** True for an IPv4 or IPv6 network in CIDR form; IPv4-mapped IPv6 has to be written as IPv4. */
export function isCIDR(text: string): boolean {
  const slash = text.indexOf("/");
  const address = text.slice(0, Math.max(slash, 0));
  const prefix = text.slice(slash + 1);
  if (!/^(0|[1-9][0-9]{0,2})$/.test(prefix)) return false;
  const family = isIP(address);
  if (family === 4) return Number(prefix) <= 32;
  return family === 6 && Number(prefix) <= 128 && !address.includes("%") && !isMappedIPv4(address);
}

function isMappedIPv4(address: string): boolean {
  // `URL` writes every spelling of one IPv6 address in its one canonical form.
  return new URL(`http://[${address}]/`).hostname.startsWith("[::ffff:");
}

function describe(error: ErrorObject | undefined): ObjectProblem {
  if (error === undefined) return { path: "", message: "is invalid" };
  const extra = error.keyword === "additionalProperties" ? `: ${String(error.params["additionalProperty"])}` : "";
  return { path: error.instancePath, message: `${error.message ?? "is invalid"}${extra}` };
}

function checkMeaning(object: WireObject): ObjectProblem | undefined {
  switch (object.kind) {
    case "key":
      return checkKey(object);
    case "account":
      return checkAccount(object);
    case "channel":
      return checkChannel(object);
    case "route":
      return checkRoute(object);
    case "fleet":
      return checkFleet(object);
    case "credential":
      return undefined;
    default:
      return object satisfies never;
  }
}

function checkKey(key: Key): ObjectProblem | undefined {
  return (
    checkUnique(key.credentials, "/credentials", (credential) => credential.name) ??
    checkUnique(key.credentials, "/credentials", (credential) => credential.sha256) ??
    checkEach(key.modelsAllow, "/modelsAllow", checkPattern) ??
    checkEach(key.modelsDeny, "/modelsDeny", checkPattern) ??
    checkEach(key.cidrsAllow, "/cidrsAllow", checkCIDR) ??
    checkEach(key.cidrsDeny, "/cidrsDeny", checkCIDR) ??
    checkLimits(key.limits, "/limits")
  );
}

function checkAccount(account: Account): ObjectProblem | undefined {
  return (
    checkAmount(account.creditNanos, "/creditNanos") ??
    checkAmount(account.overdraftNanos, "/overdraftNanos") ??
    checkLimits(account.limits, "/limits") ??
    checkLimits(account.defaultKeyLimits, "/defaultKeyLimits")
  );
}

function checkChannel(channel: Channel): ObjectProblem | undefined {
  if (!URL.canParse(channel.baseURL)) return { path: "/baseURL", message: "is not a URL" };
  if (channel.proxyURL !== undefined && !URL.canParse(channel.proxyURL)) {
    return { path: "/proxyURL", message: "is not a URL" };
  }
  return (
    checkUnique(channel.formats, "/formats", nameOfFormat) ??
    checkUnique(channel.credentials, "/credentials", (credential) => credential.name) ??
    checkUnique(channel.models ?? [], "/models", (model) => model.name) ??
    checkEach(channel.models, "/models", (model, path) => checkPattern(model.name, `${path}/name`)) ??
    checkLimits(channel.limits, "/limits")
  );
}

/** Each format has one place, but what is passed through may have several. */
function nameOfFormat({ type, path }: Channel["formats"][number]): string {
  return type === "Passthrough" ? `${type} ${path}` : type;
}

function checkRoute(route: Route): ObjectProblem | undefined {
  return (
    checkPattern(route.model, "/model") ??
    checkEach(route.aliases, "/aliases", checkPattern) ??
    checkUnique(route.targets, "/targets", (target) => target.name) ??
    checkLimits(route.limits, "/limits") ??
    checkEach(route.keySelector.matchExpressions, "/keySelector/matchExpressions", (requirement, path) => {
      const needsValues = requirement.operator === "In" || requirement.operator === "NotIn";
      if (needsValues === (requirement.values ?? []).length > 0) return undefined;
      return { path: `${path}/values`, message: needsValues ? "must not be empty" : "must be empty" };
    }) ??
    checkEach(route.parameters, "/parameters", (rule, path) => {
      const { minimum = -Infinity, maximum = Infinity } = rule;
      return minimum <= maximum ? undefined : { path: `${path}/minimum`, message: "must not exceed the maximum" };
    }) ??
    checkPrice(route.price)
  );
}

function checkPrice(price: Route["price"]): ObjectProblem | undefined {
  if (price === undefined) return undefined;
  for (const [name, value] of Object.entries(price)) {
    const problem = typeof value === "string" ? checkAmount(value, `/price/${name}`) : undefined;
    if (problem !== undefined) return problem;
  }
  return checkEach(price.images, "/price/images", (image, path) => checkAmount(image.price, `${path}/price`));
}

function checkFleet(fleet: Fleet): ObjectProblem | undefined {
  return checkEach(fleet.egressAllowCIDRs, "/egressAllowCIDRs", checkCIDR);
}

function checkLimits(limits: readonly Limit[] | undefined, path: string): ObjectProblem | undefined {
  return checkUnique(limits ?? [], path, (limit) => limit.name) ?? checkEach(limits, path, checkLimit);
}

function checkLimit(limit: Limit, path: string): ObjectProblem | undefined {
  if (limit.algorithm === "TokenBucket" && !ratePeriods.includes(limit.period)) {
    return { path: `${path}/algorithm`, message: "TokenBucket is for periods of Second to Hour" };
  }
  if (limit.burst !== undefined && limit.algorithm !== "TokenBucket") {
    return { path: `${path}/burst`, message: "is for TokenBucket only" };
  }
  if (limit.timeZone !== undefined && !calendarPeriods.includes(limit.period)) {
    return { path: `${path}/timeZone`, message: "is for periods of Day, Week and Month only" };
  }
  if (limit.timeZone !== undefined && !isTimeZone(limit.timeZone)) {
    return { path: `${path}/timeZone`, message: "is not a time zone" };
  }
  return (
    checkAmount(limit.limit, `${path}/limit`) ??
    checkAmount(limit.burst, `${path}/burst`) ??
    checkEach(limit.models, `${path}/models`, checkPattern)
  );
}

const knownTimeZones = new Map<string, boolean>();

function isTimeZone(name: string): boolean {
  const known = knownTimeZones.get(name);
  if (known !== undefined) return known;
  let exists = true;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
  } catch {
    // The only way to ask: it throws a RangeError for an unknown name.
    exists = false;
  }
  if (knownTimeZones.size >= 1000) knownTimeZones.clear();
  knownTimeZones.set(name, exists);
  return exists;
}

function checkAmount(amount: string | undefined, path: string): ObjectProblem | undefined {
  // Fewer than 19 digits always fit; the comparison is for the last digit only.
  if (amount === undefined || amount.length < 19 || BigInt(amount) <= amountMax) return undefined;
  return { path, message: "must be below 2^63" };
}

function checkPattern(pattern: string, path: string): ObjectProblem | undefined {
  const star = pattern.indexOf("*");
  if (star === -1) return undefined;
  if (star === pattern.lastIndexOf("*") && (star === 0 || star === pattern.length - 1)) return undefined;
  return { path, message: "may hold one * at its begin or end" };
}

function checkCIDR(text: string, path: string): ObjectProblem | undefined {
  return isCIDR(text) ? undefined : { path, message: "is not a network such as 10.0.0.0/8 or 2001:db8::/32" };
}

function checkEach<Item>(
  items: readonly Item[] | undefined,
  path: string,
  check: (item: Item, path: string) => ObjectProblem | undefined,
): ObjectProblem | undefined {
  if (items === undefined) return undefined;
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    const problem = item === undefined ? undefined : check(item, `${path}/${index}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkUnique<Item>(
  items: readonly Item[],
  path: string,
  nameOf: (item: Item) => string,
): ObjectProblem | undefined {
  if (items.length < 2) return undefined;
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const name = nameOf(item);
    if (seen.has(name)) return { path: `${path}/${index}`, message: "repeats an earlier one" };
    seen.add(name);
  }
  return undefined;
}

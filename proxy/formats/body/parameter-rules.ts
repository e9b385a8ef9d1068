/**
 * Checks single members of a request against tables: types and the hard bounds of docs/design/interface.md 2 and 8.
 *
 * It refuses only what is wrong for every provider; "usual" shapes that some provider extends are not in the tables.
 * `null` counts as absent everywhere (docs/design/chat-completions.md 2). A number that is not finite as a double
 * (`1e400`) is refused wherever a number is checked, because some reader behind the gateway would make `null` of it.
 */
import { GatewayError } from "#proxy/errors";
import {
  type JsonKind,
  type Member,
  readNumber,
  readString,
  readText,
  type ScannedObject,
} from "#proxy/json/strict-json";
import type { Route } from "#proxy/snapshot/types.gen";

export interface ParameterRule {
  readonly name: string;
  readonly kinds: readonly JsonKind[];
  /** Numbers without a fraction only. */
  readonly integer?: true;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** No cap, seed or count of any provider is larger; a larger one is a mistake in units. */
export const integerMax = 2_147_483_647;

const boolean = ["true", "false"] as const;
const kindNames: Readonly<Record<JsonKind, string>> = {
  string: "a string",
  number: "a number",
  object: "an object",
  array: "an array",
  true: "a boolean",
  false: "a boolean",
  null: "null",
};

export function numberRule(name: string, minimum?: number, maximum?: number): ParameterRule {
  return { name, kinds: ["number"], ...bounds(minimum, maximum) };
}

export function integerRule(name: string, minimum: number, maximum = integerMax): ParameterRule {
  return { name, kinds: ["number"], integer: true, minimum, maximum };
}

export function booleanRule(name: string): ParameterRule {
  return { name, kinds: boolean };
}

export function kindRule(name: string, ...kinds: readonly JsonKind[]): ParameterRule {
  return { name, kinds };
}

function bounds(minimum: number | undefined, maximum: number | undefined): Pick<ParameterRule, "minimum" | "maximum"> {
  return { ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) };
}

/**
 * Checks the members that are present.
 * @param prefix spelled before names in errors, for example `generationConfig.`
 * @throws GatewayError `invalid_type`, `invalid_value`
 */
export function checkParameters(object: ScannedObject, rules: readonly ParameterRule[], prefix = ""): void {
  const byName = rulesByName(rules);
  // A body has fewer members than there are rules.
  for (const member of object.members) {
    if (member.kind === "null") continue;
    const rule = byName.get(member.name);
    if (rule !== undefined) checkMember(object, member, rule, prefix + rule.name);
  }
}

const indexes = new WeakMap<readonly ParameterRule[], ReadonlyMap<string, ParameterRule>>();

function rulesByName(rules: readonly ParameterRule[]): ReadonlyMap<string, ParameterRule> {
  let index = indexes.get(rules);
  if (index === undefined) {
    index = new Map(rules.map((rule) => [rule.name, rule]));
    indexes.set(rules, index);
  }
  return index;
}

function checkMember(object: ScannedObject, member: Member, rule: ParameterRule, param: string): void {
  if (!rule.kinds.includes(member.kind)) {
    const expected = [...new Set(rule.kinds.map((kind) => kindNames[kind]))].join(" or ");
    throw new GatewayError("invalid_type", `'${param}' must be ${rule.integer === true ? "an integer" : expected}.`, {
      param,
    });
  }
  if (member.kind !== "number") return;
  const value = readNumber(object, member);
  if (value === undefined) throw invalidValue(param, "must be a finite number");
  if (rule.integer === true && !Number.isInteger(value)) throw invalidValue(param, "must be an integer");
  checkRange(value, rule.minimum, rule.maximum, param);
}

function checkRange(value: number, minimum: number | undefined, maximum: number | undefined, param: string): void {
  const isBelow = minimum !== undefined && value < minimum;
  if (!isBelow && !(maximum !== undefined && value > maximum)) return;
  if (minimum !== undefined && maximum !== undefined && maximum !== integerMax) {
    throw invalidValue(param, `must be between ${minimum} and ${maximum}`);
  }
  throw invalidValue(param, isBelow ? `must be at least ${minimum}` : `must be at most ${maximum}`);
}

export function invalidValue(param: string, problem: string): GatewayError {
  return new GatewayError("invalid_value", `'${param}' ${problem}.`, { param });
}

/** A member that is there and not null. */
export function presentMember(object: ScannedObject, name: string): Member | undefined {
  const member = object.member(name);
  return member === undefined || member.kind === "null" ? undefined : member;
}

/** @throws GatewayError `missing_parameter` */
export function requireMember(object: ScannedObject, name: string): Member {
  const member = presentMember(object, name);
  if (member === undefined) {
    throw new GatewayError("missing_parameter", `Missing required parameter: '${name}'.`, { param: name });
  }
  return member;
}

/** The model a body names. @throws GatewayError `missing_parameter`, `invalid_type`, `invalid_value` */
export function requireModel(object: ScannedObject): string {
  const member = requireMember(object, "model");
  const model = readString(object, member);
  if (model === undefined) throw new GatewayError("invalid_type", "'model' must be a string.", { param: "model" });
  if (model === "") throw invalidValue("model", "must not be empty");
  return model;
}

/** A list that must hold something. @throws GatewayError `missing_parameter`, `invalid_type`, `invalid_value` */
export function requireList(object: ScannedObject, name: string): void {
  const member = requireMember(object, name);
  if (member.kind !== "array") throw new GatewayError("invalid_type", `'${name}' must be an array.`, { param: name });
  if (isEmptyList(object, member)) throw invalidValue(name, "must not be empty");
}

function isEmptyList(object: ScannedObject, member: Member): boolean {
  return member.valueEnd - member.valueStart < 64 && /^\[\s*\]$/.test(readText(object, member));
}

/** A count that was checked before; undefined when absent. */
export function readCheckedCount(object: ScannedObject, name: string): number | undefined {
  return readNumber(object, object.member(name));
}

/** A text that was checked before; undefined when absent or of another kind. */
export function readCheckedText(object: ScannedObject, name: string): string | undefined {
  const member = presentMember(object, name);
  return member === undefined ? undefined : readString(object, member);
}

/** True only for a literal `true`. */
export function readFlag(object: ScannedObject, name: string): boolean {
  return object.member(name)?.kind === "true";
}

/** What a route allows a member to be. */
export type ValueRule = Pick<NonNullable<Route["parameters"]>[number], "minimum" | "maximum" | "allowed">;

/** @throws GatewayError `invalid_value`; `invalid_type` where a range is given and the value is no number */
export function checkValue(object: ScannedObject, member: Member, rule: ValueRule, param: string): void {
  if (rule.minimum !== undefined || rule.maximum !== undefined) {
    const value = readNumber(object, member);
    // Some servers read numbers out of texts.
    if (value === undefined) throw new GatewayError("invalid_type", `'${param}' must be a number.`, { param });
    checkRange(value, rule.minimum, rule.maximum, param);
  }
  if (rule.allowed === undefined) return;
  const text = readString(object, member) ?? readText(object, member);
  if (!rule.allowed.includes(text)) {
    throw invalidValue(
      param,
      `must be one of ${rule.allowed.map((allowed) => JSON.stringify(allowed)).join(", ")} for this model`,
    );
  }
}

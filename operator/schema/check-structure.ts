/**
 * Checks a value against a structural schema and applies its defaults, in one walk, as the API server does on a write.
 *
 * Why not ajv: the walk needs only few of its checks, while dropped nulls, defaults that come before the checks,
 * list-maps, sets and unknown fields would all be code of our own around it. Invariants: the input is never changed;
 * applying defaults twice changes nothing; nothing is removed but nulls, which the API server removes too. Called by
 * `validateResource`.
 */
import { isDateTime } from "./date-time.ts";
import { formOf } from "./pattern-forms.ts";
import { type FieldPath, makeProblem, type Problem } from "./problem.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** A JSON object of unknown members. */
export interface JsonObject {
  readonly [name: string]: unknown;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * @param problems where every fault is added
 * @returns the value with defaults applied
 */
export function checkStructure(
  schema: StructuralSchema,
  value: unknown,
  path: FieldPath,
  problems: Problem[],
): unknown {
  if (value === null && schema.nullable === true) return value;
  switch (schema.type) {
    case "object":
      if (isJsonObject(value))
        return checkOnce(schema, value, problems, () => checkObject(schema, value, path, problems));
      break;
    case "array":
      if (Array.isArray(value))
        return checkOnce(schema, value, problems, () => checkList(schema, value, path, problems));
      break;
    case "string":
      if (typeof value === "string") return checkString(schema, value, path, problems);
      break;
    case "integer":
      if (typeof value === "number" && Number.isInteger(value)) return checkInteger(schema, value, path, problems);
      break;
    case "boolean":
      if (typeof value === "boolean") return value;
      break;
    case undefined:
      // Any JSON value (x-kubernetes-preserve-unknown-fields).
      return value;
    default:
      schema.type satisfies never;
  }
  const message = `Invalid value: must be of type ${schema.type}, not ${typeName(value)}`;
  // YAML reads `n`, `on` and `250` as other than text.
  const isUnquoted = schema.type === "string" && (typeof value === "boolean" || typeof value === "number");
  problems.push(makeProblem(path, "type", isUnquoted ? `${message}: write it in quotes if text was meant` : message));
  return value;
}

const sound = new WeakMap<StructuralSchema, WeakMap<object, unknown>>();

/**
 * Frozen parts that passed a schema. Keys share their limits and restrictions (`yaml/read-simple-yaml.ts`), and each shared
 * part is checked once.
 */
function checkOnce(
  schema: StructuralSchema,
  value: object,
  problems: readonly Problem[],
  check: () => unknown,
): unknown {
  if (!Object.isFrozen(value)) return check();
  let known = sound.get(schema);
  if (known === undefined) sound.set(schema, (known = new WeakMap()));
  const before = known.get(value);
  if (before !== undefined) return before;
  const count = problems.length;
  const checked = check();
  if (problems.length === count) known.set(value, Object.freeze(checked));
  return checked;
}

function checkObject(schema: StructuralSchema, value: JsonObject, path: FieldPath, problems: Problem[]): JsonObject {
  const { properties = {}, additionalProperties, maxProperties, required = [] } = schema;
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const child = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (child === undefined) {
      problems.push(makeProblem([...path, name], "unknown", unknownFieldMessage(name, Object.keys(properties))));
      members.push([name, member]);
    } else if (member !== null || child.nullable === true) {
      members.push([name, checkStructure(child, member, [...path, name], problems)]);
    }
  }
  const isGiven = (name: string, child: StructuralSchema | undefined): boolean =>
    Object.hasOwn(value, name) && (value[name] !== null || child?.nullable === true);
  for (const [name, child] of defaultedMembers(schema)) {
    if (isGiven(name, child)) continue;
    members.push([name, checkStructure(child, structuredClone(child.default), [...path, name], problems)]);
  }
  for (const name of required) {
    const child = properties[name];
    if (isGiven(name, child) || child?.default !== undefined) continue;
    problems.push(makeProblem([...path, name], "required", `Required value: give ${name}`));
  }
  if (maxProperties !== undefined && members.length > maxProperties) {
    problems.push(makeProblem(path, "maxProperties", `Too many: must have at most ${maxProperties} members`));
  }
  // Without assignment, so that a member called __proto__ stays a member.
  return Object.fromEntries(members);
}

const defaulted = new WeakMap<StructuralSchema, readonly (readonly [string, StructuralSchema])[]>();

/** The members of an object that have a default; found once, for a hundred thousand objects may be checked. */
function defaultedMembers(schema: StructuralSchema): readonly (readonly [string, StructuralSchema])[] {
  const known = defaulted.get(schema);
  if (known !== undefined) return known;
  const found = Object.entries(schema.properties ?? {}).filter(([, child]) => child.default !== undefined);
  defaulted.set(schema, found);
  return found;
}

function checkList(
  schema: StructuralSchema,
  value: readonly unknown[],
  path: FieldPath,
  problems: Problem[],
): readonly unknown[] {
  const { items, minItems = 0, maxItems } = schema;
  if (maxItems !== undefined && value.length > maxItems) {
    // The items of an oversized list are not checked: the list of problems would be oversized too.
    problems.push(makeProblem(path, "maxItems", `Too many: ${value.length}: must have at most ${maxItems} items`));
    return value;
  }
  if (value.length < minItems) {
    problems.push(makeProblem(path, "minItems", `Invalid value: should have at least ${minItems} items`));
  }
  if (items === undefined) return value;
  const checked = value.map((item, index) => checkStructure(items, item, [...path, index], problems));
  checkUniqueness(schema, checked, path, problems);
  return checked;
}

function checkUniqueness(
  schema: StructuralSchema,
  items: readonly unknown[],
  path: FieldPath,
  problems: Problem[],
): void {
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (listType !== "set" && listType !== "map") return;
  const seen = new Set<string>();
  items.forEach((item, index) => {
    const identity = JSON.stringify(listType === "set" ? item : keys.map((key) => isJsonObject(item) && item[key]));
    if (seen.has(identity)) {
      const [key] = listType === "map" ? keys : [];
      const at =
        key !== undefined && isJsonObject(item) && Object.hasOwn(item, key) ? [...path, index, key] : [...path, index];
      const subject = listType === "map" ? `each ${keys.join(" and ")} may occur once` : "each entry may occur once";
      problems.push(makeProblem(at, "duplicate", `Duplicate value: ${subject} in this list`));
    }
    seen.add(identity);
  });
}

function checkString(schema: StructuralSchema, value: string, path: FieldPath, problems: Problem[]): string {
  const { minLength = 0, maxLength, pattern, format } = schema;
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    const choices = schema.enum.map((choice) => `"${choice}"`).join(", ");
    problems.push(makeProblem(path, "enum", `Unsupported value: ${quote(value)}: supported values: ${choices}`));
  }
  if (maxLength !== undefined && countCharacters(value, maxLength) > maxLength) {
    problems.push(makeProblem(path, "maxLength", `Too long: may not be more than ${maxLength} characters`));
    return value;
  }
  if (countCharacters(value, minLength * 2) < minLength) {
    problems.push(makeProblem(path, "minLength", `Invalid value: should be at least ${minLength} chars long`));
  }
  if (pattern !== undefined && !patternOf(pattern).test(value)) {
    const form = formOf(pattern);
    const message = form === undefined ? `should match '${pattern}'` : `should match the form of ${form}`;
    problems.push(makeProblem(path, "pattern", `Invalid value: ${message}`));
  } else if (format === "date-time" && !isDateTime(value)) {
    problems.push(makeProblem(path, "format", "Invalid value: must be a date-time that exists"));
  }
  return value;
}

function checkInteger(schema: StructuralSchema, value: number, path: FieldPath, problems: Problem[]): number {
  const { minimum, maximum } = schema;
  if (minimum !== undefined && value < minimum) {
    problems.push(
      makeProblem(path, "minimum", `Invalid value: ${value}: should be greater than or equal to ${minimum}`),
    );
  }
  if (maximum !== undefined && value > maximum) {
    problems.push(makeProblem(path, "maximum", `Invalid value: ${value}: should be less than or equal to ${maximum}`));
  }
  return value;
}

const patterns = new Map<string, RegExp>();

function patternOf(source: string): RegExp {
  const known = patterns.get(source);
  if (known !== undefined) return known;
  const compiled = new RegExp(source, "u");
  patterns.set(source, compiled);
  return compiled;
}

/** Lengths count code points; a string of at most `enough` code units needs no counting. */
function countCharacters(value: string, enough: number): number {
  if (value.length <= enough && !/[\ud800-\udfff]/.test(value)) return value.length;
  let count = 0;
  for (const _character of value) count += 1;
  return count;
}

/** Only names and choices are quoted: another value may be a secret in the wrong place. */
function quote(value: string): string {
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

/** Names the field that was probably meant, where only the case or the plural differs. */
function unknownFieldMessage(name: string, known: readonly string[]): string {
  const fold = (text: string): string => text.toLowerCase().replace(/s$/, "");
  const meant = known.find((candidate) => fold(candidate) === fold(name));
  return `unknown field ${quote(name)}${meant === undefined ? "" : `: did you mean ${meant}?`}`;
}

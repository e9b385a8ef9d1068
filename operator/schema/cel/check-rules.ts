/**
 * Evaluates the CEL rules of a structural schema (`x-kubernetes-validations`) as the API server does.
 *
 * Rules keep to a closed vocabulary (docs/design/configuration.md 2.1): operators, `size`, `has`, `all`, `exists`,
 * `startsWith`, `endsWith`, `matches`, `isCIDR`, `timestamp` and `quantity(...).compareTo`, with patterns that RE2 and
 * JavaScript read alike. `self` is the node and `oldSelf` the same node of the previous version; a rule that reads
 * `oldSelf` is skipped without a previous version. Values are typed by the schema: integers are CEL ints, strings of
 * format date-time are timestamps. Called by `validateResource` after the structure has passed.
 */
import { Environment, type ParseResult } from "@marcbachmann/cel-js";
import { type FieldPath, makeProblem, type Problem } from "#operator/schema/problem";
import type { StructuralSchema, ValidationRule } from "#operator/schema/structural-schema";
import { isCidr } from "./cidr.ts";
import { compareQuantities, parseQuantity } from "./quantity.ts";

/** Gives cel-js a constructor to tell quantities from other objects. */
class CelQuantity {
  readonly value: ReturnType<typeof parseQuantity>;

  constructor(text: string) {
    this.value = parseQuantity(text);
  }
}

const environment = new Environment()
  .registerVariable("self", "dyn")
  .registerVariable("oldSelf", "dyn")
  .registerType("Quantity", { ctor: CelQuantity, fields: {} })
  .registerFunction("isCIDR(string): bool", (text: string) => isCidr(text))
  .registerFunction("quantity(string): Quantity", (text: string) => new CelQuantity(text))
  .registerFunction("Quantity.compareTo(Quantity): int", (left: CelQuantity, right: CelQuantity) =>
    BigInt(compareQuantities(left.value, right.value)),
  );

interface CompiledRule {
  readonly source: ValidationRule;
  readonly isTransition: boolean;
  readonly evaluate: ParseResult;
}

const compiledRules = new WeakMap<StructuralSchema, readonly CompiledRule[]>();
const bearers = new WeakMap<StructuralSchema, boolean>();
const comparers = new WeakMap<StructuralSchema, boolean>();
const bearing = new WeakMap<StructuralSchema, readonly (readonly [string, StructuralSchema])[]>();

/**
 * Compiles the rules of one schema node, once.
 *
 * @throws Error for a rule that does not parse or is not a condition: a fault of the CRD, found by a test
 */
export function compileRules(schema: StructuralSchema): readonly CompiledRule[] {
  const known = compiledRules.get(schema);
  if (known !== undefined) return known;
  const rules = (schema["x-kubernetes-validations"] ?? []).map((source) => {
    const evaluate = environment.parse(source.rule);
    const check = evaluate.check();
    if (!check.valid || (check.type !== "bool" && check.type !== "dyn")) {
      throw new Error(`Rule "${source.rule}" is not a condition.`, { cause: check.error });
    }
    return { source, isTransition: /\boldSelf\b/.test(source.rule), evaluate };
  });
  compiledRules.set(schema, rules);
  return rules;
}

/**
 * Checks all rules of `schema` and below.
 *
 * @param value the object with its defaults
 * @param previous the same place of the last good version; undefined when there is none
 * @param isBroken tells whether the structure at or below a path is already reported, so that no rule reads it
 */
export function checkRules(
  schema: StructuralSchema,
  value: unknown,
  previous: unknown,
  path: FieldPath,
  isBroken: (path: FieldPath) => boolean,
): readonly Problem[] {
  const problems: Problem[] = [];
  visit(schema, value, previous, path);
  return problems;

  function visit(node: StructuralSchema, self: unknown, oldSelf: unknown, here: FieldPath): void {
    if (self === undefined || self === null || isKnownSound(node, self)) return;
    const count = problems.length;
    const isWhole = !isBroken(here);
    if (node["x-kubernetes-validations"] !== undefined && isWhole) runRules(node, self, oldSelf, here, problems);
    visitBelow(node, self, oldSelf, here);
    if (isWhole && problems.length === count) noteSound(node, self);
  }

  function visitBelow(node: StructuralSchema, self: unknown, oldSelf: unknown, here: FieldPath): void {
    const { items, additionalProperties } = node;
    if (Array.isArray(self)) {
      if (items === undefined || !bearsRules(items)) return;
      const oldItems = Array.isArray(oldSelf) ? oldSelf : [];
      for (const [index, item] of self.entries()) visit(items, item, correlate(node, item, oldItems), [...here, index]);
      return;
    }
    if (!isRecord(self)) return;
    const members: readonly (readonly [string, StructuralSchema])[] =
      additionalProperties !== undefined && bearsRules(additionalProperties)
        ? Object.keys(self).map((name) => [name, additionalProperties] as const)
        : bearingMembers(node);
    for (const [name, child] of members) {
      if (!Object.hasOwn(self, name)) continue;
      const oldMember = isRecord(oldSelf) && Object.hasOwn(oldSelf, name) ? oldSelf[name] : undefined;
      visit(child, self[name], oldMember, [...here, name]);
    }
  }
}

const sound = new WeakMap<StructuralSchema, WeakSet<object>>();

/** A frozen part that kept all rules keeps them everywhere, unless a rule compares it with its previous version. */
function isKnownSound(node: StructuralSchema, self: unknown): boolean {
  return typeof self === "object" && self !== null && sound.get(node)?.has(self) === true;
}

function noteSound(node: StructuralSchema, self: unknown): void {
  if (typeof self !== "object" || self === null || !Object.isFrozen(self) || bearsTransitions(node)) return;
  let known = sound.get(node);
  if (known === undefined) sound.set(node, (known = new WeakSet()));
  known.add(self);
}

function runRules(node: StructuralSchema, self: unknown, oldSelf: unknown, path: FieldPath, problems: Problem[]): void {
  const rules = compileRules(node).filter(({ isTransition }) => !isTransition || oldSelf !== undefined);
  if (rules.length === 0) return;
  const context = { self: toCel(node, self), oldSelf: oldSelf === undefined ? undefined : toCel(node, oldSelf) };
  for (const rule of rules) runRule(rule, context, path, problems);
}

function runRule(
  rule: CompiledRule,
  context: { readonly self: unknown; readonly oldSelf: unknown },
  path: FieldPath,
  problems: Problem[],
): void {
  const { source } = rule;
  const at = [...path, ...(source.fieldPath ?? "").split(".").filter((step) => step !== "")];
  try {
    if (rule.evaluate(context) !== true) problems.push(makeProblem(at, source.rule, source.message));
  } catch {
    // The API server also refuses a value on which a rule fails.
    problems.push(makeProblem(at, source.rule, `${source.message} (the rule could not be evaluated)`));
  }
}

/** The item of the previous list with the same keys in a list-map; other lists have none. */
function correlate(list: StructuralSchema, item: unknown, oldItems: readonly unknown[]): unknown {
  const keys = list["x-kubernetes-list-map-keys"];
  if (keys === undefined || !isRecord(item)) return undefined;
  return oldItems.find((old) => isRecord(old) && keys.every((key) => old[key] === item[key]));
}

function childSchema(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  const { properties, additionalProperties } = schema;
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
}

/** Whether there are rules at a node or below it. */
function bearsRules(schema: StructuralSchema): boolean {
  const known = bearers.get(schema);
  if (known !== undefined) return known;
  const children = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties];
  const bears =
    schema["x-kubernetes-validations"] !== undefined ||
    children.some((child) => child !== undefined && bearsRules(child));
  bearers.set(schema, bears);
  return bears;
}

/** Whether a rule at a node or below it compares with the previous version. */
function bearsTransitions(schema: StructuralSchema): boolean {
  const known = comparers.get(schema);
  if (known !== undefined) return known;
  const children = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties];
  const bears =
    compileRules(schema).some(({ isTransition }) => isTransition) ||
    children.some((child) => child !== undefined && bearsTransitions(child));
  comparers.set(schema, bears);
  return bears;
}

/** The members of an object with rules at or below them. */
function bearingMembers(schema: StructuralSchema): readonly (readonly [string, StructuralSchema])[] {
  const known = bearing.get(schema);
  if (known !== undefined) return known;
  const found = Object.entries(schema.properties ?? {}).filter(([, child]) => bearsRules(child));
  bearing.set(schema, found);
  return found;
}

/** Objects as maps: cel-js tells kinds of values by their constructor, and a member may have that name. */
function toCel(schema: StructuralSchema | undefined, value: unknown): unknown {
  if (schema?.type === "integer" && Number.isInteger(value)) return BigInt(Number(value));
  if (schema?.format === "date-time" && typeof value === "string") return new Date(value);
  if (Array.isArray(value)) return value.map((item) => toCel(schema?.items, item));
  if (!isRecord(value)) return value;
  return new Map(
    Object.entries(value).map(([name, member]) => [name, toCel(schema && childSchema(schema, name), member)]),
  );
}

function isRecord(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** The CRDs against the project's rules for them, and every rule against its pair of example files. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { compileRules } from "#operator/schema/cel/check-rules";
import { isJsonObject } from "#operator/schema/check-structure";
import { customKinds } from "#operator/schema/custom-kinds.gen";
import type { StructuralSchema } from "#operator/schema/structural-schema";
import { validateResource } from "#operator/schema/validate-resource";
import { projectRoot } from "#scripts/run";
import { counterpart, readExamples } from "#test/support/crd-examples";

interface Field {
  readonly path: string;
  readonly schema: StructuralSchema;
}

function listFields(schema: StructuralSchema, path: string): Field[] {
  const children: [string, StructuralSchema | undefined][] = [
    ...Object.entries(schema.properties ?? {}).map(([name, child]): [string, StructuralSchema] => [`.${name}`, child]),
    ["[]", schema.items],
    ["{}", schema.additionalProperties],
  ];
  const below = children.flatMap(([step, child]) => (child === undefined ? [] : listFields(child, path + step)));
  return [{ path, schema }, ...below];
}

const fields = customKinds.flatMap(({ kind, schema }) => listFields(schema, kind));
const authored = fields.filter(({ path }) => !/^\w+\.(metadata|apiVersion|kind)$/.test(path));
const rules = fields.flatMap(({ path, schema }) =>
  (schema["x-kubernetes-validations"] ?? []).map((rule) => ({ path, schema, rule })),
);

describe("the custom resource definitions", () => {
  it("describe every field", () => {
    const missing: string[] = [];
    const visit = (schema: unknown, path: string): void => {
      if (!isJsonObject(schema)) return;
      if (typeof schema["description"] !== "string") missing.push(path);
      const { properties, items, additionalProperties } = schema;
      for (const [name, child] of Object.entries(isJsonObject(properties) ? properties : {}))
        visit(child, `${path}.${name}`);
      visit(items, `${path}[]`);
      visit(additionalProperties, `${path}{}`);
    };
    for (const file of readdirSync(join(projectRoot, "crds")).filter((name) => name.endsWith(".yaml"))) {
      const { spec } = parse(readFileSync(join(projectRoot, "crds", file), "utf8"));
      visit(spec.versions[0].schema.openAPIV3Schema, spec.names.kind);
    }
    // Kubernetes describes metadata itself and allows no description there.
    assert.deepEqual(
      missing.filter((path) => !path.endsWith(".metadata") || path.includes(".spec.")),
      [],
    );
  });

  it("show at most six columns, conditions by their type and the age last", () => {
    for (const file of readdirSync(join(projectRoot, "crds")).filter((name) => name.endsWith(".yaml"))) {
      const { spec, metadata } = parse(readFileSync(join(projectRoot, "crds", file), "utf8"));
      const [version] = spec.versions;
      const columns: { name: string; jsonPath: string; priority?: number }[] = version.additionalPrinterColumns;
      assert.ok(columns.filter(({ priority = 0 }) => priority === 0).length <= 6, file);
      assert.equal(columns.at(-1)?.name, "Age");
      assert.ok(
        columns.every(({ jsonPath }) => !jsonPath.includes("conditions[0")),
        file,
      );
      assert.deepEqual(version.subresources, { status: {} });
      assert.deepEqual(spec.names.categories, ["tollgate"]);
      assert.match(spec.names.shortNames.join(), /^tg(key|ch|route|acct)$/);
      assert.equal(metadata.annotations["helm.sh/resource-policy"], "keep");
    }
  });

  it("bound every list, string and map", () => {
    const unbounded = authored.filter(({ schema }) => {
      if (schema.type === "array") return schema.maxItems === undefined;
      if (schema.type === "string") return schema.maxLength === undefined && schema.enum === undefined;
      if (schema.type === "integer") return schema.minimum === undefined || schema.maximum === undefined;
      return schema.additionalProperties !== undefined && schema.maxProperties === undefined;
    });
    assert.deepEqual(
      unbounded.map(({ path }) => path),
      [],
    );
  });

  it("say of every list how it merges", () => {
    const silent = fields.filter(({ schema }) => schema.type === "array" && !schema["x-kubernetes-list-type"]);
    assert.deepEqual(
      silent.map(({ path }) => path),
      [],
    );
  });

  it("keep their rules to the closed vocabulary", () => {
    const allowed = new Set([
      "size",
      "has",
      "all",
      "exists",
      "startsWith",
      "endsWith",
      "matches",
      "isCIDR",
      "quantity",
      "compareTo",
      "timestamp",
    ]);
    for (const { rule, path, schema } of rules) {
      const code = rule.rule.replace(/'(?:[^'\\]|\\.)*'/g, "''");
      const called = [...code.matchAll(/([A-Za-z]+)\(/g)].map(([, name]) => name ?? "");
      assert.deepEqual(
        called.filter((name) => !allowed.has(name)),
        [],
        `${path}: ${rule.rule}`,
      );
      assert.doesNotThrow(() => compileRules(schema));
    }
  });

  it("point every rule of an object at a field that it has", () => {
    for (const { rule, path, schema } of rules.filter(({ rule: { fieldPath } }) => fieldPath !== undefined)) {
      assert.ok(Object.hasOwn(schema.properties ?? {}, (rule.fieldPath ?? "").slice(1)), `${path}${rule.fieldPath}`);
    }
  });
});

describe("the examples of the custom resource definitions", () => {
  const valid = readExamples("valid");
  const invalid = readExamples("invalid");

  for (const { name, document } of valid) {
    it(`valid/${name} is accepted`, () => assert.deepEqual(validateResource(document.object).problems, []));
  }

  for (const example of invalid) {
    it(`invalid/${example.name} is refused at its field`, () => {
      const { object: previous } = validateResource(counterpart(example, valid).document.object);
      assert.ok(previous !== undefined && "spec" in previous);
      const { object, problems } = validateResource(example.document.object, example.isChange ? { previous } : {});
      assert.equal(object, undefined);
      const problem = problems.find(({ message }) => message.includes(example.expect));
      assert.ok(problem, JSON.stringify(problems));
      assert.ok(problem.field.startsWith(example.field), problem.field);
      const { line } = example.document.locate(problem.path);
      assert.ok(line > 3, "the line is the field's, not the file's");
    });
  }

  it("break every rule at least once", () => {
    const broken = new Set(
      invalid.flatMap((example) => {
        const previous = validateResource(counterpart(example, valid).document.object).object;
        assert.ok(previous !== undefined && "spec" in previous);
        return validateResource(example.document.object, example.isChange ? { previous } : {}).problems.map(
          ({ rule }) => rule,
        );
      }),
    );
    const untested = rules
      .filter(({ rule }) => !broken.has(rule.rule))
      .map(({ path, rule }) => `${path}: ${rule.rule}`);
    assert.deepEqual(untested, []);
  });

  it("come in pairs", () => {
    assert.deepEqual(
      valid.map(({ name }) => name),
      invalid.map(({ name }) => name),
    );
  });
});

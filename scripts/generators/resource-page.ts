/** The reference page of all resources, field by field, from `crds/*.yaml`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { projectRoot } from "#scripts/run";
import type { GeneratedFile } from "./generated-file.ts";

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly "x-kubernetes-validations"?: readonly { readonly message: string }[];
}

export async function generateResourcePage(): Promise<readonly GeneratedFile[]> {
  const folder = join(projectRoot, "crds");
  const names = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  const lines = [
    "# Resources",
    "",
    "<!-- Generated from crds/*.yaml by `npm run generate`; do not edit. -->",
    "",
    "Group `tollgate.dev/v1alpha1`, category `tollgate`, all namespaced. `*` marks what is required. What the conditions of a",
    "status mean stands in [status.md](status.md).",
  ];
  for (const name of names) {
    const { spec } = parse(readFileSync(join(folder, name), "utf8"));
    const schema: Schema = spec.versions[0].schema.openAPIV3Schema;
    lines.push(
      "",
      `## ${spec.names.kind}`,
      "",
      `${textOf(schema.description)} Short name \`${spec.names.shortNames[0]}\`.`,
    );
    for (const part of ["spec", "status"]) {
      const properties = schema.properties?.[part];
      if (properties === undefined) continue;
      lines.push("", "| Field | Value | Default | Meaning |", "| --- | --- | --- | --- |");
      lines.push(...rowsOf(properties, part, new Set(schema.required).has(part)));
    }
  }
  lines.push("");
  return [{ path: join(projectRoot, "docs", "resources.md"), content: lines.join("\n") }];
}

function rowsOf(schema: Schema, path: string, isRequired: boolean): string[] {
  const rules = (schema["x-kubernetes-validations"] ?? []).map(({ message }) => message);
  const meaning = [textOf(schema.description), ...rules.map((rule) => `Rule: ${textOf(rule)}.`)].join(" ");
  const standard = schema.default === undefined ? "" : `\`${JSON.stringify(schema.default)}\``;
  const row = `| \`${path}\`${isRequired ? " *" : ""} | ${describeValue(schema)} | ${standard} | ${meaning} |`;
  const below = schema.items ?? schema;
  const prefix = schema.items === undefined ? path : `${path}[]`;
  const required = new Set(below.required);
  return [
    row,
    ...Object.entries(below.properties ?? {}).flatMap(([name, child]) => {
      return rowsOf(child, `${prefix}.${name}`, required.has(name));
    }),
  ];
}

function describeValue({ type, enum: choices, items, maxItems, maxLength, minimum, maximum }: Schema): string {
  if (choices !== undefined) return choices.map((choice) => `\`${choice}\``).join(", ");
  if (items !== undefined) {
    return `list${maxItems === undefined ? "" : ` of at most ${maxItems}`}${items.properties ? "" : `: ${describeValue(items)}`}`;
  }
  if (maxLength !== undefined) return `${type}, at most ${maxLength} characters`;
  if (minimum !== undefined || maximum !== undefined) return `${type}, ${minimum ?? ""} to ${maximum ?? ""}`;
  return type ?? "any";
}

function textOf(text = ""): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replaceAll("|", "\\|")
    .replace(/\.$/, text.endsWith(".") ? "." : "");
}

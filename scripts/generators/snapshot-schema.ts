/**
 * Reads `proxy/snapshot/schema.json` for the generators and gives its shared enums their values.
 *
 * Most closed sets of wire objects are those of resources or of settings. They are written once, in the CRD or in
 * `cli/settings.schema.json`; the snapshot's schema names the place: `{ "enumFrom": "Channel.spec.provider" }` or
 * `{ "enumFrom": "settings.revocation" }`. A list that is written out although a CRD or the settings have the same
 * values is an error: the two lists could drift apart.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "#scripts/run";
import { readCrdSchemas } from "./crd-schemas.ts";

export type Enums = ReadonlyMap<string, readonly unknown[]>;

export interface SnapshotSchema {
  $id: string;
  definitions: { [name: string]: SchemaNode };
}

/** The keywords that readers of the schema ask for. */
export interface SchemaNode {
  $ref?: string;
  properties?: { [name: string]: SchemaNode };
  items?: SchemaNode;
  enum?: string[];
}

/** The snapshot's schema as plain JSON Schema: no `enumFrom` is left in it. */
export function readSnapshotSchema(): SnapshotSchema {
  return resolveEnums(readJson("proxy/snapshot/schema.json"), sharedEnums());
}

/** All enums of specs and of settings by their place; `[]` stands for the items of a list. */
export function sharedEnums(): Enums {
  const enums = new Map<string, readonly unknown[]>();
  for (const { kind, root } of readCrdSchemas()) collectEnums(root.properties?.["spec"], `${kind}.spec`, enums);
  collectEnums(readJson("cli/settings.schema.json"), "settings", enums);
  return enums;
}

function readJson(path: string) {
  return JSON.parse(readFileSync(join(projectRoot, path), "utf8"));
}

function collectEnums(node: unknown, place: string, enums: Map<string, readonly unknown[]>): void {
  if (!isObject(node)) return;
  if (Array.isArray(node["enum"])) enums.set(place, node["enum"]);
  collectEnums(node["items"], `${place}[]`, enums);
  if (!isObject(node["properties"])) return;
  for (const [name, child] of Object.entries(node["properties"])) collectEnums(child, `${place}.${name}`, enums);
}

/**
 * Copies a schema with `enumFrom` replaced by the values of that place.
 *
 * @throws when no enum has the place, or when a list repeats the values of one.
 */
export function resolveEnums<Schema>(schema: Schema, enums: Enums): Schema;
export function resolveEnums(schema: unknown, enums: Enums): unknown {
  if (Array.isArray(schema)) return schema.map((item) => resolveEnums(item, enums));
  if (!isObject(schema)) return schema;
  const { enumFrom, ...rest } = schema;
  if (Array.isArray(rest["enum"])) refuseRepeated(rest["enum"], enums);
  const copy = Object.fromEntries(Object.entries(rest).map(([name, child]) => [name, resolveEnums(child, enums)]));
  if (enumFrom === undefined) return copy;
  const values = enums.get(String(enumFrom));
  if (values === undefined) throw new Error(`proxy/snapshot/schema.json: no enum has the place ${enumFrom}.`);
  return { enum: values, ...copy };
}

function refuseRepeated(values: readonly unknown[], enums: Enums): void {
  const sorted = JSON.stringify(values.toSorted());
  const places = [...enums]
    .filter(([, shared]) => JSON.stringify(shared.toSorted()) === sorted)
    .map(([place]) => place);
  if (places.length === 0) return;
  throw new Error(`proxy/snapshot/schema.json repeats an enum: write "enumFrom" with one of ${places.join(", ")}.`);
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads `crds/*.yaml` for the generators: each kind with its API version and its structural schema. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { projectRoot } from "#scripts/run";

/** A structural schema as a CRD spells it. */
export interface CrdSchemaNode {
  [keyword: string]: unknown;
  properties?: { [name: string]: CrdSchemaNode };
  items?: CrdSchemaNode;
  additionalProperties?: CrdSchemaNode | boolean;
  required?: string[];
}

export interface CrdSchema {
  readonly kind: string;
  readonly apiVersion: string;
  readonly root: CrdSchemaNode;
}

/** All kinds in the order of their files' names. */
export function readCrdSchemas(): readonly CrdSchema[] {
  const folder = join(projectRoot, "crds");
  const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  return files.sort().map((file) => {
    const { spec } = parse(readFileSync(join(folder, file), "utf8"));
    const [version] = spec.versions;
    return {
      kind: spec.names.kind,
      apiVersion: `${spec.group}/${version.name}`,
      root: version.schema.openAPIV3Schema,
    };
  });
}

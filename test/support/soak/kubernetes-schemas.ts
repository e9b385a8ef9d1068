/**
 * JSON Schemas of kinds for kubeconform, one file a kind: of Kubernetes from its published OpenAPI document, of other
 * projects and of ours from their CRDs. Strict: what a kind does not name is refused.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

interface SchemaNode {
  $ref?: string;
  properties?: Record<string, SchemaNode>;
  items?: SchemaNode;
  additionalProperties?: boolean | SchemaNode;
  format?: string;
  type?: string | string[];
  nullable?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-group-version-kind"?: readonly Kind[];
}

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface ResourceDefinition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: SchemaNode } }[];
  };
}

/** What OpenAPI 2 is written in: bounds are numbers with a flag beside them. */
const draft = "http://json-schema.org/draft-04/schema#";

/** Where kubeconform looks for the schema of a kind (its template language). */
export const schemaLocation = (folder: string): string => join(folder, "{{.ResourceKind}}{{.KindSuffix}}.json");

/** @param document path of `swagger.json` in the sources of Kubernetes */
export function writeKubernetesSchemas(folder: string, document: string): void {
  const { definitions }: { definitions: Record<string, SchemaNode> } = JSON.parse(readFileSync(document, "utf8"));
  for (const definition of Object.values(definitions)) makeStrict(definition);
  for (const [name, definition] of Object.entries(definitions))
    for (const kind of definition["x-kubernetes-group-version-kind"] ?? [])
      writeSchema(folder, kind, { $ref: `#/definitions/${name}`, definitions: reachable(name, definitions) });
}

/** @param files of CRDs, in YAML */
export function writeResourceSchemas(folder: string, files: readonly string[]): void {
  for (const document of files.flatMap((file) => parseAllDocuments(readFileSync(file, "utf8")))) {
    const { spec }: ResourceDefinition = document.toJS();
    for (const { name: version, schema } of spec.versions) {
      const { openAPIV3Schema: root } = schema;
      makeStrict(root);
      // What every object has; CRDs leave it to the API server.
      root.properties = {
        ...root.properties,
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: { type: "object" },
      };
      writeSchema(folder, { group: spec.group, version, kind: spec.names.kind }, root);
    }
  }
}

function writeSchema(folder: string, { group, version, kind }: Kind, schema: object): void {
  mkdirSync(folder, { recursive: true });
  const parts = [kind.toLowerCase(), ...(group === "" ? [] : [group.split(".")[0] ?? ""]), version];
  writeFileSync(join(folder, `${parts.join("-")}.json`), JSON.stringify({ $schema: draft, ...schema }));
}

/** Documents of OpenAPI let unknown fields pass, and write numbers or text as text. */
function makeStrict(node: SchemaNode): void {
  const isOpen =
    node["x-kubernetes-preserve-unknown-fields"] === true || node["x-kubernetes-embedded-resource"] === true;
  if (node.properties !== undefined && node.additionalProperties === undefined && !isOpen)
    node.additionalProperties = false;
  if (node.format === "int-or-string") node.type = ["integer", "string"];
  if (node.nullable === true && typeof node.type === "string") node.type = [node.type, "null"];
  for (const child of Object.values(node.properties ?? {})) makeStrict(child);
  if (node.items !== undefined) makeStrict(node.items);
  if (typeof node.additionalProperties === "object") makeStrict(node.additionalProperties);
}

/** A definition with all that it refers to. */
function reachable(name: string, definitions: Readonly<Record<string, SchemaNode>>): Record<string, SchemaNode> {
  const found: Record<string, SchemaNode> = {};
  const open = [name];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const definition = definitions[next];
    if (definition === undefined || next in found) continue;
    found[next] = definition;
    for (const [, reference] of JSON.stringify(definition).matchAll(/"#\/definitions\/([^"]+)"/g))
      if (reference !== undefined) open.push(reference);
  }
  return found;
}

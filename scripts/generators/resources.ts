/** Types of the custom resources and the schemas of the offline validation, from `crds/*.yaml`. */
import { join } from "node:path";
import { compile } from "json-schema-to-typescript";
import { type KindSchema, type StructuralSchema, schemaKeywords } from "#operator/schema/structural-schema";
import { projectRoot } from "#scripts/run";
import { type CrdSchemaNode, readCrdSchemas } from "./crd-schemas.ts";
import type { GeneratedFile } from "./generated-file.ts";

/** Shapes that stand at several places, by member name; the generator fails when two places differ. */
const sharedNames: { readonly [member: string]: string } = {
  "limits[]": "Limit",
  "defaultKeyLimits[]": "Limit",
  "conditions[]": "Condition",
  "capabilities[]": "Capability",
  "protocols[]": "Protocol",
  "matchExpressions[]": "LabelSelectorRequirement",
  selector: "LabelSelector",
  timeouts: "Timeouts",
  body: "BodyRules",
  parameters: "BodyRules",
};

/** Shapes of one place that deserve a name of their own. */
const ownNames: { readonly [path: string]: string } = {
  "ApiKey.spec": "ApiKeySpec",
  "ApiKey.status": "ApiKeyStatus",
  "ApiKey.spec.credentials[]": "ApiKeyCredential",
  "Channel.spec": "ChannelSpec",
  "Channel.spec.provider": "Provider",
  "Channel.spec.preset": "PresetName",
  "Channel.status": "ChannelStatus",
  "Channel.spec.credentials[]": "ChannelCredential",
  "Channel.spec.formats[]": "ChannelFormat",
  "Channel.spec.formats[].type": "WireFormat",
  "Channel.spec.models[]": "ChannelModel",
  "Channel.spec.allowedNamespaces": "AllowedNamespaces",
  "ModelRoute.spec": "ModelRouteSpec",
  "ModelRoute.status": "ModelRouteStatus",
  "ModelRoute.spec.targets[]": "ModelRouteTarget",
  "ModelRoute.spec.failover": "Failover",
  "ModelRoute.spec.keySelector": "KeySelector",
  "ModelRoute.spec.parameters[]": "ParameterRule",
  "ModelRoute.spec.price": "Price",
  "Account.spec": "AccountSpec",
  "Account.status": "AccountStatus",
};

const metadataSchema: CrdSchemaNode = {
  title: "ObjectMetadata",
  description: "Name and place of an object, and what Kubernetes (or the folder source) knows about it.",
  type: "object",
  required: ["name", "namespace"],
  additionalProperties: false,
  properties: {
    name: { type: "string" },
    namespace: { type: "string" },
    uid: { type: "string" },
    resourceVersion: { type: "string" },
    generation: { type: "integer" },
    creationTimestamp: { type: "string" },
    deletionTimestamp: { type: "string" },
    labels: { tsType: "{ [key: string]: string }" },
    annotations: { tsType: "{ [key: string]: string }" },
  },
};

/** Collects named shapes while it turns a structural schema into one that json-schema-to-typescript understands. */
class TypeSchemas {
  readonly definitions: { [name: string]: CrdSchemaNode } = {};

  convert(schema: CrdSchemaNode, path: string): CrdSchemaNode {
    const converted: CrdSchemaNode = {};
    if (schema["description"] !== undefined) converted["description"] = schema["description"];
    if (schema["x-kubernetes-preserve-unknown-fields"] === true) return { ...converted, tsType: "unknown" };
    for (const keyword of ["type", "enum"]) if (schema[keyword] !== undefined) converted[keyword] = schema[keyword];
    if (schema.items !== undefined) converted.items = this.convert(schema.items, `${path}[]`);
    else if (typeof schema.additionalProperties === "object") converted["tsType"] = "{ [key: string]: string }";
    else if (schema.properties !== undefined) {
      converted.additionalProperties = false;
      converted.properties = Object.fromEntries(
        Object.entries(schema.properties).map(([name, child]) => [name, this.convert(child, `${path}.${name}`)]),
      );
      // Defaults are applied before anything reads an object, so a field with a default is always there.
      const defaulted = Object.entries(schema.properties).filter(([, child]) => child["default"] !== undefined);
      converted.required = [...new Set([...(schema.required ?? []), ...defaulted.map(([name]) => name)])];
    }
    const name = ownNames[path] ?? sharedNames[path.slice(path.lastIndexOf(".") + 1)];
    return name === undefined || schema.items !== undefined ? converted : this.#define(name, converted);
  }

  #define(name: string, schema: CrdSchemaNode): CrdSchemaNode {
    const { description, ...shape } = schema;
    const known = this.definitions[name];
    if (known === undefined) this.definitions[name] = { ...schema, title: name };
    else {
      const { description: _description, title: _title, ...knownShape } = known;
      if (JSON.stringify(shape) !== JSON.stringify(knownShape)) throw new Error(`Two shapes claim the name ${name}.`);
    }
    return { ...(description === undefined ? {} : { description }), allOf: [{ $ref: `#/definitions/${name}` }] };
  }
}

export async function generateResourceTypes(): Promise<readonly GeneratedFile[]> {
  const schemas = new TypeSchemas();
  const kinds: CrdSchemaNode[] = [];
  for (const { kind, apiVersion, root } of readCrdSchemas()) {
    const { spec: specSchema, status: statusSchema } = root.properties ?? {};
    if (specSchema === undefined || statusSchema === undefined) throw new Error(`${kind}: spec or status is missing.`);
    schemas.definitions[kind] = {
      title: kind,
      description: root["description"],
      type: "object",
      additionalProperties: false,
      required: ["apiVersion", "kind", "metadata", "spec"],
      properties: {
        apiVersion: { const: apiVersion },
        kind: { const: kind },
        metadata: { allOf: [{ $ref: "#/definitions/ObjectMetadata" }] },
        spec: schemas.convert(specSchema, `${kind}.spec`),
        status: schemas.convert(statusSchema, `${kind}.status`),
      },
    };
    kinds.push({ $ref: `#/definitions/${kind}` });
  }
  schemas.definitions["ObjectMetadata"] = metadataSchema;
  const types = await compile(
    { title: "Resource", description: "Any of the custom resources.", oneOf: kinds, definitions: schemas.definitions },
    "Resource",
    {
      bannerComment:
        "/**\n * Generated from crds/*.yaml by `npm run generate`; do not edit.\n *\n * The types of objects after validation: fields with a default are always there.\n */",
      additionalProperties: false,
      format: false,
      ignoreMinAndMaxItems: true,
      unreachableDefinitions: false,
    },
  );
  return [{ path: join(projectRoot, "operator", "resources", "types.gen.ts"), content: types }];
}

/** The schemas as a module, so that validation reads no file and parses no YAML. */
export async function generateKindSchemas(): Promise<readonly GeneratedFile[]> {
  const kinds = readCrdSchemas().map(({ kind, apiVersion, root }): KindSchema => {
    return { apiVersion, kind, scope: "Namespaced", schema: withoutDescriptions(root, kind) };
  });
  const content = `/** Generated from crds/*.yaml by \`npm run generate\`; do not edit. */
import type { KindSchema } from "./structural-schema.ts";

export const customKinds: readonly KindSchema[] = ${JSON.stringify(kinds, undefined, 1)};
`;
  return [{ path: join(projectRoot, "operator", "schema", "custom-kinds.gen.ts"), content }];
}

/** Copies a schema without its descriptions and refuses what the offline validation would not understand. */
function withoutDescriptions(schema: CrdSchemaNode, path: string): StructuralSchema {
  const copy: { [keyword: string]: unknown } = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "description") continue;
    if (!schemaKeywords.has(keyword)) throw new Error(`${path}: the offline validation does not know ${keyword}.`);
    copy[keyword] = value;
  }
  if (schema.properties !== undefined) {
    const members = Object.entries(schema.properties);
    copy["properties"] = Object.fromEntries(
      members.map(([name, child]) => [name, withoutDescriptions(child, `${path}.${name}`)]),
    );
  }
  if (schema.items !== undefined) copy["items"] = withoutDescriptions(schema.items, `${path}[]`);
  if (typeof schema.additionalProperties === "object") {
    copy["additionalProperties"] = withoutDescriptions(schema.additionalProperties, `${path}{}`);
  }
  return copy;
}

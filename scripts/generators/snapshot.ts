/** Types and validator of the snapshot contract, from `proxy/snapshot/schema.json` and the enums that it shares. */
import { join } from "node:path";
import { Ajv } from "ajv";
import standaloneModule from "ajv/dist/standalone/index.js";
import { compile } from "json-schema-to-typescript";
import { projectRoot } from "#scripts/run";
import type { GeneratedFile } from "./generated-file.ts";
import { readSnapshotSchema } from "./snapshot-schema.ts";

const folder = join(projectRoot, "proxy", "snapshot");

export async function generateSnapshotTypes(): Promise<readonly GeneratedFile[]> {
  const schema = readSnapshotSchema();
  const types = await compile(schema, "WireObject", {
    bannerComment:
      "/** Generated from schema.json, crds/*.yaml and cli/settings.schema.json by `npm run generate`; do not edit. */",
    additionalProperties: false,
    format: false,
    // Bounded arrays as tuples of every length would make the types unreadable; the validator holds the bounds.
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: true,
  });
  return [{ path: join(folder, "types.gen.ts"), content: types }];
}

export async function generateSnapshotValidator(): Promise<readonly GeneratedFile[]> {
  const schema = readSnapshotSchema();
  // `unicode: false`: bounds count UTF-16 units, and the output needs no run-time helper of ajv.
  // One validator a kind, so that an error names a field of that kind and not every branch of a union.
  const ajv = new Ajv({
    allErrors: false,
    strict: false,
    unicode: false,
    code: { source: true, esm: true, lines: true },
  });
  ajv.addKeyword("tsType");
  ajv.addSchema(schema);
  const kinds = ["key", "account", "channel", "credential", "route", "fleet"];
  const references = Object.fromEntries(kinds.map((kind) => [kind, `${schema.$id}#/definitions/${kind}`]));
  const standalone = standaloneModule.default ?? standaloneModule;
  const code = standalone(ajv, references);
  const banner =
    "// Generated from schema.json, crds/*.yaml and cli/settings.schema.json by `npm run generate`; do not edit.\n";
  const declaration = `${banner}import type { ValidateFunction } from "ajv";\n${kinds
    .map((kind) => `export const ${kind}: ValidateFunction;`)
    .join("\n")}\n`;
  return [
    { path: join(folder, "validators.gen.mjs"), content: banner + code },
    { path: join(folder, "validators.gen.d.mts"), content: declaration },
  ];
}

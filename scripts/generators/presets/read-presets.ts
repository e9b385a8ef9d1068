/** Reads `operator/presets/*.yaml` for the generators: each file held against its schema, in the order of the names. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { parse } from "yaml";
import { resolveEnums, sharedEnums } from "#scripts/generators/snapshot-schema";
import { projectRoot } from "#scripts/run";

export interface PresetFile {
  readonly name: string;
  readonly title: string;
  readonly documentation: string;
  readonly extends?: string;
  readonly provider?: string;
  readonly default?: true;
  readonly variants?: { readonly [provider: string]: string };
  readonly baseURL?: string;
  readonly auth?: { readonly header: string; readonly scheme: string };
  readonly quirks?: string;
  readonly credential?: "Required" | "Optional";
  readonly formats: FilePaths;
  readonly otherFormats?: FilePaths;
}

export interface FilePaths {
  readonly [format: string]: string | { readonly path: string; readonly dialect: string };
}

const folder = join(projectRoot, "operator", "presets");

/** @throws Error for a file that its schema refuses */
export function readPresetFiles(): readonly PresetFile[] {
  const check = presetChecker();
  const names = readdirSync(folder).flatMap((file) => (file.endsWith(".yaml") ? [file.slice(0, -".yaml".length)] : []));
  return names.sort().map((name) => {
    const content: unknown = parse(readFileSync(join(folder, `${name}.yaml`), "utf8"));
    const problem = check(content);
    if (problem !== undefined) throw new Error(`operator/presets/${name}.yaml: ${problem}`);
    // The schema has just accepted it.
    return { name, ...(content as Omit<PresetFile, "name">) };
  });
}

/** A function that says what is wrong with the content of a file; undefined: nothing. */
export function presetChecker(): (content: unknown) => string | undefined {
  const ajv = new Ajv({ allErrors: true });
  addFormats.default(ajv);
  ajv.addKeyword("enumFrom");
  const validate = ajv.compile(
    resolveEnums(JSON.parse(readFileSync(join(folder, "preset.schema.json"), "utf8")), sharedEnums()),
  );
  return (content) => (validate(content) ? undefined : ajv.errorsText(validate.errors));
}

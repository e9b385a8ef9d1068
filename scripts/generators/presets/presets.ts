/** What follows from `operator/presets/*.yaml`: the table that the operator compiles with, and the page of providers. */
import { join } from "node:path";
import type { GeneratedFile } from "#scripts/generators/generated-file";
import { projectRoot } from "#scripts/run";
import { readPresetFiles } from "./read-presets.ts";
import { resolvePreset } from "./resolve-preset.ts";

/** Compilation reads no files, so that the presets are code to it. */
export async function generatePresets(): Promise<readonly GeneratedFile[]> {
  const files = readPresetFiles();
  const rows = files.map((file) => `  "${file.name}": ${JSON.stringify(resolvePreset(file, files))},`);
  const defaults = files.filter((file) => file.default);
  const providers = defaults.map(({ provider }) => provider);
  const repeated = providers.find((provider, index) => providers.indexOf(provider) !== index);
  if (repeated !== undefined) throw new Error(`operator/presets: two files are the default of ${repeated}.`);
  const content = `/** Generated from operator/presets/*.yaml by \`npm run generate\`; do not edit. */
import type { PresetName, Provider } from "#operator/resources/types.gen";
import type { Preset } from "./preset.ts";

/** All presets by their name. */
export const presets: { readonly [name in PresetName]: Preset } = {
${rows.join("\n")}
};

/** The preset of channels that name none. Providers without one are not served. */
export const defaultPresets: { readonly [provider in Provider]?: PresetName } = {
${defaults.map(({ name, provider }) => `  ${provider}: "${name}",`).join("\n")}
};
`;
  return [{ path: join(projectRoot, "operator", "compile", "providers", "presets.gen.ts"), content }];
}

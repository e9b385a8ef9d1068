/** What follows from `operator/presets/*.yaml`: the presets that the operator compiles with, and their page. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { GeneratedFile } from "#scripts/generators/generated-file";
import { projectRoot } from "#scripts/run";
import { type PresetFile, readPresetFiles } from "./read-presets.ts";
import { type ResolvedPreset, resolvePreset } from "./resolve-preset.ts";

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

/** The words around the table are written by hand. @throws Error where the page has no place for it */
export async function generateProviderPage(): Promise<readonly GeneratedFile[]> {
  const path = join(projectRoot, "docs", "how-to", "providers.md");
  const page = readFileSync(path, "utf8");
  const place =
    /^(<!-- Generated from operator\/presets\/\*\.yaml by `npm run generate`; do not edit\. -->\n\n)(?:\|.*\n)*\n?/m;
  if (!place.test(page)) throw new Error("docs/how-to/providers.md has no place for the table of presets.");
  const files = readPresetFiles();
  const table = [
    "| `preset` | Upstream | Address | Secret in | Formats |",
    "| --- | --- | --- | --- | --- |",
    ...files.map((file) => rowOf(file, resolvePreset(file, files))),
  ];
  return [{ path, content: page.replace(place, (_, comment) => `${comment}${table.join("\n")}\n\n`) }];
}

function rowOf(file: PresetFile, { baseURL, auth, needsCredential, formats }: ResolvedPreset): string {
  const name = `[\`${file.name}\`](../../operator/presets/${file.name}.yaml)`;
  const upstream = `[${file.title}](${file.documentation})`;
  const address = baseURL === undefined ? "yours" : `\`${baseURL}\``;
  const secret = needsCredential ? `\`${auth.name}\`` : `(\`${auth.name}\`)`;
  const spoken = formats.map(({ type, dialect }) => (dialect === undefined ? type : `${type} (${dialect})`));
  return `| ${[name, upstream, address, secret, spoken.join(", ")].join(" | ")} |`;
}

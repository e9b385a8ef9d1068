/**
 * Chooses the preset of a channel and finds paths in it: the channel's own words count first, then the preset that it
 * names, then the one of its provider (docs/design/configuration.md 2.2).
 */
import { SpecError } from "#operator/resources/amounts";
import type { ChannelSpec, WireFormat } from "#operator/resources/types.gen";
import type { Preset, PresetFormat } from "./preset.ts";
import { defaultPresets, presets } from "./presets.gen.ts";

/** @throws SpecError for a preset or provider that there is not, or two that do not fit each other */
export function choosePreset({ provider, preset: name, azure }: ChannelSpec): Preset {
  if (name === undefined) {
    const usual = provider === undefined ? undefined : defaultPresets[provider];
    if (usual === undefined) throw new SpecError(`spec.provider: ${provider} is not served by this version`);
    // One resource of Azure has both APIs; the version says which one is meant.
    return presets[usual === "azure-openai" && azure?.apiVersion === "v1" ? "azure-openai-v1" : usual];
  }
  // The schema of the cluster may be newer than this operator.
  if (!Object.hasOwn(presets, name)) {
    throw new SpecError(`spec.preset: "${name}" is unknown; the presets are ${Object.keys(presets).join(", ")}`);
  }
  const preset = presets[name];
  if (provider === undefined || provider === preset.provider) return preset;
  const variant = preset.variants?.[provider];
  if (variant !== undefined) return presets[variant];
  const fitting = [preset.provider, ...Object.keys(preset.variants ?? {})].join(" or ");
  throw new SpecError(`spec.preset: ${name} needs spec.provider ${fitting} or none, not ${provider}`);
}

/** A version at the beginning of a path, for example `/v1beta` or `/openai/v1`. */
const pathVersion = /^(?:\/[a-z]+)*\/v[0-9]+(?:alpha|beta)?(?=\/)/;
const versionAtEnd = /\/v[0-9]+(?:alpha|beta)?$/;

/** A base URL as proxies get it. */
export interface Base {
  readonly baseURL: string;
  /** What was taken off its end: a path that a channel gives itself stands below that. Empty where nothing was. */
  readonly version: string;
}

/**
 * Takes the version off a base URL where the preset's own formats differ in theirs, as those of Cohere do: one version at the end
 * of the base cannot be that of all of them. Elsewhere it stays, and stands for that of each path (`formatOf`).
 */
export function baseOf({ formats }: Preset, baseURL: string): Base {
  const versions = new Set(formats.map(({ path }) => pathVersion.exec(path)?.[0] ?? ""));
  if (versions.size < 2) return { baseURL, version: "" };
  const path = pathOf(baseURL);
  const known = [...versions].filter((one) => one !== "" && path.endsWith(one));
  const [longest] = known.sort((left, right) => right.length - left.length);
  const version = longest ?? versionAtEnd.exec(path)?.[0] ?? "";
  return { baseURL: baseURL.slice(0, baseURL.length - version.length), version };
}

/**
 * Where a format is below a base URL, by the preset; undefined when the preset does not say.
 *
 * People give base URLs with and without the version; both work.
 *
 * @param apiVersion of Azure's older API
 */
export function formatOf(
  preset: Preset,
  wanted: WireFormat,
  baseURL: string,
  apiVersion: string | undefined,
): PresetFormat | undefined {
  const isWanted = ({ type }: PresetFormat) => type === wanted;
  const found = preset.formats.find(isWanted) ?? preset.otherFormats.find(isWanted);
  if (found === undefined) return undefined;
  const path = versionAtEnd.test(pathOf(baseURL)) ? found.path.replace(pathVersion, "") : found.path;
  return { ...found, path: path.replace("{apiVersion}", encodeURIComponent(apiVersion ?? "")) };
}

/** Without the host, which may look like a version. */
function pathOf(baseURL: string): string {
  return baseURL.replace(/^[a-z]+:\/\/[^/]*/i, "");
}

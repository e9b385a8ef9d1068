/** Fills in what the file of a preset leaves to the one that it extends. */
import type { FilePaths, PresetFile } from "./read-presets.ts";

export interface ResolvedFormat {
  readonly type: string;
  readonly path: string;
  readonly dialect?: string;
}

/** A preset as the operator knows it (`operator/compile/providers/preset.ts`), with the names of its file unchecked. */
export interface ResolvedPreset {
  readonly provider: string;
  readonly baseURL?: string;
  readonly auth: { readonly location: "Header"; readonly name: string; readonly scheme: string };
  readonly quirks?: string;
  readonly needsCredential: boolean;
  readonly formats: readonly ResolvedFormat[];
  readonly otherFormats: readonly ResolvedFormat[];
  readonly variants?: { readonly [provider: string]: string };
}

/** @throws Error for a file that extends none of `files` or itself, or lacks what nothing else says */
export function resolvePreset(file: PresetFile, files: readonly PresetFile[]): ResolvedPreset {
  const line = lineage(file, files);
  const provider = first(line, "provider");
  const auth = first(line, "auth");
  const credential = first(line, "credential");
  const formats = listed(file.formats);
  const taken = new Set(formats.map(({ type }) => type));
  const otherFormats: ResolvedFormat[] = [];
  for (const format of line.flatMap((one) => [...listed(one.formats), ...listed(one.otherFormats ?? {})])) {
    if (taken.has(format.type)) continue;
    taken.add(format.type);
    otherFormats.push(format);
  }
  return {
    provider,
    ...(file.baseURL !== undefined && { baseURL: file.baseURL }),
    auth: { location: "Header", name: auth.header, scheme: auth.scheme },
    ...(file.quirks !== undefined && { quirks: file.quirks }),
    needsCredential: credential === "Required",
    formats,
    otherFormats,
    ...(file.variants && { variants: file.variants }),
  };
}

/** The file, the one that it extends, and so on. */
function lineage(file: PresetFile, files: readonly PresetFile[]): readonly PresetFile[] {
  const line = [file];
  for (let base = file.extends; base !== undefined; base = line.at(-1)?.extends) {
    const next = files.find(({ name }) => name === base);
    if (next === undefined || line.includes(next)) {
      throw new Error(`operator/presets/${line.at(-1)?.name}.yaml cannot extend ${base}.`);
    }
    line.push(next);
  }
  return line;
}

function first<Member extends "provider" | "auth" | "credential">(
  line: readonly PresetFile[],
  member: Member,
): NonNullable<PresetFile[Member]> {
  for (const { [member]: value } of line) if (value !== undefined) return value;
  throw new Error(`operator/presets/${line[0]?.name}.yaml: ${member} is missing.`);
}

function listed(paths: FilePaths): ResolvedFormat[] {
  return Object.entries(paths).map(([type, place]) =>
    typeof place === "string" ? { type, path: place } : { type, ...place },
  );
}

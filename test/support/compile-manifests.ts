/** Manifests as text to compiled objects, without a folder: for goldens and tests of the compiler. */

import type { CompileSettings } from "#operator/compile/compilation";
import { type Compiled, compile, defaultCompileSettings } from "#operator/compile/compile";
import type { QuotaScope } from "#operator/compile/limits/hard-quotas";
import type { ResourceSet } from "#operator/resources/resource";
import { parseDocument, splitDocuments } from "#operator/source/manifest-file";
import { ManifestStore } from "#operator/source/manifest-store";

/** Puts a text into a store as a file of that name. */
export function putText(store: ManifestStore, file: string, text: string) {
  const documents = splitDocuments(text).map(({ line, digest, text: own }) => {
    return { place: { line, digest }, parsed: parseDocument(own) };
  });
  return store.put(file, { file, rank: 0, documents });
}

export function resourcesOf(text: string): ResourceSet {
  const store = new ManifestStore();
  putText(store, "manifests.yaml", text);
  return store.resources;
}

export function compileText(
  text: string,
  settings: Partial<CompileSettings> = {},
  quotaScope?: QuotaScope,
): Compiled & { resources: ResourceSet } {
  const resources = resourcesOf(text);
  return { ...compile(resources, { ...defaultCompileSettings, ...settings }, quotaScope), resources };
}

/**
 * Parses one document of a manifest file: with the fast parser when that is certain of the text, else with the general
 * parser. Pure.
 */
import { type Manifest, type ManifestDocument, parseManifest } from "#operator/schema/parse-manifest";
import { readSimpleYaml } from "./read-simple-yaml.ts";

/** The same as `parseManifest` for the text of one document. */
export function parseDocumentText(text: string): Manifest {
  const simple = readSimpleYaml(text);
  // The items of a List are objects of their own.
  if (simple === undefined || simple.object["kind"] === "List") return parseManifest(text);
  const { object, line } = simple;
  let document: ManifestDocument | undefined;
  return {
    problems: [],
    documents: [
      {
        object,
        line,
        locate(path) {
          // Asked only where something is wrong with the object.
          document ??= parseManifest(text).documents[0];
          return document?.locate(path) ?? { line, column: 1 };
        },
      },
    ],
  };
}

/** Holds the fast reader of YAML against the general parser. */
import assert from "node:assert/strict";
import { parseManifest } from "#operator/schema/parse-manifest";
import { readSimpleYaml } from "#operator/schema/yaml/read-simple-yaml";

/**
 * Fails where both read a text and do not read the same.
 *
 * @returns whether the fast reader read it
 */
export function isReadAlike(text: string): boolean {
  const simple = readSimpleYaml(text);
  // The items of a List are objects of their own: `parseDocumentText` leaves them to the general parser.
  if (simple === undefined || simple.object["kind"] === "List") return false;
  const { documents, problems } = parseManifest(text);
  const shown = `${JSON.stringify(text)} read as ${JSON.stringify(simple.object)}`;
  assert.deepEqual(problems, [], shown);
  assert.equal(documents.length, 1, shown);
  assert.deepEqual(structuredClone(documents[0]?.object), structuredClone(simple.object), shown);
  assert.equal(documents[0]?.line, simple.line, shown);
  return true;
}

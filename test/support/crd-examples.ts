/** The example manifests of the CRDs: one pair of files a rule, the invalid one with what it must be refused for. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ManifestDocument, parseManifest } from "#operator/schema/parse-manifest";
import { projectRoot } from "#scripts/run";

export interface Example {
  /** File name, the same for the valid and the invalid file of a rule. */
  readonly name: string;
  readonly file: string;
  readonly document: ManifestDocument;
  /** Part of the message that the file must be refused with; empty for a valid one. */
  readonly expect: string;
  /** Field that the message is about; empty for a valid one. */
  readonly field: string;
  /** The valid file of the same name is the object's version before. */
  readonly isChange: boolean;
}

export function readExamples(folder: "valid" | "invalid"): readonly Example[] {
  const path = join(projectRoot, "crds", "examples", folder);
  return readdirSync(path)
    .sort()
    .map((name) => {
      const file = join(path, name);
      const text = readFileSync(file, "utf8");
      const { documents, problems } = parseManifest(text);
      const [document] = documents;
      if (document === undefined || documents.length !== 1 || problems.length > 0)
        throw new Error(`${file} is broken.`);
      const comment = (key: string): string => new RegExp(`^# ${key}: (.*)$`, "m").exec(text)?.[1] ?? "";
      const isChange = comment("change of") !== "";
      return { name, file, document, expect: comment("expect"), field: comment("field"), isChange };
    });
}

/** The valid file with the name of an invalid one. */
export function counterpart(example: Example, valid: readonly Example[]): Example {
  const found = valid.find(({ name }) => name === example.name);
  if (found === undefined) throw new Error(`${example.name} has no valid counterpart.`);
  return found;
}

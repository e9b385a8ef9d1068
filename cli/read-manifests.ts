/** Lists, reads and parses the manifests that a command line names, in the same way as the gateway reads its folder. */
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Manifest, Position } from "#operator/schema/parse-manifest";
import { makeProblem } from "#operator/schema/problem";
import { parseDocumentText } from "#operator/schema/yaml/parse-document";
import { splitDocuments } from "#operator/source/manifest-file";
import { type ManifestText, readManifestFile, readManifestText } from "#operator/source/read-manifest-file";
import { scanFolder, sizeOfStamp } from "#operator/source/scan-folder";

export interface NamedManifest extends Manifest {
  /** The path as the person gave it. */
  readonly file: string;
}

/**
 * @param path of a folder, of a file whatever its name, or `-` for standard input
 * @returns a message when there is nothing to read
 */
export async function readManifests(path: string, stdin: Readable): Promise<NamedManifest[] | string> {
  if (path === "-") return [toManifest("(stdin)", readManifestText(await buffer(stdin)))];
  try {
    const stats = await stat(path);
    return stats.isDirectory() ? await readFolder(path) : [await readNamed(path, stats.size)];
  } catch (error) {
    return `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function readFolder(folder: string): Promise<NamedManifest[] | string> {
  const { files, unreadable } = await scanFolder(folder);
  const why = unreadable.get(folder);
  if (why !== undefined) return `${folder} cannot be read: ${why}`;
  if (files.size + unreadable.size === 0) return `${folder} holds no .yaml, .yml or .json files`;
  const manifests: NamedManifest[] = [];
  for (const [file, stamp] of [...files].sort()) manifests.push(await readNamed(file, sizeOfStamp(stamp)));
  for (const [below, code] of unreadable)
    manifests.push(toManifest(below, { failure: `It cannot be read (${code}).` }));
  return manifests;
}

async function readNamed(file: string, size: number): Promise<NamedManifest> {
  const content = await readManifestFile(file, size);
  return toManifest(file, content ?? { failure: "The file is gone again." });
}

function toManifest(file: string, content: ManifestText): NamedManifest {
  if ("failure" in content) {
    const problem = { ...makeProblem([], "syntax", content.failure), position: { line: 1, column: 1 } };
    return { file, documents: [], problems: [problem] };
  }
  const parts = splitDocuments(content.text).map(({ line, text }) => shift(parseDocumentText(text), line - 1));
  return {
    file,
    documents: parts.flatMap(({ documents }) => documents),
    problems: parts.flatMap(({ problems }) => problems),
  };
}

/** A document of a file, whose places count from the file's beginning. */
function shift({ documents, problems }: Manifest, lines: number): Manifest {
  const move = ({ line, column }: Position): Position => ({ line: line + lines, column });
  return {
    documents: documents.map(({ object, line, locate }) => {
      return { object, line: line + lines, locate: (path) => move(locate(path)) };
    }),
    problems: problems.map((problem) => ({ ...problem, position: move(problem.position) })),
  };
}

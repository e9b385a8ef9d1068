/** Recorded traffic of endpoints that are no chat, read from where the recordings of all formats are. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { it } from "mocha";

const root = path.join(
  process.env["TOLLGATE_FIXTURES"] ?? path.resolve(import.meta.dirname, "../../../../shared/fixtures"),
  "other",
);

/** A test over recorded files, in the order of their names; skipped, and said so, where there are none. */
export function itOfRecordings(
  title: string,
  names: readonly string[],
  test: (...files: readonly Buffer[]) => Promise<void>,
): void {
  const files = names.map((name) => path.join(root, name));
  if (files.every((file) => existsSync(file))) it(title, () => test(...files.map((file) => readFileSync(file))));
  else it.skip(`${title}: SKIPPED, no recorded traffic at ${root} (set TOLLGATE_FIXTURES)`);
}

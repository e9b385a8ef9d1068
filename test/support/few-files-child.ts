/** A folder's source whose process runs out of open files while a manifest changes; started with few of them. */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FolderSource } from "#operator/source/folder";
import { waitFor } from "./wait-for.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-few-files-"));
const file = join(folder, "key.yaml");
const key = (displayName: string) => `apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: one, namespace: a}
spec: {displayName: ${displayName}, credentials: [{name: one, sha256: "${"a".repeat(64)}"}]}
`;
writeFileSync(file, key("first"));
const source = new FolderSource({ folder, compareEveryMs: 100, settleMs: 1 });
await source.start();
const held = () => source.current().apiKeys.get("a/one");
writeFileSync(file, key("renamed"));
const open: number[] = [];
try {
  for (;;) open.push(openSync("/dev/null", "r"));
} catch {
  // No more: that is the point.
}
await waitFor("a look that fails", () => source.current().problems.length > 0);
process.stdout.write(`${held()?.invalid === undefined ? "valid" : "denied"} without files\n`);
for (const descriptor of open) closeSync(descriptor);
await waitFor("the change", () => held()?.spec?.displayName === "renamed");
process.stdout.write("renamed with files\n");
await source.close();
rmSync(folder, { recursive: true });

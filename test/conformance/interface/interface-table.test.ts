/**
 * Every row, rule and point of the interface's page is proved by a test that exists, and no entry is left of a row that is
 * gone. The page is not a part of the project: where it is absent, that is said and the entries alone are checked.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { before, describe, it } from "mocha";
import { projectRoot } from "#scripts/run";
import { interfaceTable, missing } from "./interface-table.ts";

const run = promisify(execFile);
/** Beside the project, of which it is no part. */
const page = join(projectRoot, "..", "shared", ["INTERFACE", "md"].join("."));
const entries = Object.entries(interfaceTable);

/** Names of what sections 2 to 9 say; what they do not show is nothing to prove. */
function rowsOf(text: string): string[] {
  const rows: string[] = [];
  let section = "";
  let isInTable = false;
  for (const line of text.split("\n")) {
    const wasInTable: boolean = isInTable;
    isInTable = line.startsWith("|");
    section = /^#+ (\d+(?:\.\d+)?)\.? /.exec(line)?.[1] ?? section;
    if (!/^[2-9]/.test(section)) continue;
    const name = isInTable ? rowName(line, wasInTable) : pointName(line);
    if (name !== undefined) rows.push(`${section} ${name}`);
  }
  return rows;
}

/** Undefined for the head of a table and the line below it. */
function rowName(line: string, isBehindHead: boolean): string | undefined {
  if (!isBehindHead || /^[|\s-]+$/.test(line)) return undefined;
  const [first = "", second = ""] = line
    .split("|")
    .slice(1)
    .map((cell) => cell.trim().replaceAll("`", ""));
  return /^[A-Z]{3,6}$/.test(first) ? `${first} ${second}` : first;
}

function pointName(line: string): string | undefined {
  const [, rule] = /^(\d+)\. /.exec(line) ?? [];
  if (rule !== undefined) return `rule ${rule}`;
  if (!line.startsWith("- ") || /not shown\b/.test(line)) return undefined;
  return line.slice(2).replaceAll("`", "").split(" ").slice(0, 3).join(" ");
}

/** Full titles of the tests of some files, without running any. */
async function titlesOf(files: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const mocha = join(projectRoot, "node_modules", "mocha", "bin", "mocha.js");
  const { stdout } = await run(process.execPath, [mocha, "--dry-run", "--reporter", "json", ...files], {
    cwd: projectRoot,
    maxBuffer: 256 * 1024 * 1024,
  });
  const { tests } = JSON.parse(stdout) as { tests: readonly { file: string; fullTitle: string }[] };
  return new Map(
    files.map((file) => [
      file,
      tests.filter((test) => test.file === join(projectRoot, file)).map((test) => test.fullTitle),
    ]),
  );
}

describe("the table of the interface", function () {
  this.timeout(120_000);
  const files = [...new Set(entries.flatMap(([, proofs]) => proofs.map(({ file }) => file)))];
  let titles: ReadonlyMap<string, readonly string[]>;

  before(async () => {
    titles = await titlesOf(files);
  });

  for (const [row, proofs] of entries) {
    it(`${row} is proved by tests that exist`, () => {
      assert.ok(proofs.length > 0 && proofs.every((one) => one.titles.length > 0), "it names no test");
      for (const { file, titles: named } of proofs) {
        for (const title of named) {
          assert.ok(
            titles.get(file)?.some((full) => full.includes(title)),
            `${file} has no test "${title}"`,
          );
        }
      }
    });
  }

  it("has an entry for each row of the page, and none without one", async function () {
    if (!existsSync(page)) {
      console.log(`      SKIPPED: ${page} is not there, so that nobody knows whether a row has no entry`);
      this.skip();
    }
    const rows = rowsOf(await readFile(page, "utf8"));
    assert.ok(rows.length > 100, `only ${rows.length} rows were found`);
    assert.equal(new Set(rows).size, rows.length, "two rows have one name");
    assert.deepEqual([...Object.keys(interfaceTable), ...missing].sort(), [...rows].sort());
  });

  it("lacks the proof of no row", () => assert.deepEqual(missing, []));
});

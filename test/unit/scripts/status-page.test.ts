import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { withTables } from "#scripts/generators/status-page";
import { projectRoot } from "#scripts/run";

const page = readFileSync(join(projectRoot, "docs", "status.md"), "utf8");

describe("the page of conditions", () => {
  it("has the rows of the tables of reasons, and nothing else below their comments", () => {
    assert.equal(withTables(page), page);
    const edited = page.replace("| `Valid` | True |", "| `Vlaid` | False |");
    assert.notEqual(edited, page);
    assert.equal(withTables(edited), page);
    const withoutRow = page.replace(/^\| `KeyExpiring`.*\n/m, "");
    assert.notEqual(withoutRow, page);
    assert.equal(withTables(withoutRow), page);
  });

  it("tells reasons with the same status and meaning in one row", () => {
    assert.match(page, /^\| `SecretNotFound`, `SecretKeyNotFound`, `InvalidSecret` \| False \|/m);
    assert.match(page, /^\| `NotYetValid` \| False, Unknown \|/m);
  });

  it("has a place for the table of every condition, and one only", () => {
    const comment = page.match(/^<!-- Generated from Active .*\n\n/m)?.[0] ?? "";
    assert.throws(() => withTables(page.replace(comment, "")), /not each of Accepted/);
    assert.throws(() => withTables(page.replace(comment, `${comment}${comment}`)), /not each of Accepted/);
    assert.throws(() => withTables(page.replace("from Active in", "from Actve in")), /no table Actve/);
  });
});

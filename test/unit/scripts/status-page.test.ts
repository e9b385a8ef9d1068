import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = new URL("../../../", import.meta.url).pathname;
const page = readFileSync(join(root, "docs", "status.md"), "utf8");

describe("the page of conditions", () => {
  it("names every reason that the operator gives, and no other", () => {
    const code = globSync("operator/{compile,status}/**/*.ts", { cwd: root })
      .map((path) => readFileSync(join(root, path), "utf8"))
      .join("\n");
    const given = new Set<string>();
    for (const [, reason = ""] of code.matchAll(/(?:refused|yes|no|fail|unserved)\(\s*"([A-Z][A-Za-z]+)",/g))
      given.add(reason);
    for (const [, reason = ""] of code.matchAll(/status: "(?:True|Unknown)", reason: "([A-Z][A-Za-z]+)"/g))
      given.add(reason);
    const rows = page.split("\n").filter((line) => /^\| `[A-Z]/.test(line));
    const named = new Set(
      rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([A-Za-z]+)`/g)].map(([, name = ""]) => name)),
    );
    assert.ok(given.size > 25, `${given.size} found`);
    assert.deepEqual(
      [...given].filter((reason) => !named.has(reason)),
      [],
    );
    assert.deepEqual(
      [...named].filter((reason) => !code.includes(`"${reason}"`)),
      [],
    );
  });
});

/** No page is lost: each can be found, each block of one is run, and the tables that repeat the code are complete. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, it } from "mocha";
import { conditionReasons, type ReasonRow } from "#operator/resources/reasons";
import { errorTable } from "#proxy/errors";
import { outcomes } from "#proxy/observe/metric-slot";
import { projectRoot } from "#scripts/run";
import { pagesWithBlocks, readBlocks } from "#test/support/page-blocks";

const linkForm = /\]\(([^)\s]+)\)/g;
/** Languages of blocks that are drawn and not run. */
const drawn = new Set(["mermaid"]);

function read(page: string): string {
  return readFileSync(join(projectRoot, page), "utf8");
}

/** Pages that a page links to, from the root of the project. */
function linkedPages(page: string): string[] {
  return [...read(page).matchAll(linkForm)]
    .map(([, link = ""]) => link.split("#")[0] ?? "")
    .filter((link) => link.endsWith(".md") && !/^[a-z]+:/.test(link))
    .map((link) => normalize(join(dirname(page), link)));
}

function reachableFrom(start: string): Set<string> {
  const reached = new Set([start]);
  for (const page of reached) {
    for (const linked of linkedPages(page)) if (existsSync(join(projectRoot, linked))) reached.add(linked);
  }
  return reached;
}

describe("the pages", () => {
  const pagesOfUsers = globSync("docs/{*.md,how-to/*.md}", { cwd: projectRoot });

  it("can all be reached from README.md by links", () => {
    const reached = reachableFrom("README.md");
    const pages = globSync("{*.md,docs/**/*.md,charts/tollgate/*.md}", { cwd: projectRoot });
    assert.ok(pages.length > 30);
    assert.deepEqual(
      pages.filter((page) => !reached.has(page)),
      [],
    );
  });

  it("have a row each in the table of README.md", () => {
    const rows = read("README.md")
      .split("\n")
      .filter((line) => line.startsWith("| ["))
      .join("\n");
    const linked = [...rows.matchAll(linkForm)].map(([, link]) => link);
    assert.deepEqual(
      pagesOfUsers.filter((page) => !linked.includes(page)),
      [],
    );
  });

  it("have no block that no test runs", () => {
    const unrun = ["README.md", ...pagesOfUsers]
      .filter((page) => !pagesWithBlocks.includes(page))
      .filter((page) => readBlocks(read(page)).some(({ language }) => !drawn.has(language)));
    assert.deepEqual(unrun, []);
  });

  for (const page of pagesWithBlocks) {
    it(`${page} has blocks, and each says in which language`, () => {
      const fences = read(page).match(/^\s*(?:```|~~~)/gm) ?? [];
      const blocks = readBlocks(read(page));
      assert.ok(blocks.length > 0);
      assert.equal(fences.length, 2 * blocks.length);
    });
  }
});

describe("docs/troubleshooting.md", () => {
  const page = read("docs/troubleshooting.md");
  const rows = [...page.matchAll(/^\| ([\d, ]+) \| `(\w+)` \| (?:`(\w+)`)? ?\|/gm)].map(
    ([, statuses = "", code = "", openaiCode = code]) => ({ code, statuses, openaiCode }),
  );

  it("has a row for every error that a client can see, with its statuses and its code", () => {
    const wanted = Object.entries(errorTable).map(([code, row]) => {
      const { status, messagesStatus = status, openaiCode } = { messagesStatus: undefined, ...row };
      const statuses = status === messagesStatus ? `${status}` : `${status}, ${messagesStatus}`;
      return { code, statuses, openaiCode };
    });
    const byCode = (left: { code: string }, right: { code: string }) => (left.code < right.code ? -1 : 1);
    assert.deepEqual(rows.sort(byCode), wanted.sort(byCode));
  });

  for (const [type, reasons] of Object.entries<Readonly<Record<string, ReasonRow>>>(conditionReasons)) {
    it(`says what to do about every reason for which ${type} is False`, () => {
      const bad = Object.keys(reasons).filter((reason) => reasons[reason]?.statuses.includes("False"));
      const [, told = ""] = new RegExp(`\\| \`${type}=False\` (\\|.*(?:\n\\| \\|.*)*)`).exec(page) ?? [];
      assert.deepEqual(
        bad.filter((reason) => !told.includes(`\`${reason}\``)),
        [],
      );
    });
  }

  it("quotes lines of the log as the programs write them", () => {
    const sources = globSync("{proxy,operator}/**/*.ts", { cwd: projectRoot })
      .map((path) => read(path))
      .join("\n");
    for (const line of [
      "an upstream refused a call",
      "an attempt on an upstream failed",
      "an upstream sent an invalid reply",
      "disconnected",
    ]) {
      assert.ok(page.includes(`\`${line}\``), line);
      assert.ok(sources.includes(`"${line}"`), line);
    }
  });
});

describe("the other tables", () => {
  it("docs/how-to/observability.md links every runbook", () => {
    const linked = linkedPages("docs/how-to/observability.md");
    const runbooks = globSync("docs/runbooks/*.md", { cwd: projectRoot });
    assert.ok(runbooks.length > 0);
    assert.deepEqual(
      runbooks.filter((page) => !linked.includes(page)),
      [],
    );
  });

  it("docs/how-to/observability.md names the outcomes that are no error", () => {
    const reasons = new Set<string>(Object.values(errorTable).map(({ reason }) => reason));
    const page = read("docs/how-to/observability.md");
    for (const outcome of outcomes) assert.ok(reasons.has(outcome) || page.includes(`\`${outcome}\``), outcome);
  });
});

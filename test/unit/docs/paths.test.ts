import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Pages that send a reader into the tree: a file that is moved or renamed takes its mention along. */
const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const pages = [
  "docs/architecture.md",
  "docs/glossary.md",
  "CONTRIBUTING.md",
  "README.md",
  "proxy/http1/README.md",
  ...globSync("docs/design/*.md", { cwd: root }),
];

/** `proxy/…` anywhere in the text; `<format>` stands for any name of one folder. */
const pathForm = /(?<![\w./#<-])(?:proxy|operator|cli|scripts|test|examples|crds|charts|docs|bin)\/[\w./*<>-]*/g;
/** `name.ts` alone, in backticks: a file that the sentence has said the folder of. */
const fileForm = /`([\w-]+\.(?:test\.ts|gen\.ts|ts|mjs))`/g;
const linkForm = /\]\(([^)\s]+)\)/g;
const pagesOfUsers = [
  ...["docs/coding-agents.md", "docs/not-there-yet.md", "docs/troubleshooting.md", "docs/when-a-part-is-down.md"],
  ...globSync("docs/how-to/*.md", { cwd: root }),
];

const fileNames = new Set(
  globSync("{proxy,operator,cli,scripts,test,examples}/**/*.{ts,mjs}", { cwd: root }).map((path) => basename(path)),
);

function pathsIn(text: string): string[] {
  return [...text.matchAll(pathForm)].map(([path]) => path.replace(/[./]+$/, ""));
}

function leadsSomewhere(path: string): boolean {
  return globSync(path.replace(/<[^>]*>/g, "*"), { cwd: root }).length > 0;
}

/** Anchors of a page as the usual viewers make them of its headings. */
function anchorsOf(file: string): string[] {
  const headings = readFileSync(file, "utf8").matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replace(/ /g, "-"),
  );
}

function leadsToPage(link: string, page: string): boolean {
  const [path = "", anchor] = link.split("#");
  const file = path === "" ? join(root, page) : join(root, dirname(page), path);
  return existsSync(file) && (anchor === undefined || anchorsOf(file).includes(anchor));
}

describe("pages that name files", () => {
  for (const page of [...pages, ...pagesOfUsers]) {
    const text = readFileSync(join(root, page), "utf8");

    it(`${page} names paths that exist`, () => {
      assert.deepEqual(
        pathsIn(text).filter((path) => !leadsSomewhere(path)),
        [],
      );
    });

    it(`${page} names files that exist`, () => {
      const named = [...text.matchAll(fileForm)].map(([, name = ""]) => name);
      assert.deepEqual(
        named.filter((name) => !fileNames.has(name)),
        [],
      );
    });
  }

  for (const page of globSync("{*.md,docs/**/*.md,charts/tollgate/*.md}", { cwd: root })) {
    it(`${page} links to what is there`, () => {
      const links = [...readFileSync(join(root, page), "utf8").matchAll(linkForm)].map(([, link = ""]) => link);
      const relative = links.filter((link) => !/^[a-z]+:/.test(link));
      assert.deepEqual(
        relative.filter((link) => !leadsToPage(link, page)),
        [],
      );
    });
  }

  it("finds a path, a file and a link that lead nowhere", () => {
    assert.deepEqual(pathsIn("see `proxy/pipeline/gone.ts`, `proxy/formats/<format>/native/` and ../docs/x").sort(), [
      "proxy/formats/<format>/native",
      "proxy/pipeline/gone.ts",
    ]);
    assert.equal(leadsSomewhere("proxy/pipeline/gone.ts"), false);
    assert.equal(leadsSomewhere("proxy/formats/<format>/native"), true);
    assert.equal(leadsToPage("glossary.md#a-call", "docs/architecture.md"), true);
    assert.equal(leadsToPage("glossary.md#no-such-heading", "docs/architecture.md"), false);
    assert.equal(leadsToPage("gone.md", "docs/architecture.md"), false);
  });

  it("architecture.md gives every room of the proxy the floor that the boundary test gives it", () => {
    const source = readFileSync(join(root, "test/unit/import-boundaries.test.ts"), "utf8");
    const list = /const floors[^=]*= \[\n([\s\S]*?)\n\];/.exec(source)?.[1] ?? "";
    const floors = list.split("\n").map((line) => [...line.matchAll(/"([\w-]+)"/g)].map(([, room = ""]) => room));
    const wanted = floors.flatMap((rooms, index) => rooms.map((room) => `${index + 1} ${room}`));
    const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
    const rows = [...page.matchAll(/^\| (\d+) \| `proxy\/([\w-]+)(?:\/|\.ts)` \|/gm)];
    const given = rows.map(([, floor, room]) => `${floor} ${room}`);
    assert.ok(wanted.length > 20);
    assert.deepEqual(given.sort(), wanted.sort());
  });
});

/**
 * Comments, names of tests and pages cite a rule by its page and id, as docs/design/README.md says. Each must be there:
 * a citation that leads nowhere is a comment that nobody can check.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const self = "test/unit/docs/citations.test.ts";

const id = String.raw`(?:[A-Z]{1,2}\d+|\d+(?:\.\d+)?|[A-Z](?![\w']| [a-z]{3}))`;
const list = `${id}(?:(?:, | and |, and | to )${id})*`;
const citationForm = new RegExp(String.raw`docs/design/([\w-]+)\.md(?: (${list}))?`, "g");
/** From one page of docs/design to another. */
const linkForm = new RegExp(String.raw`\]\(([\w-]+)\.md\) (${list})`, "g");
const pitfallForm = /\bpitfalls? (\d+(?:(?:, | and |, and | to )\d+)*)/g;
/** Names of tests give ids of these pages alone: `(J2, T12)`. */
const titleForm = /\b(?:describe|it)\([`"][^`"\n]*\(([A-Z]{1,2}\d{1,2}(?:, [A-Z]{1,2}\d{1,2})*)\)/g;
const pagesOfTitles = ["reliability", "operations", "translation"];

/** Pages that never were part of the project, and sections of a page that is not named. */
const goneForms = [
  /\b(?:DESIGN|RESOURCES|OPERATIONS|RELIABILITY|INTERFACE|HOUSE|STYLE|FAULTS|CLIENTS|KUBERNETES|DIGEST)\.md\b/g,
  /\b(?:FAULTS|CLIENTS|RELIABILITY)[ ,]/g,
  /\bprotocols\/[\w-]+\.md\b/g,
  /(?<![\w/-])(?:openai-chat|openai-responses|openai-others|anthropic-messages|gemini|golden)\.md\b/g,
  /(?<!RFC \d+[^.]{0,80})\(sections? \d[\d.]*[,)]/g,
];

/** Lines of a comment join: a citation may go on in the next one. */
function joined(text: string): string {
  return text.replace(/\n[ \t]*(?:\*(?!\/)|\/\/|#)?[ \t]*/g, " ");
}

function idsOf(page: string): string[] {
  return [...page.matchAll(new RegExp(String.raw`^(?:#+ (${id}) |- \*\*(${id})\*\* )`, "gm"))].map(
    ([, heading, item]) => heading ?? item ?? "",
  );
}

const pages: ReadonlyMap<string, readonly string[]> = new Map(
  globSync("docs/design/*.md", { cwd: root }).map((path) => [
    basename(path, ".md"),
    idsOf(readFileSync(join(root, path), "utf8")),
  ]),
);

/** What `text` cites that is not there, as it stands in the text. */
function lostCitations(text: string, isDesignPage: boolean): string[] {
  const lost: string[] = [];
  const check = (cited: string, page: string, ids: string | undefined): void => {
    const known = pages.get(page);
    const named = ids?.match(new RegExp(id, "g")) ?? [];
    if (known === undefined || !named.every((one) => known.includes(one))) lost.push(cited);
  };
  for (const [cited, page = "", ids] of text.matchAll(citationForm)) check(cited, page, ids);
  for (const [cited, ids] of text.matchAll(pitfallForm)) check(cited, "pitfalls", ids);
  if (isDesignPage) for (const [cited, page = "", ids] of text.matchAll(linkForm)) check(cited, page, ids);
  for (const [, ids = ""] of text.matchAll(titleForm)) {
    const known = pagesOfTitles.flatMap((page) => pages.get(page) ?? []);
    if (!ids.split(", ").every((one) => known.includes(one))) lost.push(`(${ids})`);
  }
  for (const form of goneForms) for (const [cited] of text.matchAll(form)) lost.push(cited);
  return lost;
}

describe("citations of docs/design", () => {
  const files = globSync(
    [
      "{proxy,operator,cli,scripts,test,examples,crds,charts,docs,bin}/**/*.{ts,mjs,js,json,yaml,yml,tpl,txt,md}",
      "{*.md,Dockerfile}",
    ],
    { cwd: root },
  ).filter((path) => path !== self);

  it("lead to a page and a rule that are there", () => {
    const lost = files.flatMap((path) => {
      const text = joined(readFileSync(join(root, path), "utf8"));
      return lostCitations(text, path.startsWith("docs/design/")).map((cited) => `${path}: ${cited}`);
    });
    assert.deepEqual(lost, []);
  });

  it("are found in sources, tests, charts and CRDs", () => {
    for (const folder of ["proxy/", "operator/", "test/", "crds/", "charts/"]) {
      assert.ok(
        files.some((path) => path.startsWith(folder)),
        folder,
      );
    }
  });

  it("have one rule for each id", () => {
    for (const [page, ids] of pages) assert.deepEqual([...new Set(ids)], ids, page);
  });

  it("that lead nowhere are told, in whatever form they come", () => {
    // Not written out: another test reads the numbers of all cases.
    const gone = 9_999;
    const found = (text: string): string[] => lostCitations(joined(text), false);
    assert.deepEqual(found("a rule (docs/design/reliability.md N5, docs/design/translation.md 5.1 and 5.2)"), []);
    assert.deepEqual(found(" * so it is (docs/design/translation.md\n * 5.1 to 5.5)"), []);
    assert.deepEqual(found("docs/design/nowhere.md 1"), ["docs/design/nowhere.md 1"]);
    assert.deepEqual(found("docs/design/reliability.md N5 and N99"), ["docs/design/reliability.md N5 and N99"]);
    assert.deepEqual(found("docs/design/translation.md 5.1,\n// 5.99"), ["docs/design/translation.md 5.1, 5.99"]);
    assert.deepEqual(found(`pitfalls 1 and ${gone}`), [`pitfalls 1 and ${gone}`]);
    assert.deepEqual(found('it("serves on (J1, J99)", () => {'), ["(J1, J99)"]);
    assert.deepEqual(found("(RELIABILITY.md N5)"), ["RELIABILITY.md"]);
    assert.deepEqual(found("`protocols/errors.md` says"), ["protocols/errors.md"]);
    assert.deepEqual(found("(`openai-chat.md` 2), as before (section 5.1)"), ["openai-chat.md", "(section 5.1)"]);
    assert.deepEqual(lostCitations("[errors.md](errors.md) 5 and 77", true), ["](errors.md) 5 and 77"]);
  });
});

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parseManifest } from "#operator/schema/parse-manifest";
import { readPlainYaml } from "#operator/schema/yaml/plain/read-plain-yaml";
import { splitDocuments } from "#operator/source/manifest-file";
import { keyManifest } from "#test/bench/bench-manifests";

/** What the fast reader takes, the general parser takes alike. Returns whether it took it. */
function isReadAlike(text: string): boolean {
  const plain = readPlainYaml(text);
  if (plain === undefined) return false;
  const { documents, problems } = parseManifest(text);
  const shown = `${JSON.stringify(text)} read as ${JSON.stringify(plain.object)}`;
  assert.deepEqual(problems, [], shown);
  assert.equal(documents.length, 1, shown);
  assert.deepEqual(structuredClone(documents[0]?.object), structuredClone(plain.object), shown);
  assert.equal(documents[0]?.line, plain.line, shown);
  return true;
}

const words = [
  "a",
  "name",
  "spec",
  "true",
  "False",
  "yes",
  "No",
  "on",
  "y",
  "null",
  "~",
  "0",
  "00",
  "007",
  "12",
  "1_000",
  "-3",
  "1.5",
  ".5",
  "1e3",
  "9e12",
  "12e4f",
  "0x1F",
  "0b1",
  "0o7",
  "0a1",
  "3b2",
  "1:30",
  "200k",
  "1G",
  "2026-09",
  "2026-09-01",
  "2026-09-01T00:00:00Z",
  "10.0.0.0/8",
  "::1/128",
  "gpt-5.4-mini",
  "claude-*",
  "*-preview",
  "*",
  "&a",
  "!t",
  "|",
  ">",
  "?",
  "? a",
  "%a",
  "@a",
  "`a`",
  "http://a.b:80/c",
  "a:b",
  "a: b",
  "a #c",
  "#c",
  "a b",
  "a  b",
  "'x'",
  "'it''s'",
  '"x"',
  '"a\\n"',
  '"#"',
  "': '",
  "[]",
  "{}",
  "[a, b]",
  "[a,b]",
  "[ a , b ]",
  "[a,]",
  "{a: 1}",
  "{a: 1, b: [x]}",
  '{"a":1}',
  "{a:1}",
  "{a}",
  "{a: 1, a: 2}",
  "{ a: 1 }",
  "{a: {b: c}}",
  "-",
  "- a",
  "--- a",
  "---",
  "...",
  "<<",
  "=",
  "__proto__",
  "{__proto__: 1}",
  ".inf",
  ".nan",
  "Infinity",
  "+1",
  "1,000",
  "1e",
  "0e",
  "0.",
  "1.2.3",
  "9f2c",
  "a, b",
  "a]",
  "a}",
  "",
  "x".repeat(20),
];
const fragment = fc.oneof(
  fc.constantFrom(...words),
  fc.string({ unit: fc.constantFrom(..."ae019xbo.-_:/ #,*[]{}'\"&!+~y"), maxLength: 8 }),
);
const line = fc
  .tuple(
    fc.constantFrom("", "", "  ", "    ", " ", "      "),
    fc.constantFrom("", "", "", "- ", "-  ", "- - "),
    fc.option(fc.constantFrom("a", "b", "c", "on", "null", "x.y/z", "'a'", '"a"', "12", "a b", "__proto__"), {
      nil: undefined,
    }),
    fc.constantFrom(": ", ":", ":  "),
    fragment,
    fc.constantFrom("", "", "", " ", " # c", "\t", "\r"),
  )
  .map(
    ([indent, dash, name, colon, value, end]) =>
      `${indent}${dash}${name === undefined ? "" : `${name}${colon}`}${value}${end}`,
  );

/** Texts that are mostly good, so that much of them is taken. */
const good = fc.letrec<{ block: string[]; flow: string }>((tie) => ({
  flow: fc.oneof(
    { maxDepth: 3 },
    fragment,
    fc.array(tie("flow"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
    fc
      .array(fc.tuple(fc.constantFrom("a", "b", "c"), tie("flow")), { maxLength: 3 })
      .map((members) => `{${members.map(([name, value]) => `${name}: ${value}`).join(", ")}}`),
  ),
  block: fc
    .array(
      fc.oneof(
        { maxDepth: 3 },
        fc.tuple(fc.constantFrom("a", "b", "c", "d"), tie("flow")).map(([name, value]) => [`${name}: ${value}`]),
        fc
          .tuple(fc.constantFrom("a", "b", "c", "d"), tie("block"), fc.constantFrom("  ", "   "))
          .map(([name, block, indent]) => [`${name}:`, ...block.map((one) => indent + one)]),
        fc
          .tuple(
            fc.constantFrom("e", "f"),
            fc.array(tie("block"), { minLength: 1, maxLength: 2 }),
            fc.constantFrom("", "  "),
          )
          .map(([name, blocks, indent]) => [
            `${name}:`,
            ...blocks.flatMap((block) => block.map((one, index) => `${indent}${index === 0 ? "- " : "  "}${one}`)),
          ]),
        fc
          .tuple(fc.constantFrom("e", "f"), fc.array(tie("flow"), { minLength: 1, maxLength: 2 }))
          .map(([name, values]) => [`${name}:`, ...values.map((value) => `- ${value}`)]),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) => parts.flat()),
}));

describe("readPlainYaml", function () {
  this.timeout(60_000);

  it("takes the usual key", () => {
    const text = keyManifest(7);
    assert.equal(isReadAlike(text), true);
    assert.equal(isReadAlike(`---\n# a comment\n${text}`), true);
  });

  it("agrees with the general parser on every value in every place", () => {
    let taken = 0;
    for (const word of words) {
      for (const text of [
        `a: ${word}`,
        `a: [${word}]`,
        `a: {b: ${word}}`,
        `a:\n- ${word}`,
        `a:\n  ${word}`,
        `${word}: a`,
        `a: x\n${word}`,
        `- ${word}`,
        `${word}`,
      ]) {
        if (isReadAlike(text)) taken += 1;
      }
    }
    assert.ok(taken > 150, `only ${taken} were taken`);
  });

  it("agrees with the general parser on numbers and words of few characters", () => {
    const characters = [..."01789aefxobXEk._-+/:y"];
    for (const one of characters)
      for (const two of characters) for (const three of characters) isReadAlike(`a: ${one}${two}${three}`);
  });

  it("agrees with the general parser on random lines", () => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 6 }), (lines) => void isReadAlike(lines.join("\n"))),
      { numRuns: 20_000 },
    );
  });

  it("agrees with the general parser on random documents, and takes many of them", () => {
    let taken = 0;
    fc.assert(
      fc.property(good.block, (lines) => {
        if (isReadAlike(`${lines.join("\n")}\n`)) taken += 1;
      }),
      { numRuns: 5_000 },
    );
    assert.ok(taken > 150, `only ${taken} were taken`);
  });

  it("agrees with the general parser on a key with a few characters changed", () => {
    const text = keyManifest(3);
    const characters = [..."abeyn01.:-_/ #,[]{}'\"*&!|>%@`~+=?\n eE"];
    const edit = fc.tuple(
      fc.nat(text.length),
      fc.constantFrom(...characters),
      fc.constantFrom("insert", "replace", "remove"),
    );
    let taken = 0;
    const isTaken = fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
      let changed = text;
      for (const [at, character, how] of edits) {
        changed =
          changed.slice(0, at) + (how === "remove" ? "" : character) + changed.slice(how === "insert" ? at : at + 1);
      }
      if (isReadAlike(changed)) taken += 1;
    });
    const runs = Number(process.env["PLAIN_YAML_RUNS"] ?? 2_000);
    fc.assert(isTaken, { numRuns: runs });
    // About a quarter of random edits leave plain YAML; far fewer would mean that nothing was compared.
    assert.ok(taken > runs / 10, `only ${taken} of ${runs} were taken`);
  });

  it("agrees with the general parser on every example of the project", () => {
    let taken = 0;
    const root = new URL("../../../../../../", import.meta.url).pathname;
    for (const folder of ["crds", "examples"]) {
      for (const path of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
        if (!path.endsWith(".yaml")) continue;
        for (const { text } of splitDocuments(readFileSync(join(root, folder, path), "utf8")))
          if (isReadAlike(text)) taken += 1;
      }
    }
    assert.ok(taken > 50, `only ${taken} were taken`);
  });

  it("shares equal flow values and freezes them", () => {
    const [one, other] = [readPlainYaml("a: {b: [c, d]}"), readPlainYaml("x: {b: [c, d]}")];
    assert.equal(one?.object["a"], other?.object["x"]);
    assert.ok(Object.isFrozen(one?.object["a"]));
  });
});
